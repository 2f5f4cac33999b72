import { ConfigMap } from '@openstack-operator/kube';
import { OpenStackControlPlane, Swift } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, readyCloud } from './cloud.ts';
import { type Builder, builder, cats, moved, name, nodes, partitions, spec, stored, swift, use } from './swift.ts';

const hour = 3_600_000;
const b = { name: 'b', zone: 2 };
const ofB = (count: number) => Array.from({ length: count }, (_, index) => `${name}-storage-b-${index}`);

const change = (cloud: Cloud, swift: object | null) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift } });
const told = (cloud: Cloud, condition: string) => cloud.condition(Swift, name, condition)?.message ?? '';
const runs = (cloud: Cloud, component: string) =>
  (cloud.get('StatefulSet', `${name}-${component}`)?.['spec'] as { replicas: number } | undefined)?.replicas;

/** Zone and weight of the devices of each storage node. */
const devices = (cloud: Cloud) =>
  Object.fromEntries(builder(cloud).devices.map(({ ip, zone, weight }) => [ip.split('.')[0], [zone, weight]]));
/** In which zones the replicas of each partition are. */
function zones({ devices, replicas }: Builder): number[][] {
  const zoneOf = (id: number) => devices.find((one) => one.id === id)?.zone ?? 0;
  return (replicas[0] ?? []).map((_, part) => replicas.map((one) => zoneOf(one[part] ?? -1)));
}

/** A cloud with three storage nodes and some objects, whose partitions may be moved. */
async function withThree(more: object = {}) {
  const { cloud, operator } = await readyCloud({ spec: { ...spec, swift: { ...swift, ...more } } });
  const all = await stored(cloud, cats);
  await cloud.clock.advance(hour);
  return { cloud, operator, all };
}

test('replicas are in all zones, and a device of a larger volume has more of them', async () => {
  const placement = {
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [{ key: 'example.com/rack', operator: 'Exists' }],
  };
  const groups = [
    { ...b, storageNodes: 2, storage: { size: '100Gi' }, ...placement },
    { name: 'c', zone: 3, storageNodes: 2 },
  ];
  const { cloud } = await readyCloud({
    spec: { ...spec, swift: { ...swift, storageNodes: 2, storageGroups: groups } },
  });
  expect(devices(cloud)).toEqual({
    ...Object.fromEntries(nodes(2).map((node) => [node, [1, 100]])),
    ...Object.fromEntries(ofB(2).map((node) => [node, [2, 200]])),
    ...Object.fromEntries([0, 1].map((index) => [`${name}-storage-c-${index}`, [3, 100]])),
  });
  // Two of the five zones' worth of replicas would be in zone b, and one of each partition is at least.
  const all = zones(builder(cloud));
  expect(all.every((one) => one.includes(2))).toBe(true);
  expect(all.filter((one) => new Set(one).size === 1)).toEqual([]);
  expect(partitions(cloud)[`${name}-storage-b-0`]).toBeGreaterThan(partitions(cloud)[`${name}-storage-0`] ?? 0);
  const set = cloud.get('StatefulSet', `${name}-storage-b`)?.['spec'] as { template: { spec: object } };
  expect(set.template.spec).toMatchObject(placement);
  expect(cloud.get('PersistentVolumeClaim', `d1-${name}-storage-b-1`)?.['spec']).toMatchObject({
    resources: { requests: { storage: '100Gi' } },
  });
  await use(cloud, await stored(cloud, cats));
}, 300_000);

test('a group that is added gets one replica of each partition at most at a time, and leaves as storage nodes do', async () => {
  const { cloud, operator, all } = await withThree();
  const before = builder(cloud);
  await change(cloud, { storageGroups: [b] });
  await cloud.ready();
  expect(new Set(moved(before, builder(cloud)))).toEqual(new Set([1]));
  expect(zones(builder(cloud)).every((one) => one.filter((zone) => zone === 2).length === 1)).toBe(true);
  await use(cloud, all);

  // Of other weights the same follows, and no zone is another one.
  const elsewhere = change(cloud, { storageGroups: [{ ...b, zone: 3 }] });
  await expect(elsewhere).rejects.toThrow('cannot be changed: replicas lie there by it');
  await cloud.clock.advance(hour);
  const third = builder(cloud);
  await change(cloud, { storageGroups: [{ ...b, weight: 200 }] });
  await cloud.ready();
  expect(devices(cloud)[`${name}-storage-b-0`]).toEqual([2, 200]);
  expect(Math.max(...moved(third, builder(cloud)))).toBe(1);
  expect(Math.min(...ofB(3).map((node) => partitions(cloud)[node] ?? 0))).toBeGreaterThan(40);

  await change(cloud, { storageGroups: null });
  await cloud.until(() => told(cloud, 'RemovedNodesEmpty').includes(`${name}-storage-b-2/d1`));
  expect(runs(cloud, 'storage-b')).toBe(3);
  expect(devices(cloud)[`${name}-storage-b-0`]).toEqual([2, 0]);
  // Stated again it is what it was.
  await change(cloud, { storageGroups: [{ ...b, zone: 3 }] });
  await cloud.until(() => told(cloud, 'ConfigReady').includes('spec.storageGroups[name=b].zone: it is 3, and was 2'));
  await cloud.clock.advance(60_000);
  expect(told(cloud, 'ConfigReady')).toContain('it is 3, and was 2');
  await change(cloud, { storageGroups: null });
  await use(cloud, all);
  operator.kill();
  await cloud.startOperator();
  for (let count = 0; count < 40 && runs(cloud, 'storage-b') !== undefined; count += 1) {
    await use(cloud, all);
    await cloud.clock.advance(10 * 60_000);
  }
  await cloud.ready();
  expect(cloud.get('StatefulSet', `${name}-storage-b`)).toBeUndefined();
  expect(cloud.get('Service', `${name}-storage-b`)).toBeUndefined();
  expect(cloud.get('PersistentVolumeClaim', `d1-${ofB(1)[0]}`)).toBeDefined();
  expect(partitions(cloud)).toEqual(Object.fromEntries(nodes(3).map((node) => [node, 64])));
  await use(cloud, all);
  // Nothing of it is remembered: it may come back with another zone.
  await cloud.clock.advance(hour);
  await change(cloud, { storageGroups: [{ ...b, zone: 3 }] });
  await cloud.ready();
  expect(devices(cloud)[`${name}-storage-b-0`]).toEqual([3, 100]);
  await use(cloud, all);
}, 600_000);

test('a group that a Swift of this name has had comes up, and leaves; without that memory rings refuse another zone', async () => {
  const more = { ...swift, storageGroups: [{ ...b, storageNodes: 1 }] };
  const { cloud, all } = await withThree(more);
  await change(cloud, null);
  await cloud.until(() => cloud.get('Swift', name) === undefined);
  await cloud.remove(ConfigMap, `${name}-lasting`);
  await change(cloud, { ...more, storageGroups: [{ ...b, zone: 5, storageNodes: 1 }] });
  await cloud.until(() => told(cloud, 'RingsReady').includes('storage-b-0'));
  expect(told(cloud, 'RingsReady')).toContain('in zone 2, and spec.storageGroups say 5');
  await change(cloud, null);
  await cloud.until(() => cloud.get('Swift', name) === undefined);
  await cloud.remove(ConfigMap, `${name}-lasting`);
  await change(cloud, more);
  await cloud.ready();
  await use(cloud, all);
  await change(cloud, null);
  await cloud.until(() => cloud.get('Swift', name) === undefined);
  await change(cloud, swift);
  await cloud.until(() => told(cloud, 'RemovedNodesEmpty').includes(`${name}-storage-b-0/d1`));
  await cloud.until(() => runs(cloud, 'storage-b') === undefined, 400);
  await cloud.ready();
  await use(cloud, all);
}, 600_000);

test('a group that is taken away in the moment in which its memory is lost runs on until somebody states it again', async () => {
  const { cloud, operator, all } = await withThree({ storageGroups: [{ ...b, storageNodes: 1 }] });
  operator.kill();
  await cloud.remove(ConfigMap, `${name}-lasting`);
  await change(cloud, { storageGroups: null });
  await cloud.change(Swift, name, { spec: { storageGroups: null } });
  await cloud.startOperator();
  await cloud.until(() => told(cloud, 'RingsReady').includes('spec.storageGroups ask for: state what it was'));
  await cloud.clock.advance(hour);
  expect(runs(cloud, 'storage-b')).toBe(1);
  expect(cloud.get('Service', `${name}-storage-b`)).toBeDefined();
  await use(cloud, all);
  await change(cloud, { storageGroups: [{ ...b, storageNodes: 1 }] });
  await cloud.ready();
  await use(cloud, all);
}, 300_000);

test('a group whose pods find no node is taken away again, and holds nothing else up meanwhile', async () => {
  const { cloud, all } = await withThree();
  await change(cloud, {
    storageGroups: [{ ...b, storage: { storageClassName: 'none' }, nodeSelector: { rack: '9' } }],
  });
  await cloud.clock.advance(2 * 60_000);
  expect(cloud.isReady('OpenStackControlPlane', 'my-cloud')).toBe(false);
  await use(cloud, all);
  await change(cloud, { storageGroups: null });
  await cloud.ready();
  expect(cloud.get('StatefulSet', `${name}-storage-b`)).toBeUndefined();
  expect(Object.keys(devices(cloud))).toEqual(nodes(3));
  await use(cloud, all);
}, 300_000);

test.each([
  [
    'fewer devices than replicas',
    { storageNodes: 1, storageGroups: [{ ...b, storageNodes: 1 }] },
    'expected a device for each of the 3 copies or fragments of spec.storagePolicy, and there are 2',
  ],
  [
    'fewer devices than fragments',
    {
      storageNodes: 1,
      storagePolicies: [{ index: 1, name: 'ec', erasureCoding: { dataFragments: 4, parityFragments: 2 } }],
      storageGroups: [{ ...b, storageNodes: 2, devicesPerNode: 2 }],
    },
    'expected a device for each of the 6 copies or fragments of spec.storagePolicies, and there are 5',
  ],
  [
    'more devices than rings have room for',
    { storageNodes: 60, devicesPerNode: 10, storageGroups: [{ ...b, storageNodes: 100, devicesPerNode: 3 }] },
    'the rings of spec.storagePolicy would not fit into a Secret (1 MiB) with 900 devices',
  ],
  [
    'labels that are none',
    { storageGroups: [{ ...b, nodeSelector: { 'a b': 'c' } }] },
    'spec.storageGroups[name=b].nodeSelector',
  ],
])(
  '%s are refused',
  async (_what, more, words) => {
    const cloud = await createCloud();
    await cloud.startOperator();
    await cloud.settle(cloud.rehearsal.create(controlPlane({ ...spec, swift: { ...swift, ...more } })));
    await cloud.until(() => told(cloud, 'ConfigReady').includes(words));
    expect(cloud.get('StatefulSet', `${name}-storage`)).toBeUndefined();
  },
  120_000,
);
