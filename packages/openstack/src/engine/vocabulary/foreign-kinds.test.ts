import { defineKind, type StoredObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { type ForeignKind, foreignWait } from './foreign-kinds.ts';

const kind = defineKind('ceph.rook.io/v1', 'CephBlockPool', 'cephblockpools');

/** What is awaited of an object of generation 2 with a status. */
function wait(done: ForeignKind['done'], status: object | undefined, more: Partial<ForeignKind> = {}) {
  const metadata = { name: 'a', uid: 'a', resourceVersion: '1', generation: 2 };
  const live = { apiVersion: 'ceph.rook.io/v1', kind: kind.kind, metadata, status } as StoredObject;
  return foreignWait({ kind, servedBy: 'Rook', ...(done && { done }), ...more }, live);
}

test('a field of the status is awaited, of the present generation where it says of which it is', () => {
  const done = { field: 'phase', value: 'Ready' };
  expect(wait(done, undefined)).toBe('status.phase is not there yet, not Ready');
  expect(wait(done, { phase: 'Failure' })).toBe('status.phase is "Failure", not Ready');
  expect(wait(done, { phase: 'Ready', observedGeneration: 1 })).toBe('status.phase is Ready of generation 1, not 2');
  expect(wait(done, { phase: 'Ready', observedGeneration: 2 })).toBeUndefined();
  expect(wait(done, { phase: 'Ready' })).toBeUndefined();
});

test('a condition is awaited, in its own words', () => {
  const done = { condition: 'Ready' };
  const condition = { type: 'Ready', status: 'False', reason: 'No', message: 'no issuer' };
  expect(wait(done, {})).toBe('condition Ready is not there yet');
  expect(wait(done, { conditions: [condition] })).toBe('no issuer');
  expect(wait(done, { conditions: [{ ...condition, status: 'True', observedGeneration: 1 }] })).toBe('no issuer');
  expect(wait(done, { conditions: [{ ...condition, status: 'True' }] })).toBeUndefined();
});

test('what its API waits for is told as long as it is not done; without words of its own it is done once it is there', () => {
  const more = { follows: 'Rook begins later' };
  expect(wait({ field: 'phase', value: 'Ready' }, {}, more)).toBe(
    'status.phase is not there yet, not Ready (Rook begins later)',
  );
  expect(wait({ field: 'phase', value: 'Ready' }, { phase: 'Ready' }, more)).toBeUndefined();
  expect(wait(undefined, {}, more)).toBeUndefined();
});
