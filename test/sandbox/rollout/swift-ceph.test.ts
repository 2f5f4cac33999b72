import { Pod, Secret, type StoredObject } from '@openstack-operator/kube';
import { CephStorage, OpenStackControlPlane, Swift } from '@openstack-operator/openstack';
import { beforeAll, expect, test } from 'vitest';
import { bringCeph, commandOf, fsid, keyOf, keyring, monitor, secret } from './ceph.ts';
import { type Cloud, controlPlane, createCloud, identityOnly, withResources } from './cloud.ts';
import { entitiesOf, login, request } from './keystone.ts';

const name = 'my-cloud-swift';
const external = { monitorHosts: monitor, fsid, admin: { keyringSecretName: 'ceph-admin' } };
const swift = { mode: 'ceph-rgw', replicas: 2, images: { proxy: 'registry.example.com/openstack/ceph:18.2.7' } };
const spec = { ...identityOnly, cephStorage: { external }, swift, glance: { storageType: 'swift' } };

let cloud: Cloud;
beforeAll(async () => {
  cloud = await createCloud();
  await cloud.startOperator();
  await bringCeph(cloud);
  const data = { 'ceph.client.admin.keyring': keyring(keyOf('a')) };
  await cloud.settle(cloud.rehearsal.create(secret('ceph-admin', data)));
  await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
  await cloud.ready();
});

/** Asks for something of the account of a project, where the catalogue has it. */
async function account(project = 'admin') {
  const token = await login(cloud);
  const id = (await entitiesOf(cloud, 'projects')).find((one) => one['name'] === project)?.id ?? '';
  const endpoint = (await entitiesOf(cloud, 'endpoints')).find(({ url }) => String(url).includes(name));
  const url = String(endpoint?.['url']).replace('%(project_id)s', id);
  return (method: string, path: string, body?: object | string) => request(cloud, token, method, `${url}${path}`, body);
}

const told = (kind: typeof Swift | typeof CephStorage | typeof OpenStackControlPlane, of: string, type: string) =>
  cloud.condition(kind, of, type);
const change = (more: object) => cloud.change(OpenStackControlPlane, 'my-cloud', { spec: more });

test('the user of the gateway is made with what it needs, and no password stands in a ConfigMap', async () => {
  expect(await commandOf(cloud, 'auth', 'get', 'client.swift')).toContain(
    '\tcaps mgr = "allow r"\n\tcaps mon = "allow rw"\n\tcaps osd = "allow rwx"\n',
  );
  const password = cloud.get('Secret', `${name}-service-password`)?.['data'] as Record<string, string>;
  const clear = Buffer.from(password['password'] ?? '', 'base64').toString();
  expect(clear).not.toBe('');
  expect(JSON.stringify(cloud.list('ConfigMap'))).not.toContain(clear);
  expect(cloud.list('StatefulSet').filter(({ metadata }) => metadata.name.startsWith(name))).toEqual([]);
  expect(cloud.get('Swift', name)?.status).toMatchObject({
    lasting: { 'spec.mode': 'ceph-rgw', 'spec.cephStorageRef': `cluster ${fsid}` },
  });
});

test('objects are kept when its pods go, each project has its own, and others may not read them', async () => {
  const send = await account();
  await send('PUT', '/photos');
  await send('PUT', '/photos/cats/tom', 'purr');
  const pods = cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith(`${name}-proxy-`));
  expect(pods).toHaveLength(2);
  for (const { metadata } of pods) await cloud.remove(Pod, metadata.name);
  await cloud.clock.advance(60_000);
  await cloud.ready();
  expect(await send('GET', '/photos')).toBe('cats/tom');
  expect(await send('GET', '/photos/cats/tom')).toBe('purr');
  await expect(send('DELETE', '/photos')).rejects.toThrow('HTTP/1.1 409');
  await expect((await account('service'))('GET', '/photos')).rejects.toThrow('HTTP/1.1 403');
});

test('Glance keeps images there', async () => {
  const token = await login(cloud);
  const images = 'http://my-cloud-glance-api.openstack.svc:9292/v2/images';
  const { id } = JSON.parse(await request(cloud, token, 'POST', images, { name: 'cirros' })) as { id: string };
  await request(cloud, token, 'PUT', `${images}/${id}/file`, 'a disk');
  expect(await request(cloud, token, 'GET', `${images}/${id}/file`)).toBe('a disk');
});

test('the cluster stays while objects are kept there', async () => {
  await change({ cephStorage: { enabled: false } });
  await cloud.until(() => told(OpenStackControlPlane, 'my-cloud', 'CephStorageReady')?.reason === 'InUse');
  expect(told(OpenStackControlPlane, 'my-cloud', 'CephStorageReady')?.message).toContain('spec.swift needs it');
  expect(cloud.isReady('Swift', name)).toBe(true);
  await change({ cephStorage: { enabled: null } });
  await cloud.ready();
});

test('a right that its user lacks is told with what it needs, and so does the log of a gateway', async () => {
  await commandOf(cloud, 'auth', 'caps', 'client.swift', 'mon', 'allow r', 'osd', 'allow rwx', 'mgr', 'allow r');
  await cloud.until(() => told(CephStorage, 'my-cloud-ceph', 'Ready')?.status === 'False');
  expect(told(CephStorage, 'my-cloud-ceph', 'Ready')?.message).toContain(
    "client.swift cannot serve objects from pool .rgw.root: Error EACCES: access denied (it needs mon 'allow rw', osd 'allow rwx')",
  );
  const pod = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith(`${name}-proxy-`));
  await cloud.remove(Pod, pod?.metadata.name ?? '');
  const logs = () =>
    cloud
      .list('Pod')
      .filter(({ metadata }) => metadata.name.startsWith(`${name}-proxy-`))
      .map(({ metadata }) => cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name: metadata.name }))
      .join('');
  await cloud.until(() => logs().includes("Couldn't init storage provider (RADOS)"));
  await commandOf(cloud, 'auth', 'caps', 'client.swift', 'mon', 'allow rw', 'osd', 'allow rwx', 'mgr', 'allow r');
  await cloud.ready();
});

test('the mode stays, also for a Swift of this name that comes later', async () => {
  await expect(cloud.change(Swift, name, { spec: { mode: 'native' } })).rejects.toThrow('cannot be changed');
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    ...withResources,
    spec: { glance: { enabled: false }, swift: null },
  });
  await cloud.until(() => cloud.get('Swift', name) === undefined);
  await change({ imageRegistry: 'registry.example.com/openstack', swift: {} });
  await cloud.until(() => told(Swift, name, 'CredentialsReady')?.status === 'False');
  expect(told(Swift, name, 'CredentialsReady')?.message).toContain('spec.mode: it was ceph-rgw before');
  await change({ swift: null });
  await cloud.until(() => cloud.get('Swift', name) === undefined);
  await change({ swift });
  await cloud.until(() => cloud.isReady('Swift', name));
  expect(await (await account())('GET', '/photos/cats/tom')).toBe('purr');
});

test('a key that is lost is told, and none is made that the cluster does not know', async () => {
  const lost = 'my-cloud-ceph-cephx-keys-swift';
  const { metadata, ...backup } = cloud.get('Secret', lost) as StoredObject;
  const { namespace = '', labels = {}, ownerReferences = [] } = metadata;
  await cloud.remove(Secret, lost);
  await cloud.clock.advance(60_000);
  expect(told(CephStorage, 'my-cloud-ceph', 'Ready')).toMatchObject({ status: 'False', reason: 'KeyMaterialMissing' });
  expect(cloud.get('Secret', lost)).toBeUndefined();
  await cloud.settle(
    cloud.rehearsal.create({ ...backup, metadata: { name: lost, namespace, labels, ownerReferences } }),
  );
  await cloud.until(() => told(CephStorage, 'my-cloud-ceph', 'CredentialsReady')?.status === 'True');
});
