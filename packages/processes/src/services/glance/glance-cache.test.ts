import { expect, it } from 'vitest';
import { ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const options =
  'worker_self_reference_url = http://glance:9292\nimage_cache_dir = /var/lib/glance/image-cache\nimage_cache_max_size = 12\n';

/** A Glance that keeps copies. */
async function running(more = options) {
  const { world, token, container } = await ground({
    '/etc/glance/glance-api.conf': (text) =>
      text
        .replace('enabled_backends', `${more}enabled_backends`)
        .replace('= keystone\n', '= keystone+cachemanagement\n'),
    '/etc/glance/glance-api-paste.ini': () => '[composite:glance-api-keystone+cachemanagement]\n',
  });
  const host = container('glance');
  await host.run(['glance-manage', 'db_sync']);
  const api = host.start(['glance-api']);
  await world.clock.advance(15_000);
  const send = async (method: string, path: string, body?: unknown) => {
    const reply = await request(world, 'glance', 9292, `/v2/images${path}`, {
      method,
      headers: { 'x-auth-token': token },
      body,
    });
    await world.clock.advance(1000);
    return reply;
  };
  /** An image that was downloaded. */
  const downloaded = async () => {
    const { id } = JSON.parse((await send('POST', '', { name: 'cirros' })).body ?? '') as { id: string };
    await send('PUT', `/${id}/file`, 'a disk');
    await send('GET', `/${id}/file`);
    return id;
  };
  const cached = () => host.files.list('/var/lib/glance/image-cache');
  return { api, host, send, downloaded, cached };
}

it('keeps a copy of what was downloaded, until the image is deleted', async () => {
  const { host, send, downloaded, cached } = await running();
  const id = await downloaded();
  expect(cached()).toEqual([id]);
  host.files.remove(`/var/lib/glance/images/${id}`);
  expect(await send('GET', `/${id}/file`)).toMatchObject({ status: 200, body: '"a disk"' });
  await send('DELETE', `/${id}`);
  expect(cached()).toEqual([]);
});

it('is pruned of what was used longest ago', async () => {
  const { host, send, downloaded, cached } = await running();
  const [one, other] = [await downloaded(), await downloaded()];
  await send('GET', `/${one}/file`);
  expect((await host.run(['glance-cache-pruner'])).status).toBe(0);
  expect(cached()).toEqual([one]);
  expect(cached()).not.toContain(other);
  expect((await host.run(['glance-cache-cleaner'])).status).toBe(0);
});

it('does not start without a directory for them', async () => {
  const { api } = await running('');
  expect(api.status()).toBe(1);
  expect(api.output()).toContain('Failed to read image_cache_dir from config');
});

it('breaks downloads where a process does not know its own address', async () => {
  const { send, downloaded } = await running(options.replace(/^.*\n/u, ''));
  expect(await send('GET', `/${await downloaded()}/file`)).toMatchObject({ status: 500 });
});
