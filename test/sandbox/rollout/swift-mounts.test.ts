import { ConfigMap, Node, Pod, Secret } from '@openstack-operator/kube';
import { annotations, OpenStackControlPlane, Swift } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import type { Cloud } from './cloud.ts';
import { disk, four, group, inRings, isReady, onDisks, setOn, step, tag, told } from './mounts.ts';
import { builder, cats, moved, name, stored, swift, use } from './swift.ts';

const hour = 3_600_000;

const change = (cloud: Cloud, swift: object | null) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift } });
/** How many templates a StatefulSet has had. */
const revisions = (cloud: Cloud, set: string) =>
  cloud.list('ControllerRevision').filter(({ metadata }) => metadata.name.startsWith(`${set}-`)).length;

test('disks of labelled nodes are devices of the rings; a node that is labelled later joins, and leaves as it came', async () => {
  const cloud = await onDisks();
  await cloud.ready();
  expect(inRings(cloud, four)).toEqual({ 'node-1/sdb': 100, 'node-2/sdb': 100, 'node-3/sdb': 100 });
  expect(cloud.get('StatefulSet', `${name}-storage`)).toBeUndefined();
  expect(cloud.list('PersistentVolumeClaim').filter(({ metadata }) => metadata.name.includes('swift'))).toEqual([]);
  const all = await stored(cloud, cats);
  await cloud.clock.advance(hour);
  const before = builder(cloud);
  await tag(cloud, 'node-4', 'yes');
  await cloud.until(() => setOn(cloud, 'node-4') !== undefined);
  await cloud.ready();
  expect(inRings(cloud, four)).toMatchObject({ 'node-4/sdb': 100 });
  expect(new Set(moved(before, builder(cloud)))).toEqual(new Set([0, 1]));
  await use(cloud, all);

  await cloud.clock.advance(hour);
  await tag(cloud, 'node-2', null);
  await cloud.until(() => told(cloud, 'RemovedNodesEmpty').includes('is to be empty'));
  expect(inRings(cloud, four)).toMatchObject({ 'node-2/sdb': 0 });
  for (let count = 0; count < 60 && setOn(cloud, 'node-2') !== undefined; count += 1) {
    await use(cloud, all);
    await cloud.clock.advance(10 * 60_000);
  }
  await cloud.ready();
  expect(inRings(cloud, four)).toEqual({ 'node-1/sdb': 100, 'node-3/sdb': 100, 'node-4/sdb': 100 });
  await use(cloud, all);
}, 600_000);

test('a disk of ext4 is refused with the reason, and no ring has it; one that is mounted nowhere is told, and never written to', async () => {
  const cloud = await onDisks({ 'node-3': { type: 'ext4' } });
  const words = `device sdb of node node-3 (${disk}), of ext4, takes no metadata of 8 KiB`;
  await cloud.until(() => told(cloud, step).includes(words));
  expect(told(cloud, step)).toContain('make a file system of xfs there');
  expect(cloud.get('Secret', `${name}-rings`)?.['data'] ?? {}).toEqual({});
  // Another node has its place.
  await tag(cloud, 'node-4', 'yes');
  await tag(cloud, 'node-3', null);
  await cloud.ready();
  expect(inRings(cloud, four)).toEqual({ 'node-1/sdb': 100, 'node-2/sdb': 100, 'node-4/sdb': 100 });
  expect(setOn(cloud, 'node-3')).toBeUndefined();
  const all = await stored(cloud, cats);

  const { sandbox } = cloud.rehearsal;
  sandbox.nodes.unmount('node-2', disk);
  await cloud.until(() => told(cloud, step).includes('device sdb of node node-2 (/srv/node/sdb) is not mounted'));
  await cloud.ready();
  expect(cloud.condition(Swift, name, step)).toMatchObject({ status: 'True', reason: 'Degraded' });
  await use(cloud, all);
  const pod = { namespace: 'openstack', name: `${setOn(cloud, 'node-2')}-0` };
  const { stdout } = await cloud.settle(sandbox.pods.exec(pod, ['ls', '-A', disk]));
  expect(stdout).toBe('');
  // Its pod starts without it, too.
  await cloud.settle(sandbox.client().delete(Pod, pod));
  await cloud.clock.advance(5 * 60_000);
  await use(cloud, all);
  expect(told(cloud, step)).toContain('device sdb of node node-2 (/srv/node/sdb) is not mounted');
  sandbox.nodes.mount('node-2', disk);
  await cloud.until(() => told(cloud, step) === '');
  await use(cloud, all);
}, 600_000);

test('a node that is gone for ever leaves the rings once somebody says so, and what lay there is made anew', async () => {
  const cloud = await onDisks();
  await tag(cloud, 'node-4', 'yes');
  await cloud.ready();
  const all = await stored(cloud, cats);
  const before = inRings(cloud, four);
  const { sandbox } = cloud.rehearsal;
  sandbox.nodes.stop('node-2');
  await cloud.until(() => told(cloud, step).includes(setOn(cloud, 'node-2') ?? '?'));
  await use(cloud, all);
  expect(inRings(cloud, four)).toEqual(before);
  await cloud.remove(Node, 'node-2');
  const way = 'annotate the control plane with openstack.k8s.io/forget-nodes=node-2';

  await cloud.until(() => told(cloud, 'ConfigReady').includes(way));
  await cloud.clock.advance(hour);
  expect(inRings(cloud, four)).toEqual(before);
  await use(cloud, all);
  const forget = (names: string | null) =>
    cloud.change(OpenStackControlPlane, 'my-cloud', {
      metadata: { annotations: { [annotations.forgetNodes]: names } },
    });
  await forget('node-2');
  await cloud.until(() => Object.keys(inRings(cloud, four)).length === 3 && setOn(cloud, 'node-2') === undefined, 90);
  await cloud.ready();
  await forget(null);
  await cloud.clock.advance(hour);
  await cloud.ready();
  expect(inRings(cloud, four)).toEqual({ 'node-1/sdb': 100, 'node-3/sdb': 100, 'node-4/sdb': 100 });
  await use(cloud, all);
}, 600_000);

test('disks are not taken for another Swift, nor without what names are hashed with; pods are changed one after another', async () => {
  const cloud = await onDisks();
  await cloud.ready();
  const all = await stored(cloud, cats);
  const sets = four.slice(0, 3).map((node) => setOn(cloud, node) ?? '');
  let most = 0;
  await change(cloud, { config: { 'object-server.conf': { 'object-replicator': { concurrency: 4 } } } });
  await cloud.until(() => {
    const away = sets.filter((set) => !isReady(cloud, set)).length;
    most = Math.max(most, away);
    return away === 0 && sets.every((set) => revisions(cloud, set) === 2) && cloud.isReady('Swift', name);
  });
  expect(most).toBe(1);
  await use(cloud, all);
  await change(cloud, null);
  await cloud.until(() => cloud.get('Swift', name) === undefined);
  for (const secret of ['hash', 'rings', 'rings-policies']) await cloud.remove(Secret, `${name}-${secret}`);
  await cloud.remove(ConfigMap, `${name}-lasting`);
  await change(cloud, { ...swift, storageNodes: 0, storageGroups: [group] });
  await cloud.until(() => told(cloud, step).includes('has objects of another Swift'));
}, 600_000);
