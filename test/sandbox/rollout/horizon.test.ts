import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { Browser } from './browser.ts';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { entitiesOf } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const spec = { ...identityOnly, glance: { enabled: true }, horizon: {} };

async function loggedIn(cloud: Cloud, password?: string): Promise<Browser> {
  const browser = new Browser(cloud, 'http://my-cloud-horizon.openstack.svc:8088');
  const page = await browser.open('/auth/login/');
  expect(page).toMatchObject({ status: 200 });
  const [, style = ''] = /href="([^"]*)"/u.exec(page.body) ?? [];
  expect(await browser.open(style)).toMatchObject({ status: 200 });
  await browser.login(page.body, password);
  return browser;
}

const shared = sharedCloud(() => readyCloud({ spec }));

test('below a control plane that states it, its administrator logs in and sees what the cloud has', async () => {
  const { cloud } = await shared();
  expect(cloud.isReady('Horizon', 'my-cloud-horizon')).toBe(true);
  expect(cloud.get('Horizon', 'my-cloud-horizon')?.['status']).toMatchObject({
    url: 'http://my-cloud-horizon.openstack.svc:8088',
  });
  // It registers nothing, and has no user of its own.
  expect(await entitiesOf(cloud, 'users')).not.toContainEqual(expect.objectContaining({ name: 'horizon' }));
  const browser = await loggedIn(cloud);
  expect((await browser.open('/project/images/')).body).toContain('"images"');
  expect(await browser.open('/project/instances/')).toMatchObject({ status: 403 });
});

test('a wrong password, another host name and a forged form are refused', async () => {
  const { cloud } = await shared();
  const browser = await loggedIn(cloud, 'wrong');
  expect((await browser.open('/project/')).location).toBe('/auth/login/?next=/project/');
  expect(await browser.open('/auth/login/', { host: 'evil.example.com' })).toMatchObject({ status: 400 });
  const forged = await browser.open('/auth/login/', { body: 'username=admin', origin: 'http://evil.example.com' });
  expect(forged.location).toBe('/auth/login/?csrf_failure=CSRF');
});

test('a new cache logs everybody out, and without one the pages say so while the pods stay', async () => {
  const { cloud } = await shared();
  const browser = await loggedIn(cloud);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { memcached: { replicas: 0 } } });
  await cloud.until(() => !cloud.isReady('Memcached', 'my-cloud-memcached'));
  expect(await browser.open('/project/images/')).toMatchObject({ status: 500 });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { memcached: { replicas: 1 } } });
  await cloud.ready();
  expect((await browser.open('/project/images/')).location).toBe('/auth/login/?next=/project/images/');
});

test('it is switched off and on, and whoever had logged in still is', async () => {
  const { cloud } = await shared();
  const browser = await loggedIn(cloud);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { horizon: { enabled: false } } });
  await cloud.until(() => cloud.get('Horizon', 'my-cloud-horizon') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { horizon: { enabled: null } } });
  await cloud.ready();
  expect((await browser.open('/project/images/')).body).toContain('"images"');
});

test('settings of users go before those of the operator, but for those that it owns', async () => {
  const config = { 'local_settings.py': { SESSION_TIMEOUT: 60, SECRET_KEY: 'mine' } };
  const { cloud } = await shared();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { horizon: { config } } });
  const told = () => cloud.get('Horizon', 'my-cloud-horizon')?.['status'];
  await cloud.until(() => JSON.stringify(told()).includes('set spec.secretKeySecretName instead'));
});
