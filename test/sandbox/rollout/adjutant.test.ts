import { Adjutant, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';

const imageRegistry = 'registry.example.com/openstack';
const url = 'http://my-cloud-adjutant-api.openstack.svc:5051/v1';
const password = 'a new password';

/** A user logs in to a project. */
function loginOf(cloud: Cloud, name: string, project: string): Promise<string> {
  const domain = { name: 'Default' };
  const identity = { methods: ['password'], password: { user: { name, domain, password } } };
  return login(cloud, { identity, scope: { project: { name: project, domain } } });
}

/** The tokens that mails have, which nobody sends here: an administrator may see them. */
async function tokens(cloud: Cloud): Promise<string[]> {
  const found = JSON.parse(await ask(cloud, await login(cloud), `${url}/tokens`)) as { tokens: { token: string }[] };
  return found.tokens.map(({ token }) => token);
}

async function rolesIn(cloud: Cloud, token: string): Promise<string[]> {
  const { users } = JSON.parse(await ask(cloud, token, `${url}/openstack/users`)) as {
    users: { name: string; roles: string[] }[];
  };
  return users.flatMap(({ name, roles }) => roles.map((role) => `${name}: ${role}`));
}

test('who is invited sets a password and is in the project; who signs up waits for an administrator; tasks outlive that it was off', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, imageRegistry, adjutant: {} } });
  expect(cloud.isReady('Adjutant', 'my-cloud-adjutant')).toBe(true);
  expect(await entitiesOf(cloud, 'services')).toContainEqual(expect.objectContaining({ type: 'admin-logic' }));
  const roles = (await entitiesOf(cloud, 'roles')).map(({ name }) => name);
  expect(roles).toEqual(expect.arrayContaining(['project_admin', 'project_mod']));

  const admin = await login(cloud);
  await request(cloud, admin, 'POST', `${url}/openstack/users`, {
    email: 'ann@example.com',
    roles: ['project_admin', 'member'],
  });
  const [invited] = await tokens(cloud);
  await request(cloud, '', 'POST', `${url}/tokens/${invited}`, { password });
  const ann = await loginOf(cloud, 'ann@example.com', 'admin');
  expect(await rolesIn(cloud, ann)).toEqual(['ann@example.com: project_admin', 'ann@example.com: member']);

  await request(cloud, '', 'POST', `${url}/openstack/sign-up`, { email: 'bob@example.com', project_name: 'bob' });
  expect(await tokens(cloud)).toEqual([]);
  const { tasks } = JSON.parse(await ask(cloud, admin, `${url}/tasks`)) as { tasks: { uuid: string }[] };
  await request(cloud, admin, 'POST', `${url}/tasks/${tasks[0]?.uuid}`, { approved: true });
  const [approved] = await tokens(cloud);
  await request(cloud, '', 'POST', `${url}/tokens/${approved}`, { password });
  // Tokens of the second in which a password was changed are refused.
  await cloud.clock.advance(1000);
  expect(await rolesIn(cloud, await loginOf(cloud, 'bob@example.com', 'bob'))).toContain(
    'bob@example.com: project_admin',
  );

  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { adjutant: { enabled: false } } });
  await cloud.until(() => cloud.get('Adjutant', 'my-cloud-adjutant') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { adjutant: { enabled: null, enableSignup: false } } });
  await cloud.ready();
  expect(await ask(cloud, await login(cloud), `${url}/tasks`)).toContain('bob@example.com');
  const again = { email: 'eve@example.com', project_name: 'eve' };
  expect(await ask(cloud, '', `${url}/openstack/sign-up`, again)).toContain('Not Found');
});

test('without a URL of the dashboard it does not come up, and says so', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, imageRegistry } });
  const databaseRef = { name: 'my-cloud-mariadb' };
  const keystoneRef = { name: 'my-cloud-keystone' };
  const alone = {
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind: 'Adjutant',
    metadata: { name: 'alone', namespace: 'openstack' },
    spec: { imageRegistry, databaseRef, keystoneRef },
  } as const;
  await cloud.settle(cloud.rehearsal.sandbox.client().create(Adjutant, alone));
  const told = () => cloud.condition(Adjutant, 'alone', 'ConfigReady')?.message ?? '';
  await cloud.until(() => told().includes('spec.horizonURL: missing'));
});
