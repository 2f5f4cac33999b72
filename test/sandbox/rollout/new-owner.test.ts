import { Node } from '@openstack-operator/kube';
import { OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, networkOnly } from './cloud.ts';

const network = (name: string, nodeSelector: Record<string, string>) => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'OVNNetwork',
  metadata: { name, namespace: 'openstack' },
  spec: { nodeGroups: [{ name: 'chassis', nodeSelector }] },
});

/** Names of the agents' pods. */
const agents = (cloud: Cloud) =>
  cloud
    .list('Pod')
    .filter(({ metadata }) => metadata.ownerReferences?.[0]?.kind === 'DaemonSet')
    .map(({ metadata }) => metadata.name)
    .sort();

/** A network that stands alone, with its agents on the first of two nodes. */
async function standingAlone(name: string): Promise<Cloud> {
  const cloud = await createCloud({ nodes: ['node-1', 'node-2'] });
  await cloud.startOperator();
  await inZone(cloud, 'node-1');
  await cloud.settle(cloud.rehearsal.create(network(name, { zone: 'a' })));
  await cloud.until(() => cloud.isReady('OVNNetwork', name));
  await cloud.clock.advance(120_000);
  return cloud;
}

const inZone = (cloud: Cloud, name: string) =>
  cloud.settle(
    cloud.rehearsal.sandbox.client().patch(Node, { name }, 'merge', { metadata: { labels: { zone: 'a' } } }),
  );

test('an owner of another API moves no agents', async () => {
  const cloud = await standingAlone('net');
  const before = agents(cloud);
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bundle', namespace: 'openstack' } };
  await cloud.settle(cloud.rehearsal.create(map));
  const uid = cloud.get('ConfigMap', 'bundle')?.metadata.uid;
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'bundle', uid, controller: true };
  await cloud.change(OVNNetwork, 'net', { metadata: { ownerReferences: [owner] } });
  await inZone(cloud, 'node-2');
  await cloud.until(() => agents(cloud).length === 2 * before.length);
  expect(agents(cloud)).toEqual(expect.arrayContaining(before));
  expect(cloud.get('OVNNetwork', 'net')?.['status']).toMatchObject({ cloud: 'openstack.standalone' });
});

test('a network that is handed over to a control plane keeps its nodes and agents, and says why', async () => {
  const cloud = await standingAlone('my-cloud-ovn');
  const before = agents(cloud);
  await cloud.settle(cloud.rehearsal.create(controlPlane(networkOnly)));
  await cloud.clock.advance(60_000);
  await cloud.change(OVNNetwork, 'my-cloud-ovn', {
    metadata: { annotations: { 'openstack.k8s.io/adopt': 'OpenStackControlPlane.my-cloud' } },
  });
  await cloud.until(() => cloud.condition(OVNNetwork, 'my-cloud-ovn', 'NodesReady')?.reason === 'CloudDiffers', 30);
  await cloud.clock.advance(300_000);
  expect(agents(cloud)).toEqual(expect.arrayContaining(before));
  const { message = '' } = cloud.condition(OVNNetwork, 'my-cloud-ovn', 'NodesReady') ?? {};
  expect(message).toContain('the owner of OVNNetwork my-cloud-ovn, OpenStackControlPlane my-cloud, says');
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud')?.status).toBe('False');
});
