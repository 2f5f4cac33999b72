import { Pod } from '@openstack-operator/kube';
import { Glance, OpenStackControlPlane, Swift } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly, readyCloud, withResources } from './cloud.ts';
import { call, entitiesOf, login, request } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const swift = { storageNodes: 1, storagePolicy: { partitionPower: 4, replicaCount: 1 } };
const glance = { storageType: 'swift', replicas: 2 };
const spec = { ...identityOnly, imageRegistry: 'registry.example.com/openstack', swift, glance };
const name = 'my-cloud-glance';
const images = `http://${name}-api.openstack.svc:9292/v2/images`;

/** Asks the image API as the administrator. */
async function asked(cloud: Cloud) {
  const token = await login(cloud);
  return (method: string, path = '', body?: object | string) => request(cloud, token, method, `${images}${path}`, body);
}

/** The objects of the container of images, which lie in the account of the project of services. */
async function objects(cloud: Cloud): Promise<string[]> {
  const token = await login(cloud);
  const project = (await entitiesOf(cloud, 'projects')).find((one) => one['name'] === 'service')?.id ?? '';
  const found = async (collection: string, wanted: string) =>
    (await entitiesOf(cloud, collection)).find((one) => one['name'] === wanted)?.id ?? '';
  const [user, role] = [await found('users', 'admin'), await found('roles', 'ResellerAdmin')];
  const admin = (await entitiesOf(cloud, 'projects')).find((one) => one['name'] === 'admin')?.id ?? '';
  await call(cloud, token, 'PUT', `/projects/${admin}/users/${user}/roles/${role}`);
  const account = `http://my-cloud-swift-proxy.openstack.svc:8080/v1/AUTH_${project}`;
  const listed = await request(cloud, await login(cloud), 'GET', `${account}/glance`);
  return listed.split('\n').filter((line) => line !== '');
}

const pods = (cloud: Cloud) =>
  cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith(`${name}-api-`) && !metadata.deletionTimestamp);

const change = (cloud: Cloud, patch: object) => cloud.change(OpenStackControlPlane, 'my-cloud', { spec: patch });

const shared = sharedCloud(() => readyCloud({ spec }));

test('an image goes up at one of two pods, and comes back whole from others; what is deleted is no object any more', async () => {
  const { cloud } = await shared();
  const before = pods(cloud);
  expect(before).toHaveLength(2);
  expect(cloud.list('PersistentVolumeClaim').filter(({ metadata }) => metadata.name.startsWith(name))).toEqual([]);
  const ask = await asked(cloud);
  const { id } = JSON.parse(await ask('POST', '', { name: 'cirros' })) as { id: string };
  const bytes = 'a disk: "quoted", 100 %\n\ttwo lines';
  await ask('PUT', `/${id}/file`, bytes);
  expect(await ask('GET', `/${id}/file`)).toBe(bytes);
  expect(await objects(cloud)).toEqual([id]);

  for (const { metadata } of before) await cloud.remove(Pod, metadata.name);
  await cloud.clock.advance(60_000);
  await cloud.ready();
  expect(pods(cloud).map(({ metadata }) => metadata.name)).not.toEqual(before.map(({ metadata }) => metadata.name));
  expect(await ask('GET', `/${id}/file`)).toBe(bytes);

  await ask('DELETE', `/${id}`);
  expect(await objects(cloud)).toEqual([]);
  await expect(ask('GET', `/${id}`)).rejects.toThrow('HTTP/1.1 404');
});

test('images are found again by a Glance that is made anew', async () => {
  const { cloud } = await shared();
  const ask = await asked(cloud);
  const { id } = JSON.parse(await ask('POST', '', { name: 'cirros' })) as { id: string };
  await ask('PUT', `/${id}/file`, 'a disk');
  expect(cloud.get('Glance', name)?.status).toMatchObject({
    lasting: { 'spec.storageType': 'swift', 'spec.swiftRef': 'Swift my-cloud-swift' },
  });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { ...withResources, spec: { glance: { enabled: false } } });
  await cloud.until(() => cloud.get('Glance', name) === undefined);
  await change(cloud, { glance: { enabled: null } });
  await cloud.ready();
  expect(await (await asked(cloud))('GET', `/${id}/file`)).toBe('a disk');
});

test('Swift stays while images are kept there, and the Glance says what it lacks', async () => {
  const { cloud } = await shared();
  await change(cloud, { swift: { enabled: false } });
  const told = (type: string) => cloud.condition(OpenStackControlPlane, 'my-cloud', type);
  await cloud.until(() => told('SwiftReady')?.reason === 'InUse');
  expect(told('SwiftReady')?.message).toContain('spec.glance needs it: the Swift is kept until nothing needs it');
  expect(told('GlanceReady')?.message).toContain('Glance needs spec.swift, which is disabled; enable it');
  expect(cloud.isReady('Swift', 'my-cloud-swift')).toBe(true);
  expect(cloud.isReady('Glance', name)).toBe(true);
});

test('an upload fails while Swift does not answer, and the log says why', async () => {
  const { cloud } = await shared();
  const ask = await asked(cloud);
  const { id } = JSON.parse(await ask('POST', '', { name: 'cirros' })) as { id: string };
  await change(cloud, { swift: { replicas: 0 } });
  await cloud.until(() => !cloud.list('Pod').some(({ metadata }) => metadata.name.startsWith('my-cloud-swift-proxy-')));
  await expect(ask('PUT', `/${id}/file`, 'a disk')).rejects.toThrow('HTTP/1.1 500');
  const logs = pods(cloud)
    .map(({ metadata }) => cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name: metadata.name }))
    .join('');
  expect(logs).toContain('requests.exceptions.ConnectionError: HTTPConnectionPool(');
  expect(logs).toContain('Failed to upload image data due to internal error');
  expect(JSON.parse(await ask('GET', `/${id}`))).toMatchObject({ status: 'queued' });
});

test('the API starts when Swift is Ready, and not before', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
  const waits = () => cloud.condition(Glance, name, 'DeploymentReady')?.message ?? '';
  await cloud.until(() => waits().includes('Swift my-cloud-swift'));
  expect(cloud.get('Deployment', `${name}-api`)).toBeUndefined();
  await cloud.until(() => cloud.get('Deployment', `${name}-api`) !== undefined);
  expect(cloud.condition(Swift, 'my-cloud-swift')?.status).toBe('True');
});

test('without a Swift the Glance of a control plane is not made, and the control plane says what is missing', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const { swift: _swift, ...without } = spec;
  await cloud.settle(cloud.rehearsal.create(controlPlane(without)));
  const told = () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'GlanceReady')?.message ?? '';
  await cloud.until(() => told().includes('Glance needs spec.swift, which is absent; state it'));
});
