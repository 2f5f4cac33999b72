import { OpenStackControlPlane, Swift } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import type { Cloud } from './cloud.ts';
import { disk, four, group, inRings, isReady, onDisks, owner, setOn, step, told } from './mounts.ts';
import { builder, cats, name, read, rings, stored } from './swift.ts';

const minutes = 60_000;
const hour = 60 * minutes;
const three = four.slice(0, 3);
const podOn = (cloud: Cloud, node: string) => ({ namespace: 'openstack', name: `${setOn(cloud, node)}-0` });
const widen = (cloud: Cloud) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { swift: { storageGroups: [{ ...group, hostPath: { devices: ['sdb', 'sdc'] } }] } },
  });
const containerOf = (cloud: Cloud, pod: string, container: string) => {
  const { containerStatuses = [] } = (cloud.get('Pod', pod)?.['status'] ?? {}) as {
    containerStatuses?: { name: string; state?: object; lastState?: { terminated?: { message?: string } } }[];
  };
  return containerStatuses.find(({ name }) => name === container);
};
const devices = (cloud: Cloud) => new Set(builder(cloud).devices.map(({ device }) => device));

test('a disk that is mounted after its pod has started is looked at as well', async () => {
  const cloud = await onDisks({ 'node-3': { type: 'ext4' } }, (cloud) => {
    cloud.rehearsal.sandbox.nodes.unmount('node-3', disk);
  });
  await cloud.until(() => told(cloud, step).includes(`device sdb of node node-3 (${disk}) is not mounted`));
  cloud.rehearsal.sandbox.nodes.mount('node-3', disk);
  await cloud.until(() =>
    told(cloud, step).includes(`device sdb of node node-3 (${disk}), of ext4, takes no metadata`),
  );
  await cloud.clock.advance(hour);
  expect(rings(cloud)).toEqual({});
}, 600_000);

test('a disk of root that is mounted later is told, and one of Swift is taken', async () => {
  const cloud = await onDisks({ 'node-2': { owner: 0 } }, ({ rehearsal }) => {
    for (const node of ['node-2', 'node-3']) rehearsal.sandbox.nodes.unmount(node, disk);
  });
  const { nodes } = cloud.rehearsal.sandbox;
  await cloud.until(() => told(cloud, step).includes('is not mounted'));
  for (const node of ['node-2', 'node-3']) nodes.mount(node, disk);
  await cloud.until(() => told(cloud, step).includes(`chown 42445:42445 ${disk}`));
  expect(told(cloud, step)).toContain(`device sdb of node node-2 (${disk}) cannot be written to by the user of Swift`);
  await cloud.until(() => isReady(cloud, setOn(cloud, 'node-3') ?? ''));
  expect(rings(cloud)).toEqual({});
}, 600_000);

test('a disk of another Swift in the place of one is told, and daemons keep off it', async () => {
  const cloud = await onDisks();
  await cloud.ready();
  const all = await stored(cloud, cats);
  const pod = podOn(cloud, 'node-2');
  const { pods } = cloud.rehearsal.sandbox;
  await cloud.settle(pods.exec(pod, ['sh', '-c', `echo another > ${disk}/.swift`]));
  await cloud.until(() =>
    told(cloud, step).includes(`device sdb of node node-2 (${disk}) has objects of another Swift`),
  );
  await cloud.clock.advance(10 * minutes);
  expect(containerOf(cloud, pod.name, 'daemons')?.lastState?.terminated?.message).toContain(
    'has objects of another Swift: unmount it',
  );
  expect(await read(cloud, cats)).toEqual(all);
  // A disk that is failing is nobody else's.
  const unreadable = `rm ${disk}/.swift && mkdir ${disk}/.swift && echo x > ${disk}/.swift/x`;
  await cloud.settle(pods.exec(pod, ['sh', '-c', unreadable]));
  await cloud.until(() => told(cloud, step).includes(`device sdb of node node-2 (${disk}) cannot be read`));
  await cloud.clock.advance(10 * minutes);
  expect(containerOf(cloud, pod.name, 'daemons')?.state).toHaveProperty('running');
  expect((await cloud.settle(pods.exec(pod, ['sh', '-c', `rm -r ${disk}/.swift`]))).code).toBe(0);
  // As a node may leave it that has lost its power.
  await cloud.settle(pods.exec(pod, ['sh', '-c', `: > ${disk}/.swift`]));
  await cloud.until(() => told(cloud, step) === '');
  expect((await cloud.settle(pods.exec(pod, ['cat', `${disk}/.swift`]))).stdout).toMatch(/^[0-9a-f]{64} /u);
}, 600_000);

test('a device that is added and has a mistake on all nodes takes none of the others away, and no ring has it', async () => {
  const cloud = await onDisks();
  await cloud.ready();
  const all = await stored(cloud, cats);
  for (const node of three) cloud.rehearsal.sandbox.nodes.mount(node, '/srv/node/sdc', { owner: 0 });
  await widen(cloud);
  await cloud.until(() => told(cloud, step).includes('chown 42445:42445 /srv/node/sdc'));
  await cloud.clock.advance(hour);
  expect(await read(cloud, cats)).toEqual(all);
  expect(devices(cloud)).toEqual(new Set(['sdb']));
  expect(inRings(cloud, three)).toEqual({ 'node-1/sdb': 100, 'node-2/sdb': 100, 'node-3/sdb': 100 });
  expect(cloud.isReady('Swift', name)).toBe(false);
}, 600_000);

test('a device that is added enters the rings once it is mounted on all nodes', async () => {
  const cloud = await onDisks();
  await cloud.ready();
  const all = await stored(cloud, cats);
  await widen(cloud);
  await cloud.until(() => told(cloud, step).includes('(/srv/node/sdc) is not mounted'));
  await cloud.clock.advance(hour);
  expect(cloud.condition(Swift, name, step)?.status).toBe('False');
  expect(devices(cloud)).toEqual(new Set(['sdb']));
  expect(await read(cloud, cats)).toEqual(all);
  for (const node of three) cloud.rehearsal.sandbox.nodes.mount(node, '/srv/node/sdc', { owner });
  await cloud.until(() => devices(cloud).has('sdc'), 90);
  await cloud.ready();
  expect(await read(cloud, cats)).toEqual(all);
}, 600_000);
