import { Glance, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, cephStorage, controlPlane, createCloud, identityOnly } from './cloud.ts';
import { login, request } from './keystone.ts';

const swift = { storageNodes: 1, storagePolicy: { partitionPower: 4, replicaCount: 1 } };
const fast = { name: 'fast', type: 'ceph', cephPoolName: 'fast-images' };
const archive = { name: 'archive', type: 'swift', description: 'slow, and cheap' };
const glance = { storageType: 'ceph', replicas: 2, nodeNetworks: ['10.0.0.0/16'] };
const spec = { ...identityOnly, imageRegistry: 'registry.example.com/openstack', cephStorage, swift };
const name = 'my-cloud-glance';
const api = `http://${name}-api.openstack.svc:9292/v2`;

async function rolledOut(more: object = {}): Promise<Cloud> {
  const cloud = await createCloud();
  await cloud.startOperator();
  const metadata = { name: 'ceph-keyrings', namespace: 'openstack' };
  const stringData = { 'ceph.client.glance.keyring': Buffer.alloc(28, 1).toString('base64') };
  await cloud.settle(cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata, stringData }));
  const images = { ...glance, additionalStores: [fast], ...more };
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...spec, glance: images })));
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  await cloud.clock.advance(60_000);
  return cloud;
}

const change = (cloud: Cloud, additionalStores: readonly object[] | null) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { glance: { additionalStores } } });

/** Asks the image API as the administrator. */
async function asked(cloud: Cloud) {
  const token = await login(cloud);
  return (method: string, path: string, body?: object | string, ...headers: string[]) =>
    request(cloud, token, method, `${api}${path}`, body, headers);
}

async function image(ask: Awaited<ReturnType<typeof asked>>, ...headers: string[]) {
  const made = await ask('POST', '/images', { name: 'cirros', disk_format: 'raw', container_format: 'bare' });
  const { id } = JSON.parse(made) as { id: string };
  await ask('PUT', `/images/${id}/file`, 'a disk', ...headers);
  return { id, shown: async () => JSON.parse(await ask('GET', `/images/${id}`)) as Record<string, unknown> };
}

/** Where each pod of the public API answers. */
const podsOf = (cloud: Cloud) =>
  cloud
    .list('Pod')
    .filter(({ metadata }) => metadata.name.startsWith(`${name}-api-`))
    .map(({ status }) => `http://${(status as { podIP: string }).podIP}:9292/v2/images`);

const workloads = (cloud: Cloud) =>
  cloud
    .list('ReplicaSet')
    .filter(({ metadata }) => !metadata.name.startsWith(`${name}-`))
    .map(({ metadata }) => metadata.uid);

test('a store that comes later replaces the pods of Glance alone; images go there, and are copied there; new ones go there without a name once it is the default', async () => {
  const cloud = await rolledOut();
  const purpose = 'glance-images';
  expect(cloud.get('CephStorage', 'my-cloud-ceph')?.['spec']).toMatchObject({
    pools: [
      { name: purpose, purpose },
      { name: fast.cephPoolName, purpose },
    ],
  });
  expect(cloud.get('Glance', name)?.status).toMatchObject({
    lasting: { 'spec.cephPoolName': purpose, 'spec.additionalStores[name=fast]': 'ceph fast-images' },
  });
  const before = workloads(cloud);
  const first = await image(await asked(cloud));
  await change(cloud, [fast, archive]);
  await cloud.ready();
  await cloud.clock.advance(60_000);
  expect(workloads(cloud)).toEqual(before);

  const ask = await asked(cloud);
  expect(JSON.parse(await ask('GET', '/info/stores'))).toEqual({
    stores: [{ id: 'ceph', default: 'true' }, { id: 'fast' }, { id: 'archive', description: archive.description }],
  });
  expect(await first.shown()).toMatchObject({ stores: 'ceph' });
  const second = await image(ask, 'X-Image-Meta-Store: archive');
  expect(await second.shown()).toMatchObject({ status: 'active', stores: 'archive' });
  expect(await ask('GET', `/images/${second.id}/file`)).toBe('a disk');
  await ask('POST', `/images/${first.id}/import`, { method: { name: 'copy-image' }, stores: ['archive', 'fast'] });
  await cloud.clock.advance(60_000);
  expect(await first.shown()).toMatchObject({ stores: 'ceph,archive,fast', os_glance_failed_import: '' });
  await expect(image(ask, 'X-Image-Meta-Store: nowhere')).rejects.toThrow('Store for identifier nowhere not found');

  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { glance: { defaultStore: 'archive' } } });
  await cloud.ready();
  await cloud.clock.advance(60_000);
  const third = await image(await asked(cloud));
  expect(await third.shown()).toMatchObject({ status: 'active', stores: 'archive' });
  expect(await ask('GET', `/images/${first.id}/file`)).toBe('a disk');
});

test('what one pod has staged is imported by another one, converted', async () => {
  const cloud = await rolledOut({ imageImport: { convertTo: 'qcow2' } });
  const token = await login(cloud);
  const [one, other] = podsOf(cloud);
  const formats = { disk_format: 'raw', container_format: 'bare' };
  const made = await request(cloud, token, 'POST', `${one}`, { name: 'cirros', ...formats });
  const { id } = JSON.parse(made) as { id: string };
  await request(cloud, token, 'PUT', `${one}/${id}/stage`, 'a disk');
  await request(cloud, token, 'POST', `${other}/${id}/import`, { method: { name: 'glance-direct' }, stores: ['fast'] });
  await cloud.clock.advance(60_000);
  const shown = JSON.parse(await request(cloud, token, 'GET', `${other}/${id}`)) as object;
  expect(shown).toMatchObject({ status: 'active', stores: 'fast', disk_format: 'qcow2' });
});

test('a pod that has a copy of an image gives it where the store is down, and one that has none does not', async () => {
  const cloud = await rolledOut({ additionalStores: [fast, archive], imageCache: { maxSize: '1Gi' } });
  const { id } = await image(await asked(cloud), 'X-Image-Meta-Store: archive');
  const token = await login(cloud);
  const [one, other] = podsOf(cloud);
  const download = (pod?: string) => request(cloud, token, 'GET', `${pod}/${id}/file`);
  expect(await download(one)).toBe('a disk');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift: { replicas: 0 } } });
  await cloud.until(() => !cloud.list('Pod').some(({ metadata }) => metadata.name.startsWith('my-cloud-swift-proxy-')));
  await cloud.clock.advance(700_000);
  expect(await download(one)).toBe('a disk');
  await expect(download(other)).rejects.toThrow('HTTP/1.1 500');
  const states = cloud
    .list('Pod')
    .filter(({ metadata }) => metadata.name.startsWith(`${name}-`))
    .flatMap(({ status }) => (status as { containerStatuses?: object[] }).containerStatuses ?? [])
    .filter((container) => (container as { name: string }).name === 'cache-pruner');
  expect(states).toMatchObject([1, 2, 3, 4].map(() => ({ ready: true, restartCount: 0 })));
});

test('a store is not taken away, neither at once nor by a cloud that is made anew', async () => {
  const cloud = await rolledOut();
  await expect(change(cloud, null)).rejects.toThrow('a store can neither be taken away');
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.until(() => cloud.get('OpenStackControlPlane', 'my-cloud') === undefined);
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...spec, glance })));
  const told = () => cloud.condition(Glance, name, 'ConfigReady')?.message ?? '';
  await cloud.until(() => told().includes('spec.additionalStores[name=fast]: it was ceph fast-images before'));
  expect(told()).toContain('and is stated no more: its images are out of reach; state it again');
});
