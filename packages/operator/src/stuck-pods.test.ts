import { type Kind, type KubeObject, StatefulSet, type StoredObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import type { Pass } from './pass.ts';
import { replaceStuckPods } from './stuck-pods.ts';

type State = 'ready' | 'starting' | 'stuck' | 'unscheduled' | 'ending' | undefined;

/** A StatefulSet of members, by ordinal: their revision and what became of them. Gives the pods that one look deletes. */
async function deleted(members: readonly (readonly ['old' | 'new', State])[], seen = true): Promise<string[]> {
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
  const gone: string[] = [];
  const pass = {
    cache: { controlledBy: (kind: Kind) => (kind === StatefulSet ? [live] : pods) },
    remove: async ({ metadata }: KubeObject) => void gone.push(metadata.name ?? ''),
    event: () => {},
  } as unknown as Pass;
  await replaceStuckPods(pass, {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace: 'ns' },
  });
  return gone;
}

test('of several stuck members the highest ordinal goes first, alone', async () => {
  expect(
    await deleted([
      ['old', 'stuck'],
      ['old', 'stuck'],
      ['old', 'stuck'],
    ]),
  ).toEqual(['db-2']);
  expect(await deleted([['old', 'unscheduled']])).toEqual(['db-0']);
});

test('the next one goes when the one before is back, or is stuck at the new revision too', async () => {
  expect(
    await deleted([
      ['old', 'stuck'],
      ['old', 'stuck'],
      ['new', 'starting'],
    ]),
  ).toEqual([]);
  expect(
    await deleted([
      ['old', 'stuck'],
      ['old', 'stuck'],
      ['old', 'ending'],
    ]),
  ).toEqual([]);
  expect(
    await deleted([
      ['old', 'stuck'],
      ['old', undefined],
      ['new', 'ready'],
    ]),
  ).toEqual([]);
  expect(
    await deleted([
      ['old', 'stuck'],
      ['old', 'stuck'],
      ['new', 'ready'],
    ]),
  ).toEqual(['db-1']);
  expect(
    await deleted([
      ['old', 'stuck'],
      ['old', 'stuck'],
      ['new', 'stuck'],
    ]),
  ).toEqual(['db-1']);
});

test('members behind a stuck one that never came hold nothing back', async () => {
  expect(
    await deleted([
      ['old', 'stuck'],
      ['new', undefined],
      ['new', undefined],
    ]),
  ).toEqual(['db-0']);
});

test('what is Ready, starts, or is of the new revision stays; so does all until the change is observed', async () => {
  expect(
    await deleted([
      ['old', 'ready'],
      ['old', 'starting'],
      ['new', 'stuck'],
    ]),
  ).toEqual([]);
  expect(await deleted([['old', 'stuck']], false)).toEqual([]);
});
