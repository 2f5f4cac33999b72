import { type Kind, StatefulSet, type StoredObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import type { Live } from './live.ts';
import { stuckPod } from './stuck-pods.ts';

type State = 'ready' | 'starting' | 'stuck' | 'unscheduled' | 'ending' | undefined;

/** A StatefulSet of members, by ordinal: their revision and what became of them. Gives the pods that one plan evicts. */
function evicted(members: readonly (readonly ['old' | 'new', State])[], seen = true): string[] {
  const pods = members.flatMap(([revision, state], ordinal): StoredObject[] => {
    if (state === undefined) return [];
    const ready = { type: 'Ready', status: state === 'ready' || state === 'ending' ? 'True' : 'False' };
    const scheduled = { type: 'PodScheduled', status: state === 'unscheduled' ? 'False' : 'True' };
    const waiting = { waiting: { reason: 'ErrImagePull' } };
    return [
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: `db-${ordinal}`,
          uid: `${ordinal}`,
          resourceVersion: '1',
          labels: { 'controller-revision-hash': revision },
          ...(state === 'ending' ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
        },
        status: {
          conditions: [ready, scheduled],
          containerStatuses: [{ state: state === 'stuck' ? waiting : { running: {} } }],
        },
      },
    ];
  });
  const live = {
    metadata: { name: 'db', uid: 'db', generation: 2 },
    spec: { replicas: members.length },
    status: { updateRevision: 'new', observedGeneration: seen ? 2 : 1 },
  };
  const cluster = {
    cache: { controlledBy: (kind: Kind) => (kind === StatefulSet ? [live] : pods) },
  } as unknown as Live;
  const stated = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db', namespace: 'ns' } };
  return stuckPod(cluster, stated, 'DeploymentReady').flatMap((action) =>
    action.verb === 'evict' ? [action.live.metadata.name] : [],
  );
}

test('of several stuck members the highest ordinal goes first, alone', () => {
  expect(
    evicted([
      ['old', 'stuck'],
      ['old', 'stuck'],
      ['old', 'stuck'],
    ]),
  ).toEqual(['db-2']);
  expect(evicted([['old', 'unscheduled']])).toEqual(['db-0']);
});

test('the next one goes when the one before is back, or is stuck at the new revision too', () => {
  expect(
    evicted([
      ['old', 'stuck'],
      ['old', 'stuck'],
      ['new', 'starting'],
    ]),
  ).toEqual([]);
  expect(
    evicted([
      ['old', 'stuck'],
      ['old', 'stuck'],
      ['old', 'ending'],
    ]),
  ).toEqual([]);
  expect(
    evicted([
      ['old', 'stuck'],
      ['old', undefined],
      ['new', 'ready'],
    ]),
  ).toEqual([]);
  expect(
    evicted([
      ['old', 'stuck'],
      ['old', 'stuck'],
      ['new', 'ready'],
    ]),
  ).toEqual(['db-1']);
  expect(
    evicted([
      ['old', 'stuck'],
      ['old', 'stuck'],
      ['new', 'stuck'],
    ]),
  ).toEqual(['db-1']);
});

test('members behind a stuck one that never came hold nothing back', () => {
  expect(
    evicted([
      ['old', 'stuck'],
      ['new', undefined],
      ['new', undefined],
    ]),
  ).toEqual(['db-0']);
});

test('what is Ready, starts, or is of the new revision stays; so does all until the change is observed', () => {
  expect(
    evicted([
      ['old', 'ready'],
      ['old', 'starting'],
      ['new', 'stuck'],
    ]),
  ).toEqual([]);
  expect(evicted([['old', 'stuck']], false)).toEqual([]);
});
