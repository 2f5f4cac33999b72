import { type KubeObject, Secret } from '@openstack-operator/kube';
import { Trove } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, createCloud } from './cloud.ts';
import { ask, login, request } from './keystone.ts';

const url = `http://my-cloud-trove-api.openstack.svc:8779/v1.0/${'0'.repeat(32)}`;
const images = 'http://my-cloud-glance-api.openstack.svc:9292/v2/images';

const part = (kind: string, spec: object = {}): KubeObject => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind,
  metadata: { name: `my-cloud-${kind.toLowerCase()}`, namespace: 'openstack' },
  spec,
});

const versions = [{ datastore: 'mysql', name: '8.4', imageTags: ['trove', 'mysql'] }];

/** A Trove beside what it refers to, and Glance. */
async function ready(): Promise<Cloud> {
  const cloud = await createCloud();
  await cloud.startOperator();
  for (const kind of ['MariaDB', 'RabbitMQ', 'Memcached', 'Keystone', 'Glance'])
    await cloud.settle(cloud.rehearsal.create(part(kind)));
  await cloud.settle(cloud.rehearsal.create(part('Trove', { datastoreVersions: versions })));
  await cloud.until(() => cloud.isReady('Trove', 'my-cloud-trove') && cloud.isReady('Glance', 'my-cloud-glance'));
  return cloud;
}

const listed = async (cloud: Cloud, token: string, path: string) =>
  JSON.parse(await ask(cloud, token, `${url}${path}`)) as Record<string, Record<string, unknown>[]>;

test('it has the datastores that are stated, and administrators add versions of images that are there', async () => {
  const cloud = await ready();
  expect(cloud.condition(Trove, 'my-cloud-trove', 'ConfigReady')?.message).toContain('spec.guestNetwork is absent');
  const token = await login(cloud);
  expect(await listed(cloud, token, '/datastores')).toMatchObject({
    datastores: [
      { name: 'mysql', default_version: '8.4' },
      { name: 'postgresql', default_version: null },
    ],
  });
  const image = { name: 'guest', disk_format: 'qcow2', container_format: 'bare' };
  const { id } = JSON.parse(await request(cloud, token, 'POST', images, image)) as { id: string };
  const version = { datastore_name: 'mysql', name: '9.0', datastore_manager: 'mysql', active: 1 };
  const add = (image: string) =>
    request(cloud, token, 'POST', `${url}/mgmt/datastore-versions`, { version: { ...version, image } });
  await expect(add('none')).rejects.toThrow('Image none can not be found.');
  await add(id);
  const { versions = [] } = await listed(cloud, token, '/datastores/mysql/versions');
  expect(versions.map(({ name }) => name)).toEqual(['8.4', '9.0']);
});

test('datastores stay after it was deleted and made again, under the same keys; keys that are lost are missed', async () => {
  const cloud = await ready();
  const keys = () => cloud.get('Secret', 'my-cloud-trove-rpc-keys')?.['data'];
  const before = keys();
  await cloud.remove(Trove, 'my-cloud-trove');
  await cloud.until(() => cloud.get('Trove', 'my-cloud-trove') === undefined);
  await cloud.settle(cloud.rehearsal.create(part('Trove', { enabledDatastores: ['postgresql'] })));
  await cloud.until(() => cloud.isReady('Trove', 'my-cloud-trove'));
  expect(keys()).toEqual(before);
  expect((await listed(cloud, await login(cloud), '/datastores'))['datastores']).toHaveLength(2);
  await cloud.remove(Secret, 'my-cloud-trove-rpc-keys');
  const told = () => cloud.condition(Trove, 'my-cloud-trove', 'CredentialsReady');
  await cloud.until(() => told()?.reason === 'KeyMaterialMissing');
  expect(told()?.message).toContain('by which Trove and the agents of its servers talk');
});
