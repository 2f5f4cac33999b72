import { controllerReference, type StoredObject, timestamp } from '@openstack-operator/kube';
import { describe, expect, test } from 'vitest';
import { annotations, cloudLabel, cloudOf, nodeGroupLabel } from '../engine/names/names.ts';
import { planNodeAgents } from './node-agents.ts';
import { liveWith, owner, stored } from './testing.ts';

const now = 1_800_000_000_000;
const hashLabel = 'controller-revision-hash';
const cloud = cloudOf(owner);
const at = (milliseconds: number) => timestamp({ now: () => milliseconds });

/** `old`: Ready, of an older revision. A number: the newest revision, not Ready for so many seconds. */
type State = 'old' | 'revoked' | 'new' | 'going' | 'missing' | number;
type Agents = Record<'controller' | 'settings', State> & { readonly other?: State };

interface Setting {
  readonly asked?: boolean;
  readonly maxUnavailable?: number;
  /** The newest settings have the same variables as the old ones: what differs is the image, or a script. */
  readonly sameVariables?: boolean;
}

/** What one plan does with agents of nodes: `settings` and `other` touch neither data path nor guests. */
function planned(nodes: Record<string, Agents>, { asked, maxUnavailable, sameVariables }: Setting = {}) {
  const daemonSets = ['controller', 'settings', 'other'].map((name) =>
    stored('apps/v1', 'DaemonSet', name, {
      metadata: name === 'controller' ? {} : { annotations: { [annotations.replacedUnasked]: 'true' } },
      spec: {
        template: {
          metadata: { annotations: { [annotations.credentials]: 'new' } },
          spec: {
            nodeSelector: { [cloudLabel]: cloud, [name]: 'true' },
            containers: [{ env: [{ name: 'REMOTE', value: 'new' }] }],
          },
        },
      },
    }),
  );
  const ofSet = (set: StoredObject) => ({ ownerReferences: [controllerReference(set)] });
  const pod = (set: StoredObject, node: string, state: State): StoredObject => {
    const isNew = state === 'new' || typeof state === 'number';
    const since = typeof state === 'number' ? now - state * 1000 : now - 86_400_000;
    const value = isNew || sameVariables === true ? 'new' : 'old';
    return stored('v1', 'Pod', `${set.metadata.name} on ${node}`, {
      metadata: {
        ...ofSet(set),
        creationTimestamp: at(now - 86_400_000),
        labels: { [hashLabel]: isNew ? '2' : '1' },
        annotations: { [annotations.credentials]: state === 'revoked' ? 'old' : 'new' },
        ...(state === 'going' ? { deletionTimestamp: at(now) } : {}),
      },
      spec: { nodeName: node, containers: [{ env: [{ name: 'REMOTE', value }] }] },
      status: {
        conditions: [
          {
            type: 'Ready',
            status: typeof state === 'number' ? 'False' : 'True',
            lastTransitionTime: at(since),
          },
        ],
      },
    });
  };
  const names = Object.keys(nodes);
  const resource = asked === true ? withAnnotation(owner) : owner;
  const live = liveWith(
    [
      ...daemonSets,
      ...daemonSets.flatMap((set) =>
        ['1', '2'].map((hash) => ({
          ...stored('apps/v1', 'ControllerRevision', `${set.metadata.name}-${hash}`, {
            metadata: { ...ofSet(set), labels: { [hashLabel]: hash } },
          }),
          revision: Number(hash),
        })),
      ),
      ...names.map((name) => {
        const selected = Object.fromEntries(Object.keys(nodes[name] ?? {}).map((agent) => [agent, 'true']));
        return stored('v1', 'Node', name, {
          metadata: { labels: { [cloudLabel]: cloud, [nodeGroupLabel]: 'default', ...selected } },
        });
      }),
      ...daemonSets.flatMap((set) =>
        names.flatMap((name) => {
          const state = nodes[name]?.[set.metadata.name as keyof Agents];
          return state === undefined || state === 'missing' ? [] : [pod(set, name, state)];
        }),
      ),
    ],
    { now, resource },
  );
  const objects = daemonSets.map((object) => ({ verb: 'apply' as const, object }));
  const steps = [{ condition: 'AgentsReady', needs: [], awaits: [], objects }];
  const { actions, requeueAfter } = planNodeAgents(live, {
    steps,
    complete: true,
    status: {},
    ...(maxUnavailable === undefined ? {} : { maxUnavailable: new Map([['default', maxUnavailable]]) }),
  });
  return {
    replaced: actions.flatMap((action) => (action.verb === 'evict' ? [action.live.metadata.name] : [])),
    requeueAfter,
  };
}

function withAnnotation(resource: StoredObject): StoredObject {
  return { ...resource, metadata: { ...resource.metadata, annotations: { [annotations.rollNodeAgents]: 'true' } } };
}

const nothing = { replaced: [], requeueAfter: undefined };

describe('a node that has been without an agent for long', () => {
  test.each([{}, { asked: true }])('gets its settings, which touch neither data path nor guests (%o)', (setting) => {
    const n1 = { controller: 121, settings: 'old' } as const;
    expect(planned({ n1 }, setting)).toEqual({ replaced: ['settings on n1'], requeueAfter: undefined });
  });

  test('waits for two minutes, and the plan says until when', () => {
    const n1 = { controller: 50, settings: 'old' } as const;
    expect(planned({ n1 })).toEqual({ replaced: [], requeueAfter: 70_000 });
    expect(planned({ n1, n2: { controller: 100, settings: 'old' } })).toEqual({ replaced: [], requeueAfter: 20_000 });
  });

  test('is not held back by others that are away, nor by the limit of its group', () => {
    const away = { controller: 600, settings: 'old' } as const;
    const nodes = { n1: away, n2: away, n3: { controller: 'new', settings: 5 } as const };
    expect(planned(nodes, { maxUnavailable: 1 }).replaced).toEqual(['settings on n1', 'settings on n2']);
  });

  test('gets one at a time, the next when the one before is Ready or had its time', () => {
    const replaced = (settings: State, other: State) => planned({ n1: { controller: 600, settings, other } }).replaced;
    expect(replaced('old', 'old')).toEqual(['settings on n1']);
    for (const state of ['going', 'missing', 119] as const) expect(replaced(state, 'old'), `${state}`).toEqual([]);
    expect(replaced('new', 'old')).toEqual(['other on n1']);
    expect(replaced(120, 'old')).toEqual(['other on n1']);
  });

  test('keeps agents that touch the data path or guests, asked or not', () => {
    const n1 = { controller: 'old', settings: 600 } as const;
    expect(planned({ n1 })).toEqual(nothing);
    expect(planned({ n1 }, { asked: true })).toEqual(nothing);
    // Of several that are asked for, the one that may go does.
    const both = { controller: 'old', settings: 'old', other: 600 } as const;
    expect(planned({ n1: both }, { asked: true }).replaced).toEqual(['settings on n1']);
  });

  test('gets a new image or script of its settings only when asked', () => {
    const n1 = { controller: 600, settings: 'old' } as const;
    expect(planned({ n1 }, { sameVariables: true })).toEqual(nothing);
    expect(planned({ n1 }, { sameVariables: true, asked: true }).replaced).toEqual(['settings on n1']);
  });

  test('holds back the settings of others: what no node can apply stops at the first', () => {
    const serves = { controller: 'new', settings: 'old' } as const;
    expect(planned({ n1: { controller: 'new', settings: 600 }, n2: serves, n3: serves })).toEqual(nothing);
    expect(planned({ n1: { controller: 600, settings: 'old' }, n2: serves }).replaced).toEqual(['settings on n1']);
  });
});

test('credentials that nobody accepts wait for a node that is away, two minutes at most, and the plan says how long', () => {
  const others = { n2: { controller: 'revoked', settings: 'new' } as const };
  const away = (seconds: number) => ({ n1: { controller: 'new', settings: seconds } as const });
  expect(planned({ ...away(30), ...others })).toEqual({ replaced: [], requeueAfter: 90_000 });
  expect(planned({ ...away(120), ...others }).replaced).toEqual(['controller on n2']);
  // On the node itself, too.
  expect(planned({ n1: { controller: 'revoked', settings: 30 } })).toEqual({ replaced: [], requeueAfter: 90_000 });
  expect(planned({ n1: { controller: 'revoked', settings: 120 } }).replaced).toEqual(['controller on n1']);
});
