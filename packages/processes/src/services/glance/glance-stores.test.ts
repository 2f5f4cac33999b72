import { expect, it } from 'vitest';
import { ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const accounts = '/etc/glance/glance-swift.conf';
const standard = {
  format: 'raw',
  backends: 'local:file,archive:s3,remote:swift',
  keys: 's3_store_access_key = AK\ns3_store_secret_key = a/b+c=\n',
  more: '',
};

/** A Glance with three stores, of which the last one never answers, and an image. */
async function running(change: Partial<typeof standard> = {}) {
  const { backends, keys, more, format } = { ...standard, ...change };
  const sections = `[archive]\ns3_store_host = https://s3.example.com\ns3_store_bucket = images\n${keys}store_description = far, and cheap\n[remote]\nswift_store_config_file = ${accounts}\ndefault_swift_reference = cloud\nswift_store_endpoint = http://swift:8080/v1/AUTH_1\n${more}`;
  const { world, token, container } = await ground(
    {
      '/etc/glance/glance-api.conf': (text) =>
        `${text.replace(/enabled_backends = .*\n/u, `enabled_backends = ${backends}\n`)}\n${sections}`,
    },
    {
      [accounts]:
        '[cloud]\nauth_version = 3\nauth_address = http://keystone:5000/v3\nuser = service:glance\nkey = pw\nuser_domain_name = Default\nproject_domain_name = Default\n',
    },
  );
  const host = container('glance');
  await host.run(['glance-manage', 'db_sync']);
  const api = host.start(['glance-api']);
  await world.clock.advance(15_000);
  const send = async (method: string, path: string, body?: unknown, store?: string) => {
    const headers = { 'x-auth-token': token, ...(store !== undefined && { 'x-image-meta-store': store }) };
    const reply = await request(world, 'glance', 9292, `/v2${path}`, { method, headers, body });
    return { status: reply.status, body: reply.body ?? '' };
  };
  const made = await send('POST', '/images', { name: 'cirros', disk_format: format, container_format: 'bare' });
  const { id } = JSON.parse(made.body) as { id: string };
  const image = async () => JSON.parse((await send('GET', `/images/${id}`)).body) as Record<string, unknown>;
  const imported = async (name: string, body: object) => {
    const reply = await send('POST', `/images/${id}/import`, { method: { name }, ...body });
    await world.clock.advance(120_000);
    return reply;
  };
  const copied = (body: object) => imported('copy-image', body);
  return { api, send, image, copied, imported, file: `/images/${id}/file`, one: `/images/${id}`, id };
}

it('says which stores there are, and which imports', async () => {
  const { send } = await running();
  expect(JSON.parse((await send('GET', '/info/stores')).body)).toEqual({
    stores: [{ id: 'local', default: 'true' }, { id: 'archive', description: 'far, and cheap' }, { id: 'remote' }],
  });
  expect((await send('GET', '/info/import')).body).toContain('["glance-direct","web-download","copy-image"]');
});

it('keeps an image where the client says, and else in the default store', async () => {
  const { send, image, file, one } = await running();
  expect(await send('PUT', file, 'a disk', 'archive')).toMatchObject({ status: 204 });
  expect(await image()).toMatchObject({ status: 'active', stores: 'archive' });
  expect(JSON.stringify(await image())).not.toContain('a/b+c=');
  expect(await send('GET', file)).toEqual({ status: 200, body: '"a disk"' });
  expect(await send('DELETE', one)).toMatchObject({ status: 204 });
  const other = await running();
  await other.send('PUT', other.file, 'a disk');
  expect(await other.image()).toMatchObject({ stores: 'local' });
});

it('refuses a store that there is not', async () => {
  const { send, image, file, copied } = await running();
  expect(await send('PUT', file, 'a disk', 'nowhere')).toEqual({
    status: 400,
    body: '400 Bad Request: Store for identifier nowhere not found',
  });
  expect(await image()).toMatchObject({ status: 'queued' });
  expect(await copied({ stores: ['archive'] })).toMatchObject({ status: 409 });
  await send('PUT', file, 'a disk');
  const refused = await copied({ stores: ['nowhere'] });
  expect([refused.status, refused.body]).toEqual([409, expect.stringContaining('identifier nowhere not found')]);
});

it('copies an image into another store, from where it is read when the first one has lost it, and removes it from one', async () => {
  const { send, image, file, copied, id } = await running({ more: '[local]\nweight = 1\n' });
  await send('PUT', file, 'a disk');
  expect(await copied({ stores: ['archive'] })).toMatchObject({ status: 202 });
  expect(await image()).toMatchObject({ stores: 'local,archive', os_glance_failed_import: '' });
  expect(await copied({ stores: ['archive'] })).toMatchObject({ status: 400 });
  expect(await send('DELETE', `/stores/local/${id}`)).toMatchObject({ status: 204 });
  expect(await image()).toMatchObject({ stores: 'archive' });
  expect(await send('GET', file)).toEqual({ status: 200, body: '"a disk"' });
  expect(await send('DELETE', `/stores/local/${id}`)).toMatchObject({ status: 403 });
});

it('copies into all stores or none, unless fewer will do, where one of them is down', async () => {
  const { api, send, image, file, copied } = await running();
  await send('PUT', file, 'a disk');
  expect(await copied({ all_stores: true })).toMatchObject({ status: 202 });
  expect(await image()).toMatchObject({ stores: 'local', os_glance_failed_import: 'remote' });
  expect(api.output()).toMatch(/Failed to execute task \S+: Unable to establish connection|Max retries exceeded/u);
  expect(await copied({ all_stores: true, all_stores_must_succeed: false })).toMatchObject({ status: 202 });
  expect(await image()).toMatchObject({ stores: 'local,archive', os_glance_failed_import: 'remote' });
  expect(await send('PUT', file, 'a disk', 'remote')).toMatchObject({ status: 500 });
});

it('starts without the keys of a further store, which takes no image then', async () => {
  const { api, send, file } = await running({ keys: 's3_store_access_key = AK\n' });
  expect(api.output()).toContain(
    'Failed to configure store correctly: Store s3 could not be configured correctly. Reason: Could not find s3_store_secret_key in configuration options. Disabling add method.',
  );
  expect((await send('PUT', file, 'a disk', 'archive')).status).toBe(410);
  expect((await send('PUT', file, 'a disk')).status).toBe(204);
});

it('does not read back an image that it has stored with a key that holds @', async () => {
  const { send, file } = await running({ keys: 's3_store_access_key = AK\ns3_store_secret_key = a@b\n' });
  expect((await send('PUT', file, 'a disk', 'archive')).status).toBe(204);
  expect((await send('GET', file)).status).toBe(500);
});

it('imports what was staged, into the stores that a request names', async () => {
  const { send, image, imported, one, file } = await running();
  expect(await imported('glance-direct', { stores: ['archive'] })).toMatchObject({ status: 409 });
  expect(await send('PUT', `${one}/stage`, 'a disk')).toMatchObject({ status: 204 });
  expect(await image()).toMatchObject({ status: 'uploading' });
  expect(await imported('glance-direct', { stores: ['archive', 'local'] })).toMatchObject({ status: 202 });
  expect(await image()).toMatchObject({ status: 'active', stores: 'archive,local', disk_format: 'raw' });
  expect((await send('GET', file)).body).toBe('"a disk"');
});

const converts = '[image_import_opts]\nimage_import_plugins = [image_conversion]\n';

it('converts what is imported, and leaves alone what is uploaded', async () => {
  const { send, image, imported, one } = await running({
    more: `${converts}[image_conversion]\noutput_format = qcow2\n`,
  });
  await send('PUT', `${one}/stage`, 'a disk');
  await imported('glance-direct', {});
  expect(await image()).toMatchObject({ status: 'active', stores: 'local', disk_format: 'qcow2', size: 11 });
  const other = await running({ more: converts, format: 'qcow2' });
  await other.send('PUT', other.file, 'a disk');
  expect(await other.image()).toMatchObject({ status: 'active', disk_format: 'qcow2' });
});

it('does not import an image that is of another format than it claims', async () => {
  const { api, send, image, imported, one } = await running({ more: converts, format: 'qcow2' });
  await send('PUT', `${one}/stage`, 'a disk');
  await imported('glance-direct', {});
  expect(await image()).toMatchObject({ status: 'queued', os_glance_failed_import: 'local' });
  expect(api.output()).toContain('Image claimed to be qcow2 format failed format inspection');
});
