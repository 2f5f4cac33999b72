import { expect, it } from 'vitest';
import { ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const tenant = 'cinder_internal_tenant_project_id = internal\ncinder_internal_tenant_user_id = keeper\n';
const enabled = 'image_volume_cache_enabled = true\n';

interface Volume {
  readonly id: string;
  readonly name: string | null;
  readonly status: string;
  readonly bootable: string;
  readonly 'os-vol-tenant-attr:tenant_id': string;
}

/** A Cinder with a Glance. `options`: of its process and of its backend. */
async function running({ all = tenant, backend = enabled }: { all?: string; backend?: string } = {}) {
  const { world, token, container } = await ground({
    '/etc/cinder/cinder.conf': (text) =>
      text
        .replace('[DEFAULT]\n', `[DEFAULT]\nglance_catalog_info = image::internalURL\n${all}`)
        .replace('[rbd]\n', `[rbd]\n${backend}`),
  });
  const [images, volumes] = [container('glance'), container('cinder')];
  await images.run(['glance-manage', 'db_sync']);
  await volumes.run(['cinder-manage', 'db', 'sync']);
  images.start(['glance-api']);
  volumes.start(['uwsgi', '--ini', '/cinder.ini']);
  container('cinder-scheduler').start(['cinder-scheduler']);
  const process = container('cinder-volume').start(['cinder-volume']);
  await world.clock.advance(20_000);
  const send = async (host: 'glance' | 'cinder', method: string, path: string, body?: unknown) => {
    const port = host === 'glance' ? 9292 : 8776;
    const reply = await request(world, host, port, path, { method, headers: { 'x-auth-token': token }, body });
    return { status: reply.status, body: JSON.parse(reply.body || '{}') as Readonly<Record<string, unknown>> };
  };
  const image = async () => {
    const { id } = (await send('glance', 'POST', '/v2/images', { name: 'cirros' })).body as { readonly id: string };
    await send('glance', 'PUT', `/v2/images/${id}/file`, 'a disk');
    return id;
  };
  /** A new volume of an image, after a while. */
  const volumeOf = async (imageRef: string): Promise<Volume> => {
    const made = await send('cinder', 'POST', '/v3/volumes', { volume: { size: 1, imageRef } });
    await world.clock.advance(3000);
    const { id } = made.body['volume'] as Volume;
    return (await send('cinder', 'GET', `/v3/volumes/${id}`)).body['volume'] as Volume;
  };
  const kept = async () => {
    const { body } = await send('cinder', 'GET', '/v3/volumes?all_tenants=1');
    return (body['volumes'] as Volume[]).filter((one) => one['os-vol-tenant-attr:tenant_id'] === 'internal');
  };
  const downloads = () => process.output().split('Image download').length - 1;
  return { world, send, image, volumeOf, kept, downloads, process };
}

it('a backend with a cache keeps a volume of an image, of which the next one is made without a download', async () => {
  const { world, send, image, volumeOf, kept, downloads, process } = await running();
  expect(process.output()).toContain('Image-volume cache enabled for host store@rbd.');
  const id = await image();
  expect(await volumeOf(id)).toMatchObject({ status: 'available', bootable: 'true' });
  expect(await kept()).toMatchObject([{ name: `image-${id}`, status: 'available' }]);
  expect(await volumeOf(id)).toMatchObject({ status: 'available', bootable: 'true' });
  expect(downloads()).toBe(1);
  const [one] = await kept();
  await send('cinder', 'DELETE', `/v3/volumes/${one?.id}`);
  await world.clock.advance(3000);
  expect(await kept()).toEqual([]);
  expect(await volumeOf(id)).toMatchObject({ status: 'available' });
  expect(downloads()).toBe(2);
});

it.each([
  ['no cache', { backend: '' }, 'Image-volume cache disabled for host store@rbd.'],
  ['nobody to keep it for', { all: '' }, 'Unable to get internal tenant context'],
  ['no quota', { all: `${tenant}quota_volumes = 0\n` }, "Quota exceeded for resources: ['volumes']"],
])('with %s each volume is made of what Glance gives', async (_name, options, words) => {
  const { send, image, volumeOf, kept, downloads, process } = await running(options);
  // The quota of who makes the volumes is another one.
  const { body } = await send('cinder', 'GET', '/v3/volumes?all_tenants=1');
  expect(body['volumes']).toEqual([]);
  await send('cinder', 'PUT', `/v3/os-quota-sets/${await projectOf(send)}`, { quota_set: { volumes: -1 } });
  const id = await image();
  for (const _ of [1, 2]) expect(await volumeOf(id)).toMatchObject({ status: 'available' });
  expect(await kept()).toEqual([]);
  expect(downloads()).toBe(2);
  expect(process.output()).toContain(words);
});

/** The project of who asks. */
async function projectOf(send: Awaited<ReturnType<typeof running>>['send']): Promise<string> {
  const { body } = await send('glance', 'POST', '/v2/images', { name: 'whose' });
  return (body as { readonly owner: string }).owner;
}

it('quotas of a project are its own', async () => {
  const { send } = await running();
  const quotas = async (project: string) => (await send('cinder', 'GET', `/v3/os-quota-sets/${project}`)).body;
  await send('cinder', 'PUT', '/v3/os-quota-sets/internal', { quota_set: { volumes: -1 } });
  expect(await quotas('internal')).toMatchObject({ quota_set: { id: 'internal', volumes: -1, gigabytes: 1000 } });
  expect(await quotas('other')).toMatchObject({ quota_set: { volumes: 10 } });
  expect((await send('cinder', 'PUT', '/v3/os-quota-sets/internal', { quota_set: { vols: 1 } })).status).toBe(400);
});

it('of a cache that is full the volume goes that was used longest ago', async () => {
  const { image, volumeOf, kept, downloads } = await running({
    backend: `${enabled}image_volume_cache_max_count = 1\n`,
  });
  const [one, other] = [await image(), await image()];
  for (const id of [one, other, other]) await volumeOf(id);
  expect(await kept()).toMatchObject([{ name: `image-${other}` }]);
  expect(downloads()).toBe(2);
  await volumeOf(one);
  expect(downloads()).toBe(3);
});

it('a volume needs an image that is there, and has data', async () => {
  const { send } = await running();
  const made = (imageRef: string) => send('cinder', 'POST', '/v3/volumes', { volume: { size: 1, imageRef } });
  expect((await made('none')).status).toBe(404);
  const { id } = (await send('glance', 'POST', '/v2/images', { name: 'empty' })).body as { readonly id: string };
  expect((await made(id)).status).toBe(400);
});
