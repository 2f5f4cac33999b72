import { expect, onTestFinished, test } from 'vitest';
import { guestImage, member, networks, tiny } from '../fixture.ts';
import { prefix, type User } from '../running-cloud.ts';
import { Server } from '../server.ts';
import { until } from '../until.ts';
import { ceph } from './client.ts';

interface Image {
  readonly id: string;
  readonly status: string;
  readonly size: number | null;
  /** Of what was uploaded. */
  readonly checksum: string | null;
}

/** What client.nova may do in the pool of images, for the time of a test. */
async function novaMay(rights: 'profile rbd' | 'profile rbd-read-only'): Promise<void> {
  const [entity] = await ceph<{ caps: Record<string, string> }[]>('auth', 'get', 'client.nova');
  const osd = entity?.caps['osd']?.replace(/profile rbd(-read-only)? pool=images/, `${rights} pool=images`) ?? '';
  const { mon = '', mgr = '' } = entity?.caps ?? {};
  await ceph('auth', 'caps', 'client.nova', 'mon', mon, 'osd', osd, 'mgr', mgr);
}

async function snapshot(user: User, server: Server, name: string): Promise<Image> {
  const { id } = await user.call<Image>('compute.create_server_image', server.id, `${prefix}${name}`);
  onTestFinished(async () => {
    await user.call('image.delete_image', id, { ignore_missing: true });
  });
  return await until({
    what: `snapshot ${id} of ${server.name}`,
    seconds: 180,
    probe: async () => {
      const image = await user.call<Image>('image.get_image', id);
      return image.status === 'active' ? image : undefined;
    },
    explain: async () => JSON.stringify(await user.call('image.get_image', id)),
  });
}

test('a snapshot of a server is made in the cluster when client.nova may write there, else copied; both boot', async () => {
  const [user, image, flavor, { near }] = await Promise.all([member(), guestImage(), tiny(), networks()]);
  const boot = async (name: string, from: string) => {
    const server = await Server.create(user, { name, image: from, flavor, networks: [{ uuid: near }] });
    onTestFinished(() => server.delete(), 120_000);
    await server.reaches('ACTIVE', 180);
    await server.says(/^== READY/m, 180);
    return server;
  };
  const server = await boot('photographed', image);
  const copied = await snapshot(user, server, 'copied');
  expect(copied.checksum).toMatch(/^[0-9a-f]{32}$/);
  onTestFinished(() => novaMay('profile rbd-read-only'));
  await novaMay('profile rbd');
  const cloned = await snapshot(user, server, 'cloned');
  expect(cloned).toMatchObject({ checksum: null, size: 2 ** 30 });
  await server.reaches('ACTIVE');
  await Promise.all([boot('from-copied', copied.id), boot('from-cloned', cloned.id)]);
}, 900_000);
