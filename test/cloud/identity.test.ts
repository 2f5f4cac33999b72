import { expect, test } from 'vitest';
import { admin, member } from './fixture.ts';
import { openstack, prefix, User } from './running-cloud.ts';

const types = ['compute', 'identity', 'image', 'network', 'placement'];

interface Service {
  readonly type: string;
  readonly endpoints: readonly { readonly interface: string; readonly region: string; readonly url: string }[];
}

test('a token is for the project and the user who asked', async () => {
  const user = await member();
  const token = await user.call<string>('authorize');
  const { text } = await admin.call<{ text: string }>('identity.get', '/auth/tokens', {
    headers: { 'X-Subject-Token': token },
  });
  const said = (JSON.parse(text) as { token: { project: { id: string }; roles: { name: string }[] } }).token;
  expect(said.project.id).toBe(user.projectId);
  expect(said.roles.map(({ name }) => name)).toContain('member');
  const issued = await openstack<Record<string, string>>('token', 'issue');
  expect(Object.keys(issued).sort()).toEqual(['expires', 'id', 'project_id', 'user_id']);
});

test('an application credential with access rules may do what they say, and nothing else', async () => {
  const user = await member();
  const id = await user.call<string>('session.get_user_id');
  const rules = [
    { service: 'image', method: 'GET', path: '/v2/images' },
    { service: 'compute', method: 'GET', path: '/v2.1/servers' },
    { service: 'network', method: 'GET', path: '/v2.0/networks' },
  ];
  const { text } = await user.call<{ text: string }>('identity.post', `/users/${id}/application_credentials`, {
    json: { application_credential: { name: `${prefix}reader`, access_rules: rules } },
  });
  const { application_credential: made } = JSON.parse(text) as {
    application_credential: { id: string; secret: string };
  };
  const reader = new User({
    // The administrator's password would be given to the plugin as well.
    load_envvars: false,
    load_yaml_config: false,
    auth_type: 'v3applicationcredential',
    auth: {
      auth_url: await admin.call<string>('config.auth.get', 'auth_url'),
      application_credential_id: made.id,
      application_credential_secret: made.secret,
    },
    region_name: await admin.call<string>('config.get_region_name'),
  });
  const status = async (service: string, path: string) =>
    (await reader.call<{ status: number }>(`${service}.get`, path, { raise_exc: false })).status;
  expect(await status('image', '/images')).toBe(200);
  expect(await status('compute', '/servers')).toBe(200);
  expect(await status('network', '/networks')).toBe(200);
  expect(await status('image', '/tasks')).toBe(401);
  expect(await status('network', '/ports')).toBe(401);
  await user.call('identity.delete', `/users/${id}/application_credentials/${made.id}`);
});

test('a wrong password is refused with 401', async () => {
  const { identity } = await member();
  const auth = { ...(identity['auth'] as object), password: 'wrong' };
  await expect(new User({ ...identity, auth }).call('session.get_token')).rejects.toMatchObject({ status: 401 });
});

test('the catalogue has a public and an internal endpoint of every service, and each answers', async () => {
  const catalogue = await (await member()).call<Service[]>('service_catalog');
  expect(catalogue.map(({ type }) => type).sort()).toEqual(expect.arrayContaining(types));
  for (const { type, endpoints } of catalogue) {
    expect(endpoints.map((endpoint) => endpoint.interface).sort(), type).toEqual(
      expect.arrayContaining(['internal', 'public']),
    );
    for (const { url } of endpoints) {
      const root = url.replace(/\/v[\d.]+.*$/, '/');
      const { status } = await admin.call<{ status: number }>('session.get', root, {
        authenticated: false,
        raise_exc: false,
      });
      expect([200, 300], `GET ${root} of ${type}`).toContain(status);
    }
  }
  const listed = await openstack<{ Type: string }[]>('catalog', 'list');
  expect(listed.map(({ Type }) => Type).sort()).toEqual(catalogue.map(({ type }) => type).sort());
});
