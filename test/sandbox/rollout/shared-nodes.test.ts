import type { KubeObject } from '@openstack-operator/kube';
import { OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, networkOnly, readyCloud } from './cloud.ts';

const cleanings = (cloud: Cloud) => cloud.list('Event').filter(({ reason }) => reason === 'NodeCleaning');
const agents = (cloud: Cloud) =>
  cloud
    .list('Pod')
    .filter(({ metadata }) => metadata.ownerReferences?.[0]?.kind === 'DaemonSet')
    .map(({ metadata }) => metadata.uid)
    .sort();
const orphan = (cloud: Cloud) => {
  const client = cloud.rehearsal.sandbox.client();
  const ref = { namespace: 'openstack', name: 'my-cloud' };
  return cloud.settle(client.delete(OpenStackControlPlane, ref, { propagationPolicy: 'Orphan' }));
};

test('a network keeps its nodes when its control plane is deleted with --cascade=orphan', async () => {
  const { cloud } = await readyCloud({ spec: networkOnly });
  const before = agents(cloud);
  await orphan(cloud);
  await cloud.clock.advance(300_000);
  expect(cloud.get('OpenStackControlPlane', 'my-cloud')).toBeUndefined();
  expect(agents(cloud)).toEqual(before);
  expect(cleanings(cloud)).toEqual([]);
});

test('an orphan that is deleted leaves the nodes to the control plane that is back', async () => {
  const { cloud } = await readyCloud({ spec: networkOnly });
  const { apiVersion, kind, metadata, spec } = cloud.get('OpenStackControlPlane', 'my-cloud') as KubeObject & {
    spec: unknown;
  };
  await orphan(cloud);
  await cloud.clock.advance(60_000);
  const { name, namespace = '' } = metadata;
  await cloud.settle(cloud.rehearsal.create({ apiVersion, kind, metadata: { name, namespace }, spec } as KubeObject));
  await cloud.clock.advance(60_000);
  await cloud.remove(OVNNetwork, 'my-cloud-ovn');
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  expect(cleanings(cloud)).toEqual([]);
});
