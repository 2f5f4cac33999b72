import { ConfigMap, Node } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import type { Cloud } from './cloud.ts';
import { four, group, inRings, onDisks, setOn, tag, told } from './mounts.ts';
import { cats, name, read, stored } from './swift.ts';

const hour = 3_600_000;
const three = four.slice(0, 3);
const role = 'openstack.k8s.io/role-storage';
const all = { 'node-1/sdb': 100, 'node-2/sdb': 100, 'node-3/sdb': 100 };
const rename = (cloud: Cloud, name: string) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift: { storageGroups: [{ ...group, name }] } } });
const label = (cloud: Cloud, node: string, labels: object) => cloud.change(Node, node, { metadata: { labels } });

test('a group of another name is told what keeps its nodes, whatever their labels, and the name can be set back', async () => {
  const cloud = await onDisks();
  await cloud.ready();
  const texts = await stored(cloud, cats);
  await cloud.clock.advance(hour);
  await rename(cloud, 'other');
  const words = `node node-1 has label ${role}=disks, and spec.storageGroups[name=other] asks for it: it is of group disks until everything has moved away; state disks again`;
  await cloud.until(() => told(cloud, 'RingsReady').includes(words));
  for (const node of three) await label(cloud, node, { [role]: null });
  await cloud.clock.advance(hour);
  expect(told(cloud, 'RingsReady')).not.toContain('would have the same name');
  expect(inRings(cloud, three)).toEqual(all);
  await rename(cloud, 'disks');
  const way = `kubectl label node node-1 --overwrite ${role}=disks`;
  await cloud.until(() => told(cloud, 'ConfigReady').includes(way));
  for (const node of three) await label(cloud, node, { [role]: 'disks' });
  await cloud.ready();
  expect(inRings(cloud, three)).toEqual(all);
  expect(await read(cloud, cats)).toEqual(texts);
}, 600_000);

test('a node without labels of the cloud is told, with the way out', async () => {
  const cloud = await onDisks();
  await tag(cloud, 'node-4', 'yes');
  await cloud.ready();
  await cloud.clock.advance(hour);
  await label(cloud, 'node-2', { 'example.com/disks': null, [role]: null, 'openstack.k8s.io/cloud': null });
  await cloud.until(() => told(cloud, 'ConfigReady').includes('node node-2 has lost label openstack.k8s.io/cloud'));
  const [, cloudLabel = '', value = ''] = / (openstack\.k8s\.io\/cloud)=(\S+) /u.exec(told(cloud, 'ConfigReady')) ?? [];
  await label(cloud, 'node-2', { [cloudLabel]: value, [role]: 'disks' });
  await cloud.until(() => setOn(cloud, 'node-2') === undefined, 600);
  await cloud.ready();
}, 600_000);

test('a node that leaves goes on leaving when what is remembered is lost', async () => {
  const cloud = await onDisks();
  await tag(cloud, 'node-4', 'yes');
  await cloud.ready();
  const texts = await stored(cloud, cats);
  await cloud.clock.advance(hour);
  await tag(cloud, 'node-2', null);
  await cloud.until(() => told(cloud, 'RemovedNodesEmpty') !== '');
  await cloud.remove(ConfigMap, `${name}-lasting`);
  await cloud.clock.advance(60_000);
  expect(setOn(cloud, 'node-2')).toBeDefined();
  await cloud.until(() => setOn(cloud, 'node-2') === undefined, 600);
  await cloud.ready();
  expect(inRings(cloud, four)).toEqual({ 'node-1/sdb': 100, 'node-3/sdb': 100, 'node-4/sdb': 100 });
  expect(await read(cloud, cats)).toEqual(texts);
}, 600_000);
