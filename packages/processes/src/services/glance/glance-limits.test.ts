import { expect, it } from 'vitest';
import { ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const one = 2 ** 20;

/** A Glance that asks Keystone for limits, whose administrator has `limits` of the endpoint's service. */
async function running(limits: Readonly<Record<string, number>>, options: (endpoint: string) => string = complete) {
  let text = '';
  const { world, token, container } = await ground({
    '/etc/glance/glance-api.conf': (before) => {
      text = before.replace('[DEFAULT]\n', '[DEFAULT]\nuse_keystone_limits = true\n');
      return text;
    },
  });
  const keystone = async (method: string, path: string, body?: object, as = token) => {
    const reply = await request(world, 'keystone', 5000, `/v3${path}`, {
      method,
      headers: { 'x-auth-token': as },
      body,
    });
    return { status: reply.status, body: JSON.parse(reply.body || '{}') as Record<string, Record<string, string>> };
  };
  const listOf = async (kind: string) =>
    ((await keystone('GET', `/${kind}`)).body[kind] ?? []) as unknown as Record<string, string>[];
  const idOf = async (kind: string, name: string) =>
    (await listOf(kind)).find((row) => row['name'] === name)?.['id'] ?? '';
  const service = (await keystone('POST', '/services', { service: { type: 'image', name: 'glance' } })).body['service'];
  const entry = {
    service_id: service?.['id'],
    region_id: 'RegionOne',
    interface: 'internal',
    url: 'http://glance:9292',
  };
  const endpoint = (await keystone('POST', '/endpoints', { endpoint: entry })).body['endpoint']?.['id'] ?? '';
  await keystone('PUT', `/system/users/${await idOf('users', 'glance')}/roles/${await idOf('roles', 'reader')}`);
  const place = { service_id: service?.['id'], region_id: 'RegionOne' };
  const registered_limits = Object.entries(limits).map(([resource_name, default_limit]) => ({
    ...place,
    resource_name,
    default_limit,
  }));
  if (registered_limits.length > 0) await keystone('POST', '/registered_limits', { registered_limits });
  const host = container('glance');
  host.files.write('/etc/glance/glance-api.conf', `${text}[oslo_limit]\n${options(endpoint)}`);
  await host.run(['glance-manage', 'db_sync']);
  const api = host.start(['glance-api']);
  await world.clock.advance(15_000);
  const send = async (method: string, path: string, body?: unknown) => {
    const reply = await request(world, 'glance', 9292, `/v2${path}`, {
      method,
      headers: { 'x-auth-token': token },
      body,
    });
    return { status: reply.status, body: reply.body ?? '' };
  };
  const make = async () => {
    const made = await send('POST', '/images', { name: 'one', disk_format: 'raw', container_format: 'bare' });
    return { ...made, id: (JSON.parse(made.body) as { id?: string }).id ?? '' };
  };
  const image = async (id: string) => JSON.parse((await send('GET', `/images/${id}`)).body) as Record<string, unknown>;
  return { api, send, make, image, keystone, listOf, idOf, place, world };
}

const complete = (endpoint: string): string =>
  `endpoint_id = ${endpoint}\nauth_type = password\nauth_url = http://keystone:5000/v3\nusername = glance\npassword = pw\nuser_domain_name = Default\nsystem_scope = all\n`;

const ample = { image_size_total: 9, image_stage_total: 9, image_count_total: 9, image_count_uploading: 9 };
const over = (words: string) => ({
  status: 413,
  body: expect.stringContaining(`over a limit for [Resource ${words}]`),
});
const refused = (words: string) => ({ status: 500, api: expect.stringContaining(words) });

it('takes no more images than the project may have, and none where nothing is registered', async () => {
  const { make } = await running({ ...ample, image_count_total: 1 });
  expect(await make()).toMatchObject({ status: 201 });
  expect(await make()).toMatchObject(over('image_count_total is over limit of 1 due to current usage 1 and delta 1'));
  const none = await running({});
  expect(await none.make()).toMatchObject(
    over('image_count_total is over limit of 0 due to current usage 0 and delta 1'),
  );
  expect(none.api.output()).toContain('Unable to find registered limit for resource image_count_total for');
});

it('looks at an upload before it knows how large it is, and at an import after', async () => {
  const { make, send, image, world } = await running({ ...ample, image_size_total: 1 });
  const [first, second, third] = [await make(), await make(), await make()];
  expect(await send('PUT', `/images/${third.id}/stage`, 'x'.repeat(2 * one))).toMatchObject({ status: 204 });
  expect(await send('POST', `/images/${third.id}/import`, { method: { name: 'glance-direct' } })).toMatchObject({
    status: 202,
  });
  await world.clock.advance(5000);
  expect(await image(third.id)).toMatchObject({ status: 'queued' });
  expect(await send('PUT', `/images/${first.id}/file`, 'x'.repeat(3 * one))).toMatchObject({ status: 204 });
  const words = over('image_size_total is over limit of 1 due to current usage 3 and delta 0');
  expect(await send('PUT', `/images/${second.id}/file`, 'x')).toMatchObject(words);
  expect(await send('POST', `/images/${second.id}/import`, { method: { name: 'glance-direct' } })).toMatchObject(words);
  expect(await image(second.id)).toMatchObject({ status: 'queued' });
  expect(JSON.parse((await send('GET', '/info/usage')).body)).toMatchObject({
    usage: { image_size_total: { usage: 3, limit: 1 }, image_count_total: { usage: 3, limit: 9 } },
  });
});

it('counts what is staged, and what is being uploaded', async () => {
  const { make, send } = await running({ ...ample, image_stage_total: 1, image_count_uploading: 1 });
  const [first, second] = [await make(), await make()];
  expect(await send('PUT', `/images/${first.id}/stage`, 'x')).toMatchObject({ status: 204 });
  const uploading = over('image_count_uploading is over limit of 1 due to current usage 2 and delta 0');
  expect(await send('PUT', `/images/${second.id}/stage`, 'x')).toMatchObject(uploading);
  expect(await send('PUT', `/images/${second.id}/file`, 'x')).toMatchObject(uploading);
  const large = await running({ ...ample, image_stage_total: 0 });
  const staged = await large.make();
  expect(await large.send('PUT', `/images/${staged.id}/stage`, 'x'.repeat(one))).toMatchObject({ status: 204 });
  expect(await large.send('PUT', `/images/${(await large.make()).id}/stage`, 'x')).toMatchObject(
    over('image_stage_total is over limit of 0 due to current usage 1 and delta 0'),
  );
});

it('goes by the limit of the project where it has one, which only a login to the system shows', async () => {
  const { make, keystone, idOf, place } = await running({ ...ample, image_count_total: 0 });
  const limit = { ...place, project_id: await idOf('projects', 'admin'), resource_name: 'image_count_total' };
  const made = await keystone('POST', '/limits', { limits: [{ ...limit, resource_limit: 1 }] });
  expect(made.status).toBe(201);
  expect(await make()).toMatchObject({ status: 201 });
  const scoped = await running({ ...ample, image_count_total: 0 }, (endpoint) =>
    complete(endpoint).replace('system_scope = all', 'project_name = service\nproject_domain_name = Default'),
  );
  await scoped.keystone('POST', '/limits', {
    limits: [
      {
        ...scoped.place,
        project_id: await scoped.idOf('projects', 'admin'),
        resource_name: 'image_count_total',
        resource_limit: 1,
      },
    ],
  });
  expect(await scoped.make()).toMatchObject(
    over('image_count_total is over limit of 0 due to current usage 0 and delta 1'),
  );
});

it.each([
  ['an endpoint that is not there', () => complete('gone'), "ValueError: Can't find endpoint for gone"],
  ['none', () => complete('x').replace('endpoint_id = x\n', ''), 'Either service_type or service_name should be set'],
  [
    'a search for it',
    () => complete('x').replace('endpoint_id = x', 'endpoint_service_type = image'),
    "TypeError: object of type 'generator' has no len()",
  ],
  [
    'a wrong password',
    (id: string) => complete(id).replace('= pw', '= wrong'),
    'Unable to initialize OpenStackSDK session',
  ],
  ['no login', (id: string) => `endpoint_id = ${id}\n`, 'Unable to initialize OpenStackSDK session'],
])('refuses every image with 500 for %s', async (_title, options, words) => {
  const { make, api } = await running(ample, options);
  const { status } = await make();
  expect({ status, api: api.output() }).toEqual(refused(words));
});
