import { expect, test } from 'vitest';
import { admin, member } from './fixture.ts';
import { openstack, User } from './running-cloud.ts';

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
