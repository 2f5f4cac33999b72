import { type Kind, parseTimestamp, StatefulSet, type StoredObject, timestamp } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import type { Live } from './live.ts';
import { nextMember } from './members.ts';

const now = parseTimestamp('2026-01-01T01:00:00Z');

/** Revision of a member, and for how many seconds it has not been ready; 'gone' is one that is not there, 'ending' one that goes. */
type Member = readonly ['old' | 'new', (number | 'gone' | 'ending')?];

/** What one plan evicts of a quorum of such members, by ordinal, whose clients go to `primary`. */
function replaced(members: readonly Member[], { primary = '', type = 'OnDelete' } = {}) {
  const pods = members.flatMap(([revision, away], ordinal): StoredObject[] => {
    if (away === 'gone') return [];
    const since = timestamp({ now: () => now - (typeof away === 'number' ? away : 0) * 1000 });
    const ready = { type: 'Ready', status: typeof away === 'number' ? 'False' : 'True', lastTransitionTime: since };
    const metadata = {
      name: `db-${ordinal}`,
      uid: `${ordinal}`,
      resourceVersion: '1',
      labels: { 'controller-revision-hash': revision },
      ...(away === 'ending' ? { deletionTimestamp: since } : {}),
    };
    return [{ apiVersion: 'v1', kind: 'Pod', metadata, status: { conditions: [ready] } }];
  });
  const set = {
    metadata: { name: 'db', uid: 'db', generation: 2 },
    status: { updateRevision: 'new', observedGeneration: 2 },
  };
  const live = {
    cache: { controlledBy: (kind: Kind) => (kind === StatefulSet ? [set] : pods) },
    resource: { status: { members: { size: members.length, primary } } },
    now,
  } as unknown as Live;
  const spec = { replicas: members.length, updateStrategy: { type } };
  const stated = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db', namespace: 'ns' }, spec };
  const { actions, requeueAfter } = nextMember(live, stated, 'DeploymentReady');
  return { pods: actions.map((action) => 'live' in action && action.live?.metadata.name), requeueAfter };
}

test('members of an older revision go one at a time from the highest, the primary last', () => {
  expect(replaced([['old'], ['old'], ['old']]).pods).toEqual(['db-2']);
  expect(replaced([['old'], ['old'], ['new']], { primary: 'db-1' }).pods).toEqual(['db-0']);
  expect(replaced([['new'], ['old'], ['new']], { primary: 'db-1' }).pods).toEqual(['db-1']);
  expect(replaced([['new'], ['new'], ['new']]).pods).toEqual([]);
});

test('none goes while another one is away', () => {
  for (const away of [5, 5000, 'gone', 'ending'] as const) {
    expect(replaced([['new', away], ['old'], ['old']]).pods).toEqual([]);
  }
  expect(replaced([['old', 'ending'], ['old'], ['old']]).pods).toEqual([]);
});

test('the only one that is away goes at once when it is of an older revision, before those that are ready', () => {
  expect(replaced([['old', 5], ['old'], ['old']]).pods).toEqual(['db-0']);
});

test('of several that are away those of an older revision go after ten minutes', () => {
  const early = replaced([['old', 590], ['old', 300], ['old']]);
  expect(early).toEqual({ pods: [], requeueAfter: 10_000 });
  expect(
    replaced([
      ['old', 601],
      ['new', 300],
      ['old', 20],
    ]).pods,
  ).toEqual(['db-0']);
});

test('a StatefulSet that its controller rolls is left to it', () => {
  expect(replaced([['old'], ['old'], ['old']], { type: 'RollingUpdate' }).pods).toEqual([]);
});
