import { Node } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, networkOnly, readyCloud } from './cloud.ts';

const cloudLabel = 'openstack.k8s.io/cloud';
const labels = (cloud: Cloud) => cloud.get('Node', 'node-1', undefined)?.metadata.labels ?? {};
const recorded = (cloud: Cloud) =>
  (cloud.get('OVNNetwork', 'my-cloud-ovn')?.status as { nodes?: { name: string }[] } | undefined)?.nodes;

/** A cloud on node-1 alone, by a label that somebody set by hand, and another one that wants every node that is free. */
async function twoClouds(): Promise<Cloud> {
  const { cloud } = await readyCloud({ nodes: ['node-1', 'node-2'], spec: networkOnly });
  const nodeGroups = [{ name: 'chassis', nodeSelector: { rack: 'a' } }];
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { ovnNetwork: { nodeGroups } } });
  await cloud.change(Node, 'node-2', { spec: { unschedulable: true } });
  const other = controlPlane(networkOnly, 'other');
  await cloud.settle(cloud.rehearsal.create({ ...other, metadata: { ...other.metadata, namespace: 'second' } }));
  await cloud.clock.advance(60_000);
  return cloud;
}

/** `kubectl delete node`, and the kubelet starts again: what others than itself have written on it is gone. */
async function registerAnew(cloud: Cloud): Promise<void> {
  const client = cloud.rehearsal.sandbox.client();
  const before = cloud.get('Node', 'node-1', undefined);
  await cloud.settle(client.delete(Node, { name: 'node-1' }));
  await cloud.clock.advance(60_000);
  const own = { 'kubernetes.io/hostname': 'node-1', 'kubernetes.io/os': 'linux' };
  const metadata = { name: 'node-1', labels: own };
  if (cloud.get('Node', 'node-1', undefined) === undefined)
    await cloud.settle(client.create(Node, { apiVersion: 'v1', kind: 'Node', metadata, spec: {} }));
  const status = { status: before?.['status'] } as never;
  await cloud.settle(client.patch(Node, { name: 'node-1' }, 'merge', status, { subresource: 'status' }));
}

test('a node that registers anew is still the cloud’s that has left its guests there', async () => {
  const cloud = await twoClouds();
  await registerAnew(cloud);
  await cloud.until(() => labels(cloud)[cloudLabel] === 'openstack.my-cloud');
  await cloud.until(() => cloud.isReady('OVNNetwork', 'my-cloud-ovn'));
  expect(cloud.list('Event').filter(({ reason }) => reason === 'NodeCleaning')).toEqual([]);
});

test('labels that somebody took off a node come back', async () => {
  const cloud = await twoClouds();
  const none = { [cloudLabel]: null, 'openstack.k8s.io/node-group': null };
  await cloud.change(Node, 'node-1', { metadata: { labels: none } });
  await cloud.until(() => labels(cloud)[cloudLabel] === 'openstack.my-cloud');
});

test('a node that is gone stays recorded; one that somebody releases is cleaned for whom it is next', async () => {
  const cloud = await twoClouds();
  await cloud.settle(cloud.rehearsal.sandbox.client().delete(Node, { name: 'node-2' }));
  cloud.rehearsal.sandbox.nodes.stop('node-2');
  await cloud.until(() => JSON.stringify(recorded(cloud)).includes('"Lost"'));
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { ovnNetwork: { nodeGroups: [{ name: 'chassis', nodeSelector: { rack: 'b' } }] } },
  });
  const released = { [cloudLabel]: null, 'openstack.k8s.io/node-group': null };
  await cloud.change(Node, 'node-1', {
    metadata: { labels: released, annotations: { 'openstack.k8s.io/released-from': 'openstack/my-cloud' } },
  });
  await cloud.until(() => labels(cloud)[cloudLabel] === 'second.other');
  expect(cloud.list('Event').some(({ reason }) => reason === 'NodeCleaning')).toBe(true);
  expect(recorded(cloud)?.map(({ name }) => name)).toEqual(['node-2']);
});
