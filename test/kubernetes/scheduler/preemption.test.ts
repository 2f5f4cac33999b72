import {
  Event,
  Node,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  PriorityClass,
  type StoredObject,
} from '@openstack-operator/kube';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { uniqueName } from '../conformance/server.ts';
import { controllerServer, stable } from '../controllers/server.ts';

const server = controllerServer({ scheduler: true });
const { client, eventually, list } = server;
const priorities = {
  low: { value: 1000 },
  middle: { value: 1500 },
  high: { value: 2000 },
  polite: { value: 2000, preemptionPolicy: 'Never' as const },
};
const prefix = uniqueName('priority');
let nodes: string[] = [];
let namespace = '';

beforeAll(async () => {
  for (const [name, priority] of Object.entries(priorities)) {
    const type = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' } as const;
    await client.create(PriorityClass, { ...type, metadata: { name: `${prefix}-${name}` }, ...priority });
  }
});
beforeEach(async () => {
  namespace = await server.namespace();
});
// A pod that is left would go to the next test's nodes.
afterEach(async () => {
  await client.deleteCollection(Pod, { namespace, gracePeriodSeconds: 0 });
  for (const name of nodes) await client.delete(Node, { name });
  nodes = [];
});

/** Makes a node with four cores. */
async function node(name: string): Promise<void> {
  nodes.push(name);
  const metadata = { name, labels: { name } };
  await client.create(Node, { apiVersion: 'v1', kind: 'Node', metadata });
  const offered = { cpu: '4', memory: '8Gi', pods: '110' };
  const status = { capacity: offered, allocatable: offered };
  await client.patch(Node, { name }, 'merge', { status }, { subresource: 'status' });
}

interface Wanted {
  readonly cpu: number;
  readonly priority?: keyof typeof priorities;
  /** The node that it has to go to. */
  readonly on?: string;
  readonly port?: number;
  readonly claim?: string;
  readonly spec?: object;
}

async function pod(name: string, { cpu, priority, on, port, claim, spec }: Wanted): Promise<void> {
  const resources = { requests: { cpu: String(cpu) } };
  const ports = port === undefined ? [] : [{ containerPort: port, hostPort: port }];
  await client.create(Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { name } },
    spec: {
      containers: [{ name: 'c', image: 'example/app:1', resources, ports }],
      // Nobody reports that the nodes are well.
      tolerations: [{ operator: 'Exists' }],
      ...(priority && { priorityClassName: `${prefix}-${priority}` }),
      ...(on && { nodeSelector: { name: on } }),
      ...(claim && { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim } }] }),
      ...spec,
    },
  });
}

const read = (name: string) => client.get(Pod, { namespace, name });
const scheduling = ({ status }: StoredObject<Pod>) => status?.conditions?.find(({ type }) => type === 'PodScheduled');

async function bound(name: string): Promise<string | undefined> {
  const { spec } = await eventually(
    () => read(name),
    (one) => one.spec?.nodeName !== undefined,
  );
  return spec?.nodeName;
}

/** Why a pod is not scheduled. */
async function reason(name: string): Promise<string | undefined> {
  const one = await eventually(
    () => read(name),
    (found) => scheduling(found)?.message !== undefined,
  );
  return scheduling(one)?.message;
}

/** The pods that have to go, once so many have: a real scheduler ends them one after the other. */
async function victims(count = 1): Promise<string[]> {
  const going = ({ metadata }: StoredObject) => metadata.deletionTimestamp !== undefined;
  const pods = await eventually(
    () => list(Pod, namespace),
    (all) => all.filter(going).length >= count,
  );
  return pods.filter(going).map(({ metadata }) => metadata.name);
}

test('one of lower priority goes, what is promised is kept, and the higher one takes its place', async () => {
  const name = `${namespace}-a`;
  await node(name);
  await pod('lower', { cpu: 3, priority: 'low' });
  expect(await bound('lower')).toBe(name);
  await pod('higher', { cpu: 2, priority: 'high' });
  expect(await victims()).toEqual(['lower']);
  const higher = await eventually(
    () => read('higher'),
    ({ status }) => status?.nominatedNodeName !== undefined,
  );
  // A real scheduler may have looked again by now, and says that it waits for the other's end.
  expect(scheduling(higher)?.message).toMatch(/^0\/1 nodes are available: 1 Insufficient cpu\./);
  const { status, spec } = await read('lower');
  expect(stable({ status, nodeName: spec?.nodeName }, namespace)).toMatchSnapshot();

  // A core is free for as long as the higher one is only promised its two.
  await pod('late', { cpu: 1 });
  expect(await reason('late')).toMatchSnapshot();
  await client.delete(Pod, { namespace, name: 'lower' }, { gracePeriodSeconds: 0 });
  expect(await bound('higher')).toBe(name);
  expect((await read('higher')).status?.nominatedNodeName).toBeUndefined();
  expect(await bound('late')).toBe(name);
  const events = await eventually(
    () => list(Event, namespace),
    (all) => all.filter((event) => event.reason === 'Scheduled').length === 3,
  );
  const told = events
    .filter((event) => event.reason === 'Preempted')
    .map((event) => `${event.involvedObject.name}: ${event.reason}: ${event.message}`);
  expect(stable(told, namespace)).toEqual(['lower: Preempted: Preempted by pod <uid> on node <namespace>-a']);
});

/** Waits until a pod is promised this node, or none. */
const promised = (name: string, node: string | undefined) =>
  eventually(
    () => read(name),
    ({ status }) => status?.nominatedNodeName === node,
  );

test.for([
  { what: 'is promised nothing any more', drivenOut: 'by both', first: 2, left: undefined },
  { what: 'keeps the promise', drivenOut: 'by the first alone', first: 4, left: 'a' },
])('of two that are promised a node, the lesser $what where others go $drivenOut', async ({ first, left }) => {
  const name = `${namespace}-a`;
  await node(name);
  const lower = ['one', 'two'];
  for (const one of lower) {
    await pod(one, { cpu: 2, priority: 'low' });
    await bound(one);
  }
  await pod('middle', { cpu: first, priority: 'middle' });
  await promised('middle', name);
  await victims(first / 2);
  await pod('high', { cpu: 4, priority: 'high' });
  await promised('high', name);
  await promised('middle', left && name);
  for (const one of lower) await client.delete(Pod, { namespace, name: one }, { gracePeriodSeconds: 0 });
  expect(await bound('high')).toBe(name);
  expect((await read('middle')).spec?.nodeName).toBeUndefined();
});

interface Choice {
  readonly what: string;
  readonly pods: Readonly<Record<string, Wanted>>;
  /** What a disruption budget selects, that lets nobody go. */
  readonly guarded?: { readonly matchLabels?: { readonly name: string } };
  readonly go: readonly string[];
}

test.for<Choice>([
  {
    what: 'as few as possible',
    pods: { one: { cpu: 2, on: 'a' }, two: { cpu: 2, on: 'a' }, three: { cpu: 4, on: 'b' } },
    go: ['three'],
  },
  {
    what: 'those of the lowest priority, though they are more',
    pods: { one: { cpu: 2, on: 'a' }, two: { cpu: 2, on: 'a' }, three: { cpu: 4, on: 'b', priority: 'low' } },
    go: ['one', 'two'],
  },
  {
    what: 'those that no budget keeps',
    pods: { one: { cpu: 2, on: 'a', priority: 'low' }, two: { cpu: 2, on: 'a' }, three: { cpu: 4, on: 'b' } },
    guarded: { matchLabels: { name: 'three' } },
    go: ['one', 'two'],
  },
  {
    what: 'one that a budget keeps, when nothing else helps',
    pods: { one: { cpu: 4, on: 'a', priority: 'high' }, three: { cpu: 4, on: 'b' } },
    guarded: { matchLabels: { name: 'three' } },
    go: ['three'],
  },
  {
    what: 'anybody, where a budget selects nothing by name',
    pods: { one: { cpu: 4, on: 'a', priority: 'low' }, two: { cpu: 2, on: 'b' }, three: { cpu: 2, on: 'b' } },
    guarded: {},
    go: ['three', 'two'],
  },
  {
    what: 'nobody who may stay',
    pods: {
      small: { cpu: 1, on: 'a', priority: 'low' },
      large: { cpu: 3, on: 'a', priority: 'low' },
      high: { cpu: 4, on: 'b', priority: 'high' },
    },
    go: ['large'],
  },
])('who goes: $what', async ({ pods, guarded, go }) => {
  for (const name of ['a', 'b']) await node(`${namespace}-${name}`);
  for (const [name, { on, ...wanted }] of Object.entries(pods)) {
    await pod(name, { ...wanted, on: `${namespace}-${on}` });
    await bound(name);
  }
  if (guarded) {
    await client.create(PodDisruptionBudget, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'guard', namespace },
      spec: { minAvailable: 1, selector: guarded },
    });
    await eventually(
      () => client.get(PodDisruptionBudget, { namespace, name: 'guard' }),
      ({ status }) => (status?.expectedPods ?? 0) > 0,
    );
  }
  await pod('higher', { cpu: go.includes('large') ? 3 : 4, priority: 'middle' });
  expect((await victims(go.length)).sort()).toEqual(go);
});

test('why nobody goes', async () => {
  const a = `${namespace}-a`;
  await node(a);
  await pod('equal', { cpu: 2, priority: 'middle', port: 8080 });
  await pod('lower', { cpu: 1, priority: 'low' });
  for (const name of ['equal', 'lower']) await bound(name);
  await pod('polite', { cpu: 2, priority: 'polite' });
  await pod('more', { cpu: 3, priority: 'middle' });
  await pod('most', { cpu: 500, priority: 'high' });
  const reasons: Record<string, string | undefined> = {};
  await pod('unclaimed', { cpu: 1, priority: 'high', claim: 'none' });
  await client.create(PersistentVolumeClaim, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'unbound', namespace },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } },
  });
  await pod('unbound', { cpu: 1, priority: 'high', claim: 'unbound' });
  for (const name of ['polite', 'more', 'most', 'unclaimed', 'unbound']) reasons[name] = await reason(name);
  await node(`${namespace}-b`);
  await pod('port', { cpu: 1, priority: 'middle', port: 8080, on: a });
  reasons['port'] = await reason('port');
  expect(reasons).toMatchSnapshot();
});

test('a priority that is not that of the class is refused', async () => {
  const refusal = (wanted: Wanted) => pod('odd', wanted).catch((error: Error) => error.message);
  expect(
    stable(
      [
        await refusal({ cpu: 1, priority: 'low', spec: { priority: 5 } }),
        await refusal({ cpu: 1, spec: { priority: 5 } }),
        await refusal({ cpu: 1, priority: 'high', spec: { preemptionPolicy: 'Never' } }),
        await refusal({ cpu: 1, spec: { preemptionPolicy: 'Never' } }),
        await refusal({ cpu: 1, spec: { priorityClassName: 'none' } }),
      ],
      namespace,
    ),
  ).toMatchSnapshot();
});
