import { Pod } from '@openstack-operator/kube';
import { OpenStackControlPlane, Swift } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';
import { cats, name, nodes, partitions, policyRings, read, rings, spec, stored, swift } from './swift.ts';

const hour = 3_600_000;
const two = { index: 1, name: 'two', replicaCount: 2 };

/** A cloud whose objects lie on so many storage nodes, in two copies each, and may be moved. */
async function withNodes(storageNodes: number) {
  const storagePolicy = { ...swift.storagePolicy, replicaCount: 2 };
  const more = { ...swift, storagePolicy, storagePolicies: [two], defaultStoragePolicy: 'two', storageNodes };
  const { cloud, operator } = await readyCloud({ spec: { ...spec, swift: more } });
  const all = await stored(cloud, cats);
  await cloud.clock.advance(hour);
  return { cloud, operator, all, stated: more };
}

const want = (cloud: Cloud, storageNodes: number) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift: { storageNodes } } });
const running = (cloud: Cloud) =>
  (cloud.get('StatefulSet', `${name}-storage`)?.['spec'] as { replicas: number } | undefined)?.replicas;
const told = (cloud: Cloud) => cloud.condition(Swift, name, 'RemovedNodesEmpty')?.message ?? '';
/** What the builder of objects weighs devices with, by storage node. */
function weights(cloud: Cloud): Record<string, number> {
  const { devices } = JSON.parse(Buffer.from(rings(cloud)['object.builder'] ?? '', 'base64').toString()) as {
    devices: readonly { ip: string; weight: number }[];
  };
  return Object.fromEntries(devices.map(({ ip, weight }) => [ip.split('.')[0], weight]));
}
const inNode = async (cloud: Cloud, node: string, ...argv: readonly string[]) =>
  (await cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace: 'openstack', name: node }, argv))).stdout;

/** Writes another object, and reads all of them. */
async function use(cloud: Cloud, all: Record<string, string>): Promise<void> {
  const one = `cat-${Object.keys(all).length}`;
  Object.assign(all, await stored(cloud, [one]));
  expect(await read(cloud, Object.keys(all))).toEqual(all);
}

test('a storage node that is wanted no more runs until everything has moved away, whatever is restarted; nothing is lost', async () => {
  const { cloud, operator, all } = await withNodes(3);
  const leaving = `${name}-storage-2`;
  expect(partitions(cloud)[leaving]).toBeGreaterThan(0);
  await want(cloud, 2);
  await cloud.until(() => told(cloud).includes(`${leaving}/d1 is to be empty of what object had there`));
  expect(running(cloud)).toBe(3);
  expect(partitions(cloud)[leaving]).toBe(0);
  await use(cloud, all);
  operator.kill();
  for (const pod of [leaving, `${name}-storage-0`]) await cloud.remove(Pod, pod);
  await use(cloud, all);
  await cloud.startOperator();
  for (let count = 0; count < 40 && running(cloud) === 3; count += 1) {
    await use(cloud, all);
    await cloud.clock.advance(10 * 60_000);
  }
  await cloud.ready();
  expect(running(cloud)).toBe(2);
  await cloud.until(() => cloud.get('Pod', leaving) === undefined);
  expect(partitions(cloud)).toEqual(Object.fromEntries(nodes(2).map((node) => [node, 64])));
  expect(Buffer.from(policyRings(cloud)['object-1.builder'] ?? '', 'base64').toString()).not.toContain(leaving);
  expect(cloud.get('PersistentVolumeClaim', `d1-${leaving}`)).toBeDefined();
  await use(cloud, all);
  // It comes back as any other that is added.
  await cloud.clock.advance(hour);
  await want(cloud, 3);
  await cloud.ready();
  expect(partitions(cloud)[leaving]).toBeGreaterThan(0);
  await use(cloud, all);
}, 300_000);

test('one that is wanted again before it is empty gets its weight back, and keeps what has not moved', async () => {
  const { cloud, all } = await withNodes(4);
  const leaving = `${name}-storage-3`;
  await want(cloud, 3);
  await cloud.until(() => told(cloud).includes(leaving));
  expect(weights(cloud)).toMatchObject({ [leaving]: 0, [`${name}-storage-2`]: 100 });
  await want(cloud, 4);
  await cloud.ready();
  expect(weights(cloud)).toEqual(Object.fromEntries(nodes(4).map((node) => [node, 100])));
  expect(running(cloud)).toBe(4);
  expect(told(cloud)).toBe('');
  await use(cloud, all);
}, 300_000);

test('what lies on a device and does not move keeps it in the rings, and its node running', async () => {
  const { cloud, all } = await withNodes(3);
  const leaving = `${name}-storage-2`;
  await inNode(cloud, leaving, 'mkdir', '-p', '/srv/node/d1/async_pending-1/abc');
  await want(cloud, 2);
  const last = `${leaving}/d1 is to be empty of what object-1 had there`;
  await cloud.until(() => told(cloud).includes(last) && !told(cloud).includes('what object had there'), 120);
  expect(running(cloud)).toBe(3);
  await inNode(cloud, leaving, 'rm', '-r', '/srv/node/d1/async_pending-1/abc');
  await cloud.until(() => running(cloud) === 2, 180);
  await cloud.ready();
  await use(cloud, all);
}, 300_000);

test('of a Swift that is made anew with fewer storage nodes, those that the one before had come up, and leave', async () => {
  const { cloud, all, stated } = await withNodes(3);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift: null } });
  await cloud.until(() => cloud.get('Swift', name) === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift: { ...stated, storageNodes: 2 } } });
  await cloud.until(() => told(cloud).includes(`${name}-storage-2`));
  expect(running(cloud)).toBe(3);
  await cloud.until(() => running(cloud) === 2, 300);
  await cloud.ready();
  await use(cloud, all);
}, 300_000);
