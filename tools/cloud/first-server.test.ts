import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ensureImageAndNetwork, ensureServer, ensureVolume } from './first-server.ts';
import type { Answer, OpenStack } from './openstack.ts';

interface Thing {
  readonly id: string;
  readonly name: string;
  status?: string;
  readonly [field: string]: unknown;
}

/** What a cloud keeps, by the plural of its kinds. */
const kept: Record<string, Thing[]> = {};
/** Everything that was asked for, but reads. */
let writes: string[] = [];
/** The write, counted from 0, that the cloud does not live to see. */
let interruptedAt = Infinity;

beforeEach(() => {
  for (const plural of ['images', 'flavors', 'networks', 'subnets', 'routers', 'ports', 'servers', 'volumes'])
    kept[plural] = [];
  writes = [];
  interruptedAt = Infinity;
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => vi.restoreAllMocks());

function write(what: string): void {
  if (writes.length === interruptedAt) throw new Error('interrupted');
  writes.push(what);
}

const things = (plural: string) => kept[plural] ?? [];

function make(plural: string, wanted: object): Thing {
  const state = { images: 'queued', servers: 'ACTIVE', volumes: 'available' }[plural];
  const made = { id: `${plural}-${things(plural).length}`, name: '', ...(state && { status: state }), ...wanted };
  things(plural).push(made);
  return made;
}

/** As much of OpenStack as a first server needs. */
const openstack: OpenStack = {
  endpoints: new Map(),
  call: async (service, method, path, body): Promise<Answer> => {
    const { pathname, searchParams } = new URL(path, 'http://cloud');
    const [plural = '', id, action] = pathname
      .replace(/^\/v2(\.0)?/, '')
      .slice(1)
      .split('/');
    const kind = plural.slice(0, -1);
    if (method === 'GET' && id !== undefined) return { [kind]: things(plural).find((one) => one.id === id) };
    if (method === 'GET') {
      const router = searchParams.get('device_id');
      return { [plural]: things(plural).filter((one) => router === null || one['device_id'] === router) };
    }
    write(`${method} ${[plural, action ?? []].flat().join('/')}`);
    if (action === 'add_router_interface') return make('ports', { device_id: id });
    if (action === 'os-volume_attachments') {
      expect(things('servers').map((one) => one.id)).toContain(id);
      for (const volume of things('volumes')) volume.status = 'in-use';
      return {};
    }
    if (action === 'action') {
      for (const server of things('servers')) server.status = 'ACTIVE';
      return {};
    }
    if (service === 'image') return { ...make(plural, body as object) };
    return { [kind]: make(plural, (body as Record<string, object>)[kind] ?? {}) };
  },
  upload: async () => {
    write('upload');
    for (const image of things('images')) image.status = 'active';
  },
};

const all = [
  'POST images',
  'upload',
  'POST networks',
  'POST subnets',
  'POST routers',
  'PUT routers/add_router_interface',
  'POST flavors',
  'POST servers',
];

test('a bare cloud gets everything once, and nothing the second time', async () => {
  await ensureServer(openstack, 'guest.img');
  expect(writes).toEqual(all);
  await ensureServer(openstack, 'guest.img');
  expect(writes).toEqual(all);
});

test('a volume is made and attached to the server once', async () => {
  const server = await ensureServer(openstack, 'guest.img');
  await ensureVolume(openstack, server);
  await ensureVolume(openstack, server);
  expect(writes.slice(all.length)).toEqual(['POST volumes', 'POST servers/os-volume_attachments']);
});

test('a volume in error is told, and what to do', async () => {
  await ensureServer(openstack, 'guest.img');
  make('volumes', { name: 'first', status: 'error' });
  await expect(ensureVolume(openstack, 'servers-0')).rejects.toThrow(
    /^volume first is error, .*openstack volume delete first/,
  );
});

test('before Nova is there, all but flavour and server are made', async () => {
  await ensureImageAndNetwork(openstack, 'guest.img');
  expect(writes).toEqual(all.slice(0, -2));
});

test.each(all.map((what, at) => ({ what, at })))('interrupted before $what, it goes on there', async ({ at }) => {
  interruptedAt = at;
  await expect(ensureServer(openstack, 'guest.img')).rejects.toThrow('interrupted');
  interruptedAt = Infinity;
  await ensureServer(openstack, 'guest.img');
  expect(writes).toEqual(all);
});

test('a server that was stopped is started', async () => {
  await ensureServer(openstack, 'guest.img');
  for (const server of things('servers')) server.status = 'SHUTOFF';
  await ensureServer(openstack, 'guest.img');
  expect(writes.slice(all.length)).toEqual(['POST servers/action']);
});

test('a server in ERROR is told with its fault, and what to do', async () => {
  make('servers', { name: 'first', status: 'ERROR', fault: { message: 'No valid host was found.' } });
  await expect(ensureServer(openstack, 'guest.img')).rejects.toThrow(
    /in ERROR: No valid host was found\.\n.*openstack server delete first/,
  );
});
