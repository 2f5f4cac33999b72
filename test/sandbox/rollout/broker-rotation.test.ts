import { Secret } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { login, request } from './keystone.ts';

const spec = { ...identityOnly, rabbitmq: {}, barbican: {} };
const name = 'my-cloud-barbican-mq-password';
const broker = { namespace: 'openstack', name: 'my-cloud-rabbitmq-0' };
const barbican = 'http://my-cloud-barbican-api.openstack.svc:9311';

const secret = (cloud: Cloud, which = name) => cloud.get('Secret', which);
const passwordOf = (cloud: Cloud) => (secret(cloud)?.['data'] as { password?: string } | undefined)?.password;
const generation = (cloud: Cloud) => secret(cloud)?.metadata.annotations?.['openstack.k8s.io/generation'];
const completed = (cloud: Cloud) =>
  ((cloud.get('Barbican', 'my-cloud-barbican')?.['status'] ?? {}) as { rotated?: Record<string, { request?: string }> })
    .rotated?.[name]?.request;
const rotate = (cloud: Cloud, value: string) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', {
    metadata: { annotations: { 'openstack.k8s.io/rotate-at': value } },
  });
const logs = (cloud: Cloud) => cloud.rehearsal.sandbox.pods.logs(broker);

/** Users of the broker but its administrator. */
async function users(cloud: Cloud): Promise<string[]> {
  const { stdout } = await cloud.settle(cloud.rehearsal.sandbox.pods.exec(broker, ['rabbitmqctl', 'list_users']));
  const names = stdout.split('\n').map((line) => line.split('\t')[0] ?? '');
  return names.filter((one) => one.startsWith('barbican')).sort();
}

/** An order of a key goes to a worker by the broker. */
async function order(cloud: Cloud, token: string): Promise<void> {
  const body = { type: 'key', meta: { name: 'disk', algorithm: 'aes', bit_length: 256 } };
  const { order_ref: made } = JSON.parse(await request(cloud, token, 'POST', `${barbican}/v1/orders`, body)) as {
    order_ref: string;
  };
  const active = async () =>
    (JSON.parse(await request(cloud, token, 'GET', made)) as { status: string }).status === 'ACTIVE';
  for (let seconds = 0; seconds < 30 && !(await active()); seconds++) await cloud.clock.advance(1000);
  expect(await active()).toBe(true);
}

/** Has it rotated to the end, with requests all the time. */
async function rotated(cloud: Cloud, value: string): Promise<void> {
  const token = await login(cloud);
  const old = passwordOf(cloud);
  await rotate(cloud, value);
  let both = 0;
  while (completed(cloud) !== value) {
    if ((await users(cloud)).length === 2) both++;
    await order(cloud, token);
  }
  expect(both).toBeGreaterThan(1);
  expect(passwordOf(cloud)).not.toBe(old);
  await cloud.clock.advance(60_000);
  await cloud.ready();
  await order(cloud, token);
  expect(secret(cloud, `${name}-previous`)?.['data'] ?? {}).toEqual({});
}

test('two users of the broker take turns: no message fails, and the one before is gone in the end', async () => {
  const { cloud } = await readyCloud({ spec });
  expect(await users(cloud)).toEqual(['barbican']);
  await rotated(cloud, 'first');
  expect([await users(cloud), generation(cloud)]).toEqual([['barbican.b'], '2']);
  await rotated(cloud, 'second');
  expect([await users(cloud), generation(cloud)]).toEqual([['barbican'], '3']);
  expect(logs(cloud)).not.toContain('refused');
});

test('after a lost password the other user has its turn, and the one before is gone', async () => {
  const { cloud } = await readyCloud({ spec });
  await rotated(cloud, 'first');
  await cloud.remove(Secret, name);
  await cloud.ready();
  await order(cloud, await login(cloud));
  expect([await users(cloud), generation(cloud)]).toEqual([['barbican'], '3']);
  await rotated(cloud, 'second');
  expect([await users(cloud), generation(cloud)]).toEqual([['barbican.b'], '4']);
});
