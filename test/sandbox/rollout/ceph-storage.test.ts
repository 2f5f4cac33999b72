import { CustomResourceDefinition, Namespace } from '@openstack-operator/kube';
import { CephStorage, Cinder, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, cephStorage, controlPlane, createCloud, identityOnly, monitorsOf } from './cloud.ts';

const ref = { namespace: 'openstack', name: 'ceph' };

test('of a name of a user that an earlier version took, client. is taken off, and nothing else is changed', async () => {
  const cloud = await createCloud();
  const client = cloud.rehearsal.sandbox.client();
  const definition = await cloud.settle(
    client.get(CustomResourceDefinition, { name: 'cephstorages.openstack.k8s.io' }),
  );
  const { resourceVersion: _version, ...metadata } = definition.metadata;
  const replaceWith = async (spec: unknown) => {
    const { resourceVersion } = (
      await cloud.settle(client.get(CustomResourceDefinition, { name: definition.metadata.name }))
    ).metadata;
    const changed = { ...definition, metadata: { ...metadata, resourceVersion }, spec } as typeof definition;
    await cloud.settle(client.replace(CustomResourceDefinition, changed));
  };
  await cloud.settle(
    client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'openstack' } }),
  );
  // The definition of the time before names were looked at.
  const early = JSON.stringify(definition.spec).replaceAll("!self.startsWith('client.')", 'self.size() > 0');
  await replaceWith(JSON.parse(early) as unknown);
  const resource = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'CephStorage', metadata: ref };
  const spec = { ...cephStorage, users: { cinder: 'client.volumes', glance: 'images' } };
  await cloud.settle(client.create(CephStorage, { ...resource, spec }));
  await replaceWith(definition.spec);
  const change = (users: object) => cloud.settle(client.patch(CephStorage, ref, 'merge', { spec: { users } }));
  await expect(change({ cinder: 'other' })).rejects.toThrow('cannot be changed after creation');
  await expect(change({ glance: 'other' })).rejects.toThrow('cannot be changed after creation');
  await change({ cinder: 'volumes' });
  await expect(change({ cinder: 'client.volumes' })).rejects.toThrow('expected the name without client.');
});

/** A cloud with volumes in Ceph. */
async function volumesInCeph(): Promise<Cloud> {
  const cloud = await createCloud();
  await cloud.startOperator();
  const metadata = { name: 'ceph-keyrings', namespace: 'openstack' };
  const stringData = { 'ceph.client.cinder.keyring': Buffer.alloc(28, 1).toString('base64') };
  await cloud.settle(cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata, stringData }));
  const cinder = { backends: [{ name: 'fast', type: 'ceph', cephPoolName: 'volumes' }] };
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...identityOnly, rabbitmq: {}, cephStorage, cinder })));
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  await cloud.clock.advance(10_000);
  return cloud;
}

interface Remembering {
  readonly found?: { readonly fsid: string; readonly monitorHosts: string };
  readonly lasting?: Readonly<Record<string, string>>;
}

const statusOf = (cloud: Cloud, kind: string, name: string) => (cloud.get(kind, name)?.status ?? {}) as Remembering;
const external = (more: object) => ({ spec: { cephStorage: { external: more } } });

test('services are told of other monitors when these have answered as the same cluster, and not before', async () => {
  const cloud = await volumesInCeph();
  const { found, lasting } = statusOf(cloud, 'CephStorage', 'my-cloud-ceph');
  expect(found).toEqual({ fsid: expect.any(String), monitorHosts: '10.0.0.11' });
  const fsid = found?.fsid ?? '';
  expect(lasting).toEqual({ 'spec.external.fsid': fsid });

  await cloud.change(OpenStackControlPlane, 'my-cloud', external({ monitorHosts: '10.0.9.11' }));
  const pools = () => cloud.condition(CephStorage, 'my-cloud-ceph', 'PoolsReady')?.message ?? '';
  await cloud.until(() => pools().includes(`cluster ${fsid} was expected, and `));
  expect(pools()).toContain('name those of cluster');
  expect(cloud.condition(CephStorage, 'my-cloud-ceph', 'ConfigReady')?.message).toContain(
    `services use 10.0.0.11 until cluster ${fsid} has answered at 10.0.9.11`,
  );
  expect(monitorsOf(cloud, 'my-cloud-cinder-volume')).toEqual(['10.0.0.11']);

  await cloud.change(OpenStackControlPlane, 'my-cloud', external({ monitorHosts: '10.0.0.12,10.0.0.13' }));
  await cloud.until(() => monitorsOf(cloud, 'my-cloud-cinder-volume').includes('10.0.0.12,10.0.0.13'));
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  expect(statusOf(cloud, 'CephStorage', 'my-cloud-ceph').found).toEqual({ fsid, monitorHosts: '10.0.0.12,10.0.0.13' });

  const other = '00000000-0000-0000-0000-000000000000';
  await cloud.change(OpenStackControlPlane, 'my-cloud', external({ monitorHosts: '10.0.9.11', fsid: other }));
  const config = () => cloud.condition(CephStorage, 'my-cloud-ceph', 'ConfigReady')?.message ?? '';
  await cloud.until(() => config().includes(`spec.external.fsid: it was ${fsid} before`));
  expect(monitorsOf(cloud, 'my-cloud-cinder-volume')).not.toContain('10.0.9.11');
});

test('a service does not follow its reference to another cluster', async () => {
  const cloud = await volumesInCeph();
  const { found } = statusOf(cloud, 'CephStorage', 'my-cloud-ceph');
  expect(statusOf(cloud, 'Cinder', 'my-cloud-cinder').lasting).toMatchObject({
    'spec.cephStorageRef': `cluster ${found?.fsid}`,
  });
  const elsewhere = { ...cephStorage.external, monitorHosts: '10.0.9.11' };
  const pools = [{ name: 'volumes', purpose: 'cinder-volumes' }];
  const metadata = { name: 'other', namespace: 'openstack' };
  const resource = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'CephStorage', metadata };
  await cloud.settle(cloud.rehearsal.create({ ...resource, spec: { external: elsewhere, pools } }));
  await cloud.until(() => cloud.isReady('CephStorage', 'other'));
  const spec = { cinder: { cephStorageRef: { name: 'other' } } };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec });
  const config = () => cloud.condition(Cinder, 'my-cloud-cinder', 'ConfigReady')?.message ?? '';
  await cloud.until(() => config().includes(`spec.cephStorageRef: it was cluster ${found?.fsid} before`));
  expect(monitorsOf(cloud, 'my-cloud-cinder-volume')).toEqual(['10.0.0.11']);
});
