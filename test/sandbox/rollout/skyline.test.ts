import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { sharedCloud } from './shared-cloud.ts';

const on = { enabled: true };
const spec = { ...identityOnly, rabbitmq: on, ovnNetwork: on, neutron: on, glance: on, skyline: {} };
const url = 'http://my-cloud-skyline.openstack.svc:9999';

/** What a browser asks the console, from a pod of the cloud. */
async function ask(cloud: Cloud, path: string, ...argv: readonly string[]) {
  const pod = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith('my-cloud-keystone-api-'));
  const ref = { namespace: 'openstack', name: pod?.metadata.name ?? '' };
  const command = ['curl', '-s', '-i', ...argv, `${url}${path}`];
  const { stdout } = await cloud.settle(cloud.rehearsal.sandbox.pods.exec(ref, command));
  const [head = '', body = ''] = stdout.split(/\r?\n\r?\n/);
  const [, status] = /^HTTP\S+ (\d+)/u.exec(head) ?? [];
  const [, session = ''] = /set-cookie: *(session=[^;\s]*)/iu.exec(head) ?? [];
  return { status: Number(status), body, session };
}

function login(cloud: Cloud, password?: string) {
  const secret = cloud.get('Secret', 'my-cloud-keystone-admin-password')?.['data'] as { password: string };
  const real = Buffer.from(secret.password, 'base64').toString();
  const body = JSON.stringify({ domain: 'Default', username: 'admin', password: password ?? real });
  return ask(cloud, '/api/openstack/skyline/api/v1/login', '-X', 'POST', '-d', body);
}

const shared = sharedCloud(() => readyCloud({ spec }));

test('below a control plane that states it, its administrator logs in and reaches the APIs by one address', async () => {
  const { cloud } = await shared();
  expect(cloud.get('Skyline', 'my-cloud-skyline')?.['status']).toMatchObject({ url });
  expect((await ask(cloud, '/auth/login')).body).toContain('<title>');
  const { status, body, session } = await login(cloud);
  expect(status).toBe(200);
  const profile = JSON.parse(body) as { keystone_token: string; endpoints: Record<string, string> };
  expect(profile.endpoints).toMatchObject({ glance: '/api/openstack/regionone/glance' });
  const images = `${profile.endpoints['glance']}/v2/images`;
  expect(await ask(cloud, images)).toMatchObject({ status: 401 });
  expect((await ask(cloud, images, '-H', `X-Auth-Token: ${profile.keystone_token}`)).body).toContain('"images"');
  expect(await ask(cloud, '/api/openstack/skyline/api/v1/profile', '-H', `Cookie: ${session}`)).toMatchObject({
    status: 200,
  });
  expect(await login(cloud, 'wrong')).toMatchObject({ status: 401 });
});

test('an API that comes later has its place, and one that is switched off has none', async () => {
  const { cloud } = await shared();
  const stacks = '/api/openstack/regionone/heat/';
  expect((await ask(cloud, stacks)).body).toContain('<title>');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { heat: on } });
  await cloud.ready();
  expect((await ask(cloud, stacks)).body).toContain('"versions"');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { heat: { enabled: false } } });
  await cloud.ready();
  expect((await ask(cloud, stacks)).body).toContain('<title>');
});

test('an API that never comes up does not hold up the dashboard', async () => {
  const { cloud } = await shared();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { heat: { ...on, image: 'example.com/absent:1' } } });
  await cloud.until(() => cloud.get('Heat', 'my-cloud-heat')?.['status'] !== undefined);
  await cloud.clock.advance(60_000);
  expect(cloud.isReady('Skyline', 'my-cloud-skyline')).toBe(true);
  expect((await ask(cloud, '/api/openstack/regionone/heat/')).body).toContain('<title>');
  expect(
    cloud
      .list('Pod')
      .filter(
        ({ metadata }) =>
          metadata.name.startsWith('my-cloud-skyline-') &&
          !metadata.name.includes('apiserver') &&
          !metadata.labels?.['batch.kubernetes.io/job-name'],
      ),
  ).toHaveLength(1);
});
