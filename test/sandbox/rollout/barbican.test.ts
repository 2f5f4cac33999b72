import { type KubeObject, Secret } from '@openstack-operator/kube';
import { Barbican, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { blockStorage, type Cloud, createCloud, identityOnly, readyCloud } from './cloud.ts';
import { administrator, ask, call, entitiesOf, login, request } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const url = 'http://my-cloud-barbican-api.openstack.svc:9311';
const spec = { ...identityOnly, rabbitmq: {}, barbican: {} };

/** A secret of the administrator: its address. */
async function stored(cloud: Cloud, token: string, payload: string): Promise<string> {
  const answer = await request(cloud, token, 'POST', `${url}/v1/secrets`, {
    payload,
    payload_content_type: 'text/plain',
  });
  return (JSON.parse(answer) as { secret_ref: string }).secret_ref;
}

const shared = sharedCloud(() => readyCloud({ spec }));

test('below a control plane that states it, it is Ready, answers, and keeps secrets and orders', async () => {
  const { cloud } = await shared();
  expect(cloud.isReady('Barbican', 'my-cloud-barbican')).toBe(true);
  const token = await login(cloud);
  expect(JSON.parse(await ask(cloud, token, `${url}/`))).toMatchObject({
    versions: { values: [{ id: 'v1', status: 'stable', links: [{ href: `${url}/v1/` }, {}] }] },
  });
  expect(await entitiesOf(cloud, 'services')).toContainEqual(
    expect.objectContaining({ name: 'barbican', type: 'key-manager' }),
  );
  const secret = await stored(cloud, token, 'open sesame');
  expect(await request(cloud, token, 'GET', `${secret}/payload`)).toBe('open sesame');
  const body = { type: 'key', meta: { name: 'disk', algorithm: 'aes', bit_length: 256 } };
  const { order_ref: order } = JSON.parse(await request(cloud, token, 'POST', `${url}/v1/orders`, body)) as {
    order_ref: string;
  };
  await cloud.clock.advance(2000);
  expect(JSON.parse(await request(cloud, token, 'GET', order))).toMatchObject({ status: 'ACTIVE' });
  // By a worker, not by the API itself.
  const worker = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith('my-cloud-barbican-worker-'));
  const log = cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name: worker?.metadata.name ?? '' });
  expect(log).toContain(`Processing type order: order ID is '${order.split('/').at(-1)}'`);
});

test('what a project has stored is deleted with it; while the broker is away, only the project', async () => {
  const { cloud } = await shared();
  const token = await login(cloud);
  const idOf = async (collection: string, name: string) =>
    (await entitiesOf(cloud, collection)).find((one) => one['name'] === name)?.id ?? '';
  const [user, role] = [await idOf('users', 'admin'), await idOf('roles', 'admin')];
  const project = async (name: string) => {
    const body = { project: { name } };
    const { id } = (JSON.parse(await call(cloud, token, 'POST', '/projects', body)) as { project: { id: string } })
      .project;
    await call(cloud, token, 'PUT', `/projects/${id}/users/${user}/roles/${role}`);
    const secret = await stored(cloud, await login(cloud, administrator(cloud, name)), 'open sesame');
    return { id, secret };
  };
  const isThere = async (secret: string) => !(await ask(cloud, token, secret)).includes('Secret not found');
  const [first, second] = [await project('first'), await project('second')];
  await call(cloud, token, 'DELETE', `/projects/${first.id}`);
  await cloud.clock.advance(2000);
  expect(await isThere(first.secret)).toBe(false);
  expect(await isThere(second.secret)).toBe(true);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { rabbitmq: { replicas: 0 } } });
  await cloud.clock.advance(60_000);
  await call(cloud, token, 'DELETE', `/projects/${second.id}`);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { rabbitmq: { replicas: 1 } } });
  await cloud.ready();
  expect(await isThere(second.secret)).toBe(true);
});

test('a control plane that does not state it is without it', async () => {
  const { barbican: _barbican, ...others } = spec;
  const { cloud } = await readyCloud({ spec: others });
  expect(cloud.list('Barbican')).toEqual([]);
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud', 'BarbicanReady')).toBeUndefined();
});

test('what it says of Barbican is told as long as it is stated, or there', async () => {
  const { cloud } = await shared();
  const told = () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'BarbicanReady');
  expect(told()).toMatchObject({ status: 'True', reason: 'Done' });
  const hold = (finalizers: readonly string[]) =>
    cloud.change(Barbican, 'my-cloud-barbican', { metadata: { finalizers } });
  const { finalizers = [] } = cloud.get('Barbican', 'my-cloud-barbican')?.metadata ?? {};
  await hold([...finalizers, 'example.com/hold']);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { barbican: null } });
  await cloud.clock.advance(60_000);
  expect(cloud.get('Barbican', 'my-cloud-barbican')?.metadata.deletionTimestamp).toBeDefined();
  const message = 'spec.barbican is absent: Barbican my-cloud-barbican is to be deleted';
  expect(told()).toMatchObject({ status: 'False', message });
  await hold([]);
  await cloud.until(() => told() === undefined);
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud')?.status).toBe('True');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { barbican: { enabled: false } } });
  expect(told()).toMatchObject({ status: 'True', message: 'spec.barbican.enabled is false' });
});

test('what it has stored is read after it was switched off and on, by the same key', async () => {
  const { cloud } = await shared();
  const key = () => cloud.get('Secret', 'my-cloud-barbican-kek')?.['data'];
  const before = key();
  const secret = await stored(cloud, await login(cloud), 'open sesame');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { barbican: { enabled: false } } });
  await cloud.until(() => cloud.get('Barbican', 'my-cloud-barbican') === undefined);
  expect(key()).toEqual(before);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { barbican: { enabled: null } } });
  await cloud.ready();
  expect(key()).toEqual(before);
  expect(await request(cloud, await login(cloud), 'GET', `${secret}/payload`)).toBe('open sesame');
});

test('a key that is lost is not made anew, nor for a Barbican that was disabled meanwhile', async () => {
  const { cloud } = await shared();
  const name = 'my-cloud-barbican-kek';
  const kept = cloud.get('Secret', name);
  const backup = { name, namespace: 'openstack', labels: kept?.metadata.labels ?? {} };
  const secret = await stored(cloud, await login(cloud), 'open sesame');
  const isMissing = () =>
    cloud.condition(Barbican, 'my-cloud-barbican', 'CredentialsReady')?.reason === 'KeyMaterialMissing';
  await cloud.remove(Secret, name);
  await cloud.until(isMissing);
  expect(cloud.condition(Barbican, 'my-cloud-barbican', 'CredentialsReady')?.message).toContain(
    'the secrets stored in Barbican: restore the Secret from a backup',
  );
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { barbican: { enabled: false } } });
  await cloud.until(() => cloud.get('Barbican', 'my-cloud-barbican') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { barbican: { enabled: null } } });
  await cloud.until(isMissing);
  expect(cloud.get('Secret', name)).toBeUndefined();
  await cloud.settle(
    cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata: backup, data: kept?.['data'] }),
  );
  await cloud.ready();
  expect(await request(cloud, await login(cloud), 'GET', `${secret}/payload`)).toBe('open sesame');
});

test('on its own it is Ready beside what it refers to', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const alone = (kind: string, name: string): KubeObject => ({
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind,
    metadata: { name, namespace: 'openstack' },
    spec: {},
  });
  for (const kind of ['MariaDB', 'RabbitMQ', 'Memcached', 'Keystone', 'Barbican'])
    await cloud.settle(cloud.rehearsal.create(alone(kind, kind.toLowerCase())));
  await cloud.until(() => cloud.isReady('Barbican', 'barbican'));
});

test('it stays, and says why, for as long as volumes of the cloud may be encrypted', async () => {
  const cinder = { ...blockStorage, volumeTypes: [{ name: 'safe', encryption: {} }] };
  const { cloud } = await shared();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { ...cinder, enabled: true } } });
  await cloud.ready();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { barbican: { enabled: false } } });
  const told = () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'BarbicanReady');
  await cloud.until(() => told()?.status === 'False');
  expect(told()).toMatchObject({
    reason: 'InUse',
    message: expect.stringContaining('spec.barbican.enabled is false, but spec.cinder needs it') as string,
  });
  await cloud.clock.advance(120_000);
  expect(cloud.get('Barbican', 'my-cloud-barbican')?.metadata.deletionTimestamp).toBeUndefined();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { volumeTypes: null } } });
  await cloud.until(() => cloud.get('Barbican', 'my-cloud-barbican') === undefined);
  await cloud.ready();
});
