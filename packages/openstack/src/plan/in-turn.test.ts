import { parseTimestamp, timestamp } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { inTurn } from './in-turn.ts';
import { liveWith, owner, stored } from './testing.ts';

const now = parseTimestamp('2026-01-01T01:00:00Z');

/** A StatefulSet of one pod: `changes`, whether another template is stated; `away`, for how many seconds its pod has not been ready. */
interface Member {
  readonly name: string;
  readonly changes?: boolean;
  readonly away?: number;
  /** Its pod is of an older revision. */
  readonly isOld?: boolean;
  /** The node of its pod is not Ready. */
  readonly isCutOff?: boolean;
  /** Its pod waits for its node, which takes none: it is cordoned. */
  readonly isDrained?: boolean;
  /** Its pod was not made. */
  readonly isEmpty?: boolean;
  /** There is none yet. */
  readonly isMissing?: boolean;
}

const onNode = (node: string) => ({
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
  },
});

function changed(members: readonly Member[]) {
  const objects = members.flatMap(
    ({ name, away, isOld = false, isMissing = false, isCutOff = false, isDrained = false, isEmpty = false }) => {
      if (isMissing) return [];
      const set = stored('apps/v1', 'StatefulSet', name, { status: { updateRevision: 'new', observedGeneration: 1 } });
      const since = timestamp({ now: () => now - (away ?? 0) * 1000 });
      const conditions = [{ type: 'Ready', status: away === undefined ? 'True' : 'False', lastTransitionTime: since }];
      const labels = { 'controller-revision-hash': isOld ? 'old' : 'new' };
      const reference = { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid: name, controller: true };
      const pod = stored('v1', 'Pod', `${name}-0`, {
        metadata: { labels, ownerReferences: [reference] },
        spec: isDrained ? { affinity: { nodeAffinity: onNode(`node-of-${name}`) } } : { nodeName: `node-of-${name}` },
        status: { conditions },
      });
      const status = { conditions: [{ type: 'Ready', status: isCutOff ? 'Unknown' : 'True' }] };
      const node = stored('v1', 'Node', `node-of-${name}`, { spec: { unschedulable: isDrained }, status });
      return [set, node, ...(isEmpty ? [] : [pod])];
    },
  );
  const planned = members.map(({ name, changes = false, isMissing = false }) => {
    const stated = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name, namespace: 'ns' } };
    const apply = { verb: 'apply', reason: 'Differs', object: stated, retained: false, autoscaled: false } as const;
    const live = objects.find(({ metadata }) => metadata.name === name) ?? owner;
    return { stated, plan: { actions: changes ? [{ ...apply, ...(isMissing ? {} : { live }) }] : [] } };
  });
  const plans = inTurn({ ...liveWith(objects), now }, planned);
  return members.flatMap(({ name }, index) => (plans[index]?.actions.length ? [name] : []));
}

test('one is changed, and the next one when all pods are there, new and ready', () => {
  const all = ['a', 'b', 'c'].map((name) => ({ name, changes: true }));
  expect(changed(all)).toEqual(['a']);
  expect(changed([{ name: 'a', isOld: true }, ...all.slice(1)])).toEqual([]);
  expect(changed([{ name: 'a', away: 5 }, ...all.slice(1)])).toEqual([]);
  expect(changed([{ name: 'a' }, ...all.slice(1)])).toEqual(['b']);
});

test('one that is away is changed at once, and after ten minutes nobody waits for one whose node or older pod is away', () => {
  const [a, b] = ['a', 'b'].map((name) => ({ name, changes: true })) as [Member, Member];
  expect(changed([a, { ...b, away: 5 }])).toEqual(['b']);
  expect(changed([a, { name: 'b', away: 599, isCutOff: true }])).toEqual([]);
  expect(changed([a, { name: 'b', away: 601, isCutOff: true }])).toEqual(['a']);
  expect(changed([a, { name: 'b', away: 599, isDrained: true }])).toEqual([]);
  expect(changed([a, { name: 'b', away: 601, isDrained: true }])).toEqual(['a']);
  expect(changed([a, { name: 'b', away: 599, isOld: true }])).toEqual([]);
  expect(changed([a, { name: 'b', away: 601, isOld: true }])).toEqual(['a']);
});

test('one whose new pod does not come up, or is not made, stops the change: it may be why', () => {
  const a = { name: 'a', changes: true };
  expect(changed([a, { name: 'b', away: 86_400 }])).toEqual([]);
  expect(changed([a, { name: 'b', isEmpty: true }])).toEqual([]);
  expect(changed([a, { name: 'b', away: 86_400, changes: true }])).toEqual(['b']);
});

test('what is not there is made at once', () => {
  const made = ['b', 'c'].map((name) => ({ name, changes: true, isMissing: true }));
  expect(changed([{ name: 'a', away: 5 }, ...made])).toEqual(['b', 'c']);
});
