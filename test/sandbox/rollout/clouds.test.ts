import { execFileSync } from 'node:child_process';
import { Secret } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { login } from './keystone.ts';

/** What the Secret for clients of the administrator has, by key. */
function clientFiles(cloud: Cloud): Record<string, string> {
  const data = (cloud.get('Secret', 'my-cloud-keystone-clouds')?.['data'] ?? {}) as Record<string, string>;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

interface Entry {
  readonly auth: Readonly<Record<string, string>>;
  readonly interface: string;
  readonly region_name: string;
}

const entries = (cloud: Cloud) =>
  (parse(clientFiles(cloud)['clouds.yaml'] ?? '') as { clouds: Record<string, Entry> }).clouds;

/** Whether Keystone knows whom an entry is about. */
async function opens(cloud: Cloud, { auth }: Entry): Promise<boolean> {
  const domain = { name: auth['user_domain_name'] };
  const user = { name: auth['username'], password: auth['password'], domain };
  const scope = { project: { name: auth['project_name'], domain } };
  return login(cloud, { identity: { methods: ['password'], password: { user } }, scope }).then(
    () => true,
    () => false,
  );
}

test('clients of the administrator find a clouds.yaml and an openrc, inside and outside of the cluster', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  const { admin, 'admin-internal': internal } = entries(cloud);
  expect(admin).toMatchObject({ interface: 'public', region_name: 'RegionOne' });
  expect(internal).toMatchObject({ interface: 'internal' });
  expect(internal?.auth['auth_url']).toBe('http://my-cloud-keystone-api.openstack.svc:5000/v3');
  expect(internal !== undefined && (await opens(cloud, internal))).toBe(true);
});

test('they follow the password, and a shell reads any password as it is', async () => {
  const password = String.raw`it's "a" $HOME \ ${'`'}word`;
  const { cloud } = await readyCloud({ spec: identityOnly });
  await cloud.change(Secret, 'my-cloud-keystone-admin-password', { stringData: { password } });
  await cloud.until(() => entries(cloud)['admin']?.auth['password'] === password);
  const script = `${clientFiles(cloud)['openrc']}printf %s "$OS_PASSWORD"`;
  expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(password);
});
