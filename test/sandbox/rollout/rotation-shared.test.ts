import { Barbican } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { entitiesOf, login, request } from './keystone.ts';

const namespace = 'openstack';
const secretOf = (account: string) => `my-cloud-barbican-${account}-password`;

const edge = {
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Barbican',
  metadata: { name: 'edge', namespace },
  spec: {
    databaseRef: { name: 'my-cloud-mariadb' },
    keystoneRef: { name: 'my-cloud-keystone' },
    messageQueueRef: { name: 'my-cloud-rabbitmq' },
    cacheRef: { name: 'my-cloud-memcached' },
    database: { names: { barbican: 'edge' }, user: 'edge' },
    messageQueue: { vhost: 'edge', secretName: secretOf('mq') },
    identity: { serviceName: 'edge', secretName: secretOf('service') },
  },
};

const rotate = (cloud: Cloud, value: string) =>
  cloud.change(Barbican, 'my-cloud-barbican', { metadata: { annotations: { 'openstack.k8s.io/rotate-at': value } } });
/** Passwords that were rotated for the last request. */
const rotated = (cloud: Cloud, value: string) =>
  Object.entries(
    (
      (cloud.get('Barbican', 'my-cloud-barbican')?.['status'] ?? {}) as {
        rotated?: Record<string, { request?: string }>;
      }
    ).rotated ?? {},
  )
    .flatMap(([name, { request: asked }]) => (asked === value ? [name] : []))
    .toSorted();

/** Users of Barbican that may log in, in Keystone and on the broker. */
async function users(cloud: Cloud) {
  const known = (await entitiesOf(cloud, 'users')).filter((user) => user['enabled'] === true);
  const exec = cloud.rehearsal.sandbox.pods.exec({ namespace, name: 'my-cloud-rabbitmq-0' }, [
    'rabbitmqctl',
    'list_users',
  ]);
  const { stdout } = await cloud.settle(exec);
  const names = [
    ...known.map((user) => String(user['name'])),
    ...stdout.split('\n').map((line) => line.split('\t')[0] ?? ''),
  ];
  return names.filter((name) => name.startsWith('barbican')).sort();
}

/** Both know somebody whose token they have to ask Keystone of, by the broker's leave. */
async function bothServe(cloud: Cloud) {
  const token = await login(cloud);
  for (const name of ['edge', 'my-cloud-barbican'])
    await request(cloud, token, 'GET', `http://${name}-api.openstack.svc:9311/v1/secrets`);
}

const isThere = (cloud: Cloud) => cloud.isReady('Barbican', 'edge') && cloud.isReady('Barbican', 'my-cloud-barbican');

test('a user whose password another resource has by the same Secret is rotated when that has gone', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, rabbitmq: {}, barbican: {} } });
  await cloud.settle(cloud.rehearsal.create(edge));
  await cloud.until(() => isThere(cloud));
  await rotate(cloud, 'first');
  await cloud.until(() => rotated(cloud, 'first').length >= 2);
  await cloud.clock.advance(300_000);
  await cloud.until(() => isThere(cloud));
  expect(rotated(cloud, 'first')).toEqual(['my-cloud-barbican-cache-key', secretOf('db')]);
  expect(await users(cloud)).toEqual(['barbican', 'barbican']);
  await bothServe(cloud);

  await cloud.remove(Barbican, 'edge');
  await cloud.until(() => rotated(cloud, 'first').length === 4);
  await cloud.clock.advance(60_000);
  await cloud.ready();
  expect(await users(cloud)).toEqual(['barbican.b', 'barbican.b']);

  // One that comes later has the first user, by the same password, and neither takes that of the other one away.
  await cloud.settle(cloud.rehearsal.create(edge));
  await cloud.until(() => isThere(cloud));
  await cloud.clock.advance(300_000);
  expect(await users(cloud)).toEqual(['barbican', 'barbican', 'barbican.b', 'barbican.b']);
  await bothServe(cloud);
  await cloud.remove(Barbican, 'edge');
  await cloud.clock.advance(120_000);
  await cloud.ready();
  expect(await users(cloud)).toEqual(['barbican.b', 'barbican.b']);
});
