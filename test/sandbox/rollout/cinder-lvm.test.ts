import { Cinder, OpenStackControlPlane } from '@openstack-operator/openstack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, only } from './cloud.ts';
import { ask, attach, booted, detach, made, podsOf, settles, statusOf, urls } from './disks.ts';

// Logical volumes of a node: the kernel here has no device mapper, so that models alone have them.

const group = 'cinder-volumes';
const label = `LABELONE\n${group} {\n}\n`;
const lvm = { name: 'lvm', type: 'lvm', rootHelpers: true, lvmVolumeGroup: group, lvmNode: 'node-1' };
const initiator = { '/etc/iscsi/initiatorname.iscsi': 'InitiatorName=iqn.2004-10.com.example:node\n' };

const volumes = async () => {
  const { volumes } = await ask<{ volumes: { id: string }[] }>(cloud, 'GET', `${urls.cinder}/volumes`);
  return volumes.map(({ id }) => id);
};

const services = only('mariadb', 'memcached', 'keystone', 'rabbitmq');

const told = (cloud: Cloud) => cloud.condition(Cinder, 'my-cloud-cinder')?.message ?? '';

/** Runs a command where the devices of node-1 are. */
const onNode = (cloud: Cloud, script: string) => {
  const [pod] = podsOf(cloud, 'cinder-target-lvm');
  const ref = { namespace: 'openstack', name: pod?.metadata.name ?? '' };
  return cloud.settle(cloud.rehearsal.sandbox.pods.exec(ref, ['bash', '-c', script]));
};

let cloud: Cloud;

beforeAll(async () => {
  cloud = await createCloud({ capacity: { cpu: '16', memory: '64Gi' }, files: initiator });
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane({ cinder: { backends: [lvm] } })));
});
afterAll(() => cloud.rehearsal.stop());

test('a node without the volume group is told, and with it volumes are made', async () => {
  await cloud.until(() => told(cloud).includes('cannot find volume group'));
  expect(told(cloud)).toContain(
    'cannot find volume group cinder-volumes on node node-1: make it there (vgcreate cinder-volumes DEVICE), or bring its disks back',
  );
  await cloud.until(() => podsOf(cloud, 'cinder-target-lvm').length > 0);
  await onNode(cloud, `printf '${label}' > /dev/sdb`);
  await cloud.ready();
  await cloud.clock.advance(60_000);
  expect(await statusOf(cloud, await made(cloud, 'volume', { size: 1 }))).toBe('available');
});

test('a server has a volume by iSCSI, and keeps it when tgtd and cinder-volume start anew', async () => {
  const server = await booted(cloud, 'one');
  const volume = await made(cloud, 'volume', { size: 1 });
  await attach(cloud, server, volume);
  await settles(cloud, () => statusOf(cloud, volume), 'in-use');
  const served = async () => (await onNode(cloud, 'tgt-admin --show')).stdout;
  expect(await served()).toContain(`volume-${volume}`);
  for (const component of ['cinder-target-lvm', 'cinder-volume-lvm']) {
    const [pod] = podsOf(cloud, component);
    cloud.rehearsal.sandbox.pods.kill({ namespace: 'openstack', name: pod?.metadata.name ?? '' });
    await cloud.clock.advance(60_000);
    await cloud.ready();
    expect(await served()).toContain(`volume-${volume}`);
    expect(await statusOf(cloud, volume)).toBe('in-use');
  }
  cloud.rehearsal.sandbox.nodes.stop('node-1');
  await cloud.clock.advance(30_000);
  cloud.rehearsal.sandbox.nodes.start('node-1');
  await cloud.clock.advance(120_000);
  await cloud.ready();
  expect(await served()).toContain(`volume-${volume}`);
  expect(await statusOf(cloud, volume)).toBe('in-use');
  // Without tgtd it could export nothing, and attached volumes would be in error.
  const image = (target: string | null) =>
    cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { images: { target } } } });
  await image('registry.example.com/none:1');
  await cloud.until(() => told(cloud).includes('registry.example.com/none:1'));
  const [pod] = podsOf(cloud, 'cinder-volume-lvm');
  cloud.rehearsal.sandbox.pods.kill({ namespace: 'openstack', name: pod?.metadata.name ?? '' });
  await cloud.clock.advance(60_000);
  expect(await statusOf(cloud, volume)).toBe('in-use');
  await image(null);
  await cloud.ready();
  await cloud.clock.advance(60_000);
  expect(await served()).toContain(`volume-${volume}`);
  await detach(cloud, server, volume);
  await settles(cloud, () => statusOf(cloud, volume), 'available');
  expect(await served()).not.toContain(`volume-${volume}`);
});

const change = async (cinder: object) => {
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder } });
  await cloud.ready();
};

test('what changes of Cinder stops no disk: tgtd goes on', async () => {
  const uids = () => ['target', 'volume'].map((name) => podsOf(cloud, `cinder-${name}-lvm`)[0]?.metadata.uid);
  const before = uids();
  await change({ config: { 'cinder.conf': { DEFAULT: { debug: true } } } });
  const after = uids();
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
});

test('a backend that is removed is served for as long as volumes lie on it', async () => {
  const volume = await made(cloud, 'volume', { size: 1 });
  const file = { name: 'files', type: 'nfs', rootHelpers: true, nfs: { shares: ['10.0.0.20:/a'] } };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { backends: [file] } } });
  const removed = () => cloud.condition(Cinder, 'my-cloud-cinder', 'RemovedBackendsEmpty')?.message ?? '';
  await cloud.until(() => removed().includes('of my-cloud-cinder@lvm'), 30);
  expect(podsOf(cloud, 'cinder-target-lvm')).toHaveLength(1);
  expect(podsOf(cloud, 'cinder-volume-lvm')).toHaveLength(1);
  for (const id of await volumes()) await ask(cloud, 'DELETE', `${urls.cinder}/volumes/${id}`);
  await settles(cloud, () => statusOf(cloud, volume), 'gone');
  await cloud.until(() => podsOf(cloud, 'cinder-target-lvm').length === 0, 120);
  await cloud.until(() => podsOf(cloud, 'cinder-volume-lvm').length === 0);
  await cloud.ready();
});

test('a node that is gone, or that there is not, is told', async () => {
  const away = await createCloud({ capacity: { cpu: '16', memory: '64Gi' } });
  await away.startOperator();
  const taint = { key: 'storage', effect: 'NoSchedule' } as const;
  const add = () => away.rehearsal.sandbox.nodes.add({ name: 'disk-1', taints: [taint], files: { '/dev/sdb': label } });
  const cinder = { backends: [{ ...lvm, lvmNode: 'disk-1', lvmAddress: '10.9.9.9' }] };
  await away.settle(away.rehearsal.create(controlPlane({ ...services, cinder })));
  const none = "it needs a node with kubernetes.io/hostname=disk-1: 0/1 nodes are available: 1 node(s) didn't match";
  await away.until(() => told(away).includes(none));
  add();
  await away.until(() => told(away).includes('cannot listen at 10.9.9.9:3260: the node has no such address'));
  const state = (name: string) =>
    away.change(OpenStackControlPlane, 'my-cloud', {
      spec: { cinder: { backends: [{ ...lvm, name, lvmNode: 'disk-1' }] } },
    });
  // Volumes may be attached by the former address: who means another one takes the backend away until it is empty.
  await state('lvm');
  const refused =
    'spec.backends[name=lvm].lvmAddress: it was 10.9.9.9 before (status.lasting, ConfigMap my-cloud-cinder-lasting), and is that of the node now';
  await away.until(() => told(away).includes(refused));
  await state('other');
  await away.ready();
  await state('lvm');
  await away.ready();
  away.rehearsal.sandbox.nodes.stop('disk-1');
  await away.until(() => told(away).includes('its node disk-1 is not Ready: Kubelet stopped posting node status'), 5);
  await away.clock.advance(900_000);
  expect(told(away)).toContain('its node disk-1 is not Ready');
  away.rehearsal.sandbox.nodes.start('disk-1');
  await away.ready();
  away.rehearsal.stop();
});
