import { expect, test } from 'vitest';
import { admin, member, stranger } from '../fixture.ts';
import { prefix, type User } from '../running-cloud.ts';
import { optionalService } from './optional-service.ts';

/** What Zun answers, and with which status. */
async function asked(user: User, method: 'get' | 'post' | 'put' | 'delete', path: string, json?: unknown) {
  const options = {
    raise_exc: false,
    endpoint_filter: { service_type: 'container', interface: 'public' },
    headers: { 'OpenStack-API-Version': 'container 1.40' },
    ...(json === undefined ? {} : { json }),
  };
  const { status, text } = await user
    .connectedAnew()
    .call<{ status: number; text: string }>(`session.${method}`, path, options);
  return { status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}

test('a container finds no host, a registry is kept; both outlive that Zun was disabled', async () => {
  // No host runs containers here.
  const zun = optionalService('zun', 'zuns');
  await zun({ enabled: true });
  const user = await member();
  expect(await asked(user, 'get', '/containers')).toMatchObject({ status: 200, body: { containers: [] } });
  expect(await asked(admin, 'get', '/services')).toMatchObject({
    status: 200,
    body: { services: [] },
  });
  expect((await asked(user, 'get', '/services')).status).toBe(403);
  const quota = `/quotas/${user.projectId}`;
  expect(await asked(admin, 'put', quota, { containers: 0 })).toMatchObject({ status: 200, body: { containers: 0 } });
  const name = `${prefix}container`;
  const wanted = { name, image: 'cirros' };
  expect(await asked(user, 'post', '/containers', wanted)).toMatchObject({
    status: 403,
    body: { errors: [{ title: "Quota exceeded for resources: ['containers']" }] },
  });
  expect((await asked(admin, 'put', quota, { containers: 5 })).status).toBe(200);
  const network = await user.call<{ id: string }>('network.create_network', { name });
  const nets = [{ network: network.id }];
  expect(await asked(user, 'post', '/containers', { ...wanted, nets })).toMatchObject({
    status: 202,
    body: { status: 'Error', status_reason: 'There are not enough hosts available.' },
  });
  const registry = { name: `${prefix}registry`, domain: 'registry.example.com', username: 'user', password: 'secret' };
  expect(await asked(user, 'post', '/registries', { registry })).toMatchObject({
    status: 201,
    body: { registry: { name: registry.name, password: '***' } },
  });

  await zun({ enabled: false });
  await zun({ enabled: true });

  // It is shown if its password can be decrypted.
  const kept = `/registries/${registry.name}`;
  expect(await asked(user, 'get', kept)).toMatchObject({ status: 200, body: { registry: { username: 'user' } } });
  expect(await asked(user, 'get', quota)).toMatchObject({ status: 200, body: { containers: 5 } });
  expect(await asked(user, 'get', `/containers/${name}`)).toMatchObject({ status: 200, body: { name } });
  expect((await asked(await stranger(), 'get', `/containers/${name}`)).status).toBe(404);
  expect((await asked(user, 'delete', kept)).status).toBe(204);
  expect((await asked(user, 'delete', `/containers/${name}`)).status).toBe(204);
  await user.call('network.delete_network', network.id);
});
