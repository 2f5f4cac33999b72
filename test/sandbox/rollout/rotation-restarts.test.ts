import { Deployment, Secret } from '@openstack-operator/kube';
import { Barbican, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, isReady, readyCloud } from './cloud.ts';
import { entitiesOf, login } from './keystone.ts';

const namespace = 'openstack';
const secrets = ['db', 'mq', 'service'].map((account) => `my-cloud-barbican-${account}-password`);

const textOf = (data: unknown) => JSON.stringify(data ?? {});
const generations = (cloud: Cloud) =>
  secrets.map((name) => cloud.get('Secret', name)?.metadata.annotations?.['openstack.k8s.io/generation']);
const rotated = (cloud: Cloud) =>
  Object.entries(
    (
      (cloud.get('Barbican', 'my-cloud-barbican')?.['status'] ?? {}) as {
        rotated?: Record<string, { request?: string }>;
      }
    ).rotated ?? {},
  ).flatMap(([name, { request }]) => (request === 'now' && secrets.includes(name) ? [name] : []));
const pod = (cloud: Cloud, component: string) =>
  cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith(`my-cloud-barbican-${component}-`))?.metadata
    .name ?? '';
const isThere = (cloud: Cloud, name: string) =>
  cloud.list('Pod').some((one) => one.metadata.name === name && isReady(one));

const exec = async (cloud: Cloud, name: string, argv: readonly string[]) =>
  (await cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace, name }, argv))).stdout;

/** Users of Barbican that may log in, in Keystone and on the broker. */
async function users(cloud: Cloud) {
  const known = (await entitiesOf(cloud, 'users')).filter((user) => user['enabled'] === true);
  const listed = await exec(cloud, 'my-cloud-rabbitmq-0', ['rabbitmqctl', 'list_users']);
  const names = [
    ...known.map((user) => String(user['name'])),
    ...listed.split('\n').map((line) => line.split('\t')[0] ?? ''),
  ];
  return names.filter((name) => name.startsWith('barbican')).sort();
}

/** What the API answers in a pod of its own to somebody of whose token it has to ask Keystone. */
async function answer(cloud: Cloud, name: string): Promise<string> {
  const token = await login(cloud);
  const url = 'http://localhost:9311/v1/secrets';
  return await exec(cloud, name, ['curl', '-s', '-i', '-H', `X-Auth-Token: ${token}`, url]);
}

/** Has another pod of before end, whose container starts again. */
async function restart(cloud: Cloud, name: string): Promise<void> {
  cloud.rehearsal.sandbox.pods.kill({ namespace, name });
  await cloud.clock.advance(1000);
  await cloud.until(() => isThere(cloud, name), 5);
}

const spec = { ...identityOnly, rabbitmq: {}, barbican: {} };
const begin = async () => {
  const { cloud } = await readyCloud({ spec });
  // Pods of before stay as long as that.
  for (const component of ['api', 'worker'])
    await cloud.change(Deployment, `my-cloud-barbican-${component}`, { spec: { paused: true } });
  const before = ['api', 'worker'].map((component) => pod(cloud, component));
  return { cloud, before } as const;
};
const rotate = (cloud: Cloud) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', {
    metadata: { annotations: { 'openstack.k8s.io/rotate-at': 'now' } },
  });
const goOn = async (cloud: Cloud) => {
  for (const component of ['api', 'worker'])
    await cloud.change(Deployment, `my-cloud-barbican-${component}`, { spec: { paused: null } });
};

test('a pod of before that starts again in the middle of a rotation is let in everywhere', async () => {
  const { cloud, before } = await begin();
  const [api = ''] = before;
  const environment = () => textOf(cloud.get('Secret', 'my-cloud-barbican-config')?.['data']);
  const first = environment();
  const template = () => textOf(cloud.get('Deployment', 'my-cloud-barbican-api')?.['spec']);
  const old = template();
  await rotate(cloud);
  let between = 0;
  while (template() === old) {
    // What a pod reads at its start is known already, as a server knows it.
    if (environment() !== first)
      expect(await users(cloud)).toEqual(['barbican', 'barbican', 'barbican.b', 'barbican.b']);
    else if (generations(cloud).includes('2')) between++;
    await cloud.clock.advance(250);
  }
  expect(between).toBeGreaterThan(5);
  for (const name of before) await restart(cloud, name);
  expect(await answer(cloud, api)).toMatch(/^HTTP\/1.1 200/u);
  await cloud.clock.advance(60_000);
  expect(cloud.rehearsal.sandbox.pods.logs({ namespace, name: 'my-cloud-rabbitmq-0' })).not.toContain('refused');
  expect(before.map((name) => isThere(cloud, name))).toEqual([true, true]);
  expect(rotated(cloud)).toEqual([]);
  await goOn(cloud);
  await cloud.until(() => rotated(cloud).length === 3);
  await cloud.clock.advance(60_000);
  await cloud.ready();
  expect(await users(cloud)).toEqual(['barbican.b', 'barbican.b']);
});

test.each(['', '-previous'])(
  'a Secret <password>%s that is lost in the middle of a rotation is mended',
  async (suffix) => {
    const { cloud, before } = await begin();
    await rotate(cloud);
    await cloud.until(() => generations(cloud).every((one) => one === '2'));
    const passwords = () => textOf(secrets.map((name) => cloud.get('Secret', name)?.['data']));
    const old = passwords();
    for (const name of secrets) await cloud.remove(Secret, `${name}${suffix}`);
    await cloud.clock.advance(120_000);
    // Who has the password before goes on with it, where that is still known.
    if (suffix === '') expect(await answer(cloud, before[0] ?? '')).toMatch(/^HTTP\/1.1 200/u);
    await goOn(cloud);
    await cloud.until(() => rotated(cloud).length === 3);
    await cloud.ready();
    expect(passwords() === old).toBe(suffix !== '');
    expect(await users(cloud)).toEqual(['barbican.b', 'barbican.b']);
    expect(await answer(cloud, pod(cloud, 'api'))).toMatch(/^HTTP\/1.1 200/u);
  },
);

test('the second user of a resource that is deleted and made again is left to nobody', async () => {
  const { cloud } = await readyCloud({ spec });
  await rotate(cloud);
  await cloud.until(() => rotated(cloud).length === 3);
  await cloud.clock.advance(60_000);
  await cloud.ready();
  expect(await users(cloud)).toEqual(['barbican.b', 'barbican.b']);
  await cloud.remove(Barbican, 'my-cloud-barbican');
  await cloud.clock.advance(60_000);
  await cloud.ready();
  expect(generations(cloud)).toEqual([undefined, undefined, undefined]);
  expect(await users(cloud)).toEqual(['barbican', 'barbican']);
});
