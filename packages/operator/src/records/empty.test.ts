import { virtualClock } from '@openstack-operator/kube';
import type { EmptyPlan } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { runEmpty } from './empty.ts';

const env = {
  OS_AUTH_URL: 'http://keystone/v3',
  OS_USERNAME: 'nova',
  OS_PASSWORD: 'x',
  API_URL: 'http://nova/v2.1',
};
const mark = 'openstack.k8s.io/maintenance';
const planned: EmptyPlan = {
  scheduling: {
    path: '/os-services',
    disable: 'disable-log-reason',
    headers: { 'x-version': '2.33' },
    listHeaders: { 'x-version': '2.69' },
  },
  disabledByItself: 'AUTO: ',
  arriving: {
    list: '/os-migrations?host={host}',
    items: 'migrations',
    guest: 'instance',
    to: 'to',
    underWay: ['running'],
  },
  binary: 'nova-compute',
  of: 'servers',
  list: '/servers/detail?host={host}&limit=2',
  task: 'task_state',
  movable: ['ACTIVE', 'PAUSED'],
  move: { path: '/servers/{id}/action', body: { 'os-migrateLive': { host: null } } },
  mark,
  hosts: [{ name: 'node1', reason: 'new kernel' }],
  back: [],
};

interface Guest {
  readonly id: string;
  readonly name: string;
  host: string;
  status?: string;
  task_state?: string | null;
}
interface Host {
  status: string;
  disabled_reason?: string | null;
}

const guest = (id: string, more: Partial<Guest> = {}): Guest => ({
  id,
  name: `n-${id}`,
  host: 'node1',
  status: 'ACTIVE',
  task_state: null,
  ...more,
});

/** A cloud of two hosts; `moved` says what becomes of a guest that is to be moved: words that refuse it, or when it is where. */
function cloudOf(
  guests: Guest[],
  moved: (one: Guest) => { refused: string } | { seconds: number; to: string } = () => ({ seconds: 20, to: 'node2' }),
) {
  const hosts: Record<string, Host> = { node1: { status: 'enabled' }, node2: { status: 'enabled' } };
  const clock = virtualClock();
  const writes: string[] = [];
  const arriving: { instance: string; to: string; status: string; from?: string; type?: string }[] = [];
  const run = async (plan: Partial<EmptyPlan> = {}) => {
    const printed: string[] = [];
    let message = '';
    const done = runEmpty([JSON.stringify({ ...planned, ...plan })], {
      env,
      clock,
      print: (line) => printed.push(line),
      writeMessage: (text) => {
        message = text;
      },
      http: ({ method, url, headers, body = '{}' }) => {
        const { pathname, searchParams } = new URL(url);
        const answer = (json: object, status = 200) =>
          Promise.resolve({ status, headers: {}, body: JSON.stringify(json) });
        if (pathname === '/v3/auth/tokens')
          return Promise.resolve({ status: 201, headers: { 'x-subject-token': 'token' }, body: '{}' });
        const [, , kind, id = ''] = pathname.split('/');
        const host = searchParams.get('host') ?? '';
        expect(headers['x-version']).toBe(kind === 'os-services' && method === 'GET' ? '2.69' : '2.33');
        if (kind === 'os-migrations')
          return answer({ migrations: arriving.filter(({ from, to }) => [from, to].includes(host)) });
        if (kind === 'os-services' && method === 'GET')
          return answer({
            services: hosts[host] === undefined ? [] : [{ host, binary: 'nova-compute', ...hosts[host] }],
          });
        if (kind === 'os-services') {
          const { host: which, disabled_reason = null } = JSON.parse(body) as {
            host: string;
            disabled_reason?: string;
          };
          writes.push(`${id} ${which}`);
          hosts[which] = { status: id === 'enable' ? 'enabled' : 'disabled', disabled_reason };
          return answer({});
        }
        if (method === 'GET' && id !== 'detail') {
          const server = guests.find((one) => one.id === id);
          return server === undefined ? answer({ itemNotFound: { message: 'no' } }, 404) : answer({ server });
        }
        if (method === 'GET') {
          const all = guests.filter((one) => one.host === host);
          const from = all.findIndex((one) => one.id === searchParams.get('marker')) + 1;
          const links = from + 2 < all.length ? { servers_links: [{ rel: 'next' }] } : {};
          return answer({ servers: all.slice(from, from + 2), ...links });
        }
        const one = guests.find((other) => other.id === id);
        if (one === undefined) return answer({ itemNotFound: { message: 'no' } }, 404);
        const [act] = Object.keys(JSON.parse(body) as object);
        if (act === 'confirmResize') {
          writes.push(`confirm ${id}`);
          const waiting = arriving.find(({ instance, status }) => instance === id && status === 'finished');
          if (waiting === undefined) return answer({ badRequest: { code: 400, message: 'nothing to confirm' } }, 400);
          waiting.status = 'confirming';
          clock.after(7000, () => Object.assign(waiting, { status: 'confirmed' }));
          clock.after(7000, () => Object.assign(one, { status: 'SHUTOFF' }));
          return Promise.resolve({ status: 204, headers: {}, body: '' });
        }
        writes.push(act === 'migrate' ? `copy ${id}` : `move ${id}`);
        const fate = moved(one);
        if ('refused' in fate) return answer({ badRequest: { code: 400, message: fate.refused } }, 400);
        one.task_state = 'migrating';
        const copied = { instance: id, from: one.host, to: fate.to, status: 'migrating', type: 'migration' };
        if (act === 'migrate') clock.after(2000, () => arriving.push(copied));
        clock.after(fate.seconds * 1000, () => {
          const isCopied = act === 'migrate' && fate.to !== one.host;
          copied.status = isCopied ? 'finished' : 'error';
          Object.assign(one, { task_state: null, host: fate.to, ...(isCopied ? { status: 'VERIFY_RESIZE' } : {}) });
        });
        return Promise.resolve({ status: 202, headers: {}, body: '' });
      },
    });
    let code: number | undefined;
    void done.then((ended) => {
      code = ended;
    });
    await clock.run(() => code !== undefined, { limit: 7_200_000 });
    return { code, message, printed };
  };
  return { run, hosts, guests, writes, arriving, clock };
}

test('all guests of a host leave it, and nothing new comes there; a second run changes nothing', async () => {
  const cloud = cloudOf(['a', 'b', 'c'].map((id) => guest(id, id === 'b' ? { status: 'PAUSED' } : {})));
  expect(await cloud.run()).toEqual({ code: 0, message: 'node1: emptied', printed: ['node1: emptied'] });
  expect(cloud.guests.map(({ host }) => host)).toEqual(['node2', 'node2', 'node2']);
  expect(cloud.hosts['node1']).toEqual({ status: 'disabled', disabled_reason: `${mark}: new kernel` });
  expect(cloud.writes).toEqual(['disable-log-reason node1', 'move a', 'move b', 'move c']);
  const begun = cloud.clock.monotonic();
  expect((await cloud.run()).code).toBe(0);
  expect(cloud.writes).toHaveLength(4);
  expect(cloud.clock.monotonic() - begun, 'nothing is on its way there any more').toBe(0);
  await cloud.run({ hosts: [{ name: 'node1', reason: 'another disk' }] });
  expect(cloud.hosts['node1']?.disabled_reason).toBe(`${mark}: another disk`);
});

test('what the scheduler had sent there before leaves it as well', async () => {
  const cloud = cloudOf([]);
  cloud.clock.after(40_000, () => {
    cloud.guests.push(guest('late', { status: 'BUILD', task_state: 'spawning' }));
    cloud.clock.after(30_000, () => Object.assign(cloud.guests[0] ?? {}, { status: 'ACTIVE', task_state: null }));
  });
  expect((await cloud.run()).code).toBe(0);
  expect(cloud.guests[0]?.host).toBe('node2');
});

test('guests that stay are named, each with why, whatever their users call them', async () => {
  const cloud = cloudOf(
    [
      guest('off', { status: 'SHUTOFF' }),
      guest('large', { name: 'x\nnode2: emptied' }),
      guest('busy', { name: 'Ärger' }),
      guest('fine'),
    ],
    ({ id }) => {
      if (id === 'large') return { refused: 'No valid host was found. ' };
      return { seconds: 30, to: id === 'busy' ? 'node1' : 'node2' };
    },
  );
  const { code, message } = await cloud.run();
  expect(code).toBe(3);
  expect(message).toBe(
    'node1: occupied: off (n-off) is SHUTOFF; large (x?node2: emptied): No valid host was found.; ' +
      'busy (?rger): was to be moved, and came back; the log of its host says why',
  );
  expect(
    cloud.writes.filter((one) => one.startsWith('move')),
    'each is asked once',
  ).toHaveLength(3);
});

test('what takes too long is told as under way, and is not asked for again', async () => {
  const cloud = cloudOf([guest('slow')], () => ({ seconds: 3000, to: 'node2' }));
  expect(await cloud.run()).toMatchObject({ code: 3, message: 'node1: occupied: slow (n-slow) is busy (migrating)' });
  expect((await cloud.run()).code).toBe(0);
  expect(cloud.writes.filter((one) => one.startsWith('move'))).toHaveLength(1);
});

test('what is occupied stands last: a condition says it', async () => {
  const cloud = cloudOf([guest('off', { status: 'SHUTOFF' })]);
  const { message } = await cloud.run({ hosts: ['node1', 'node2'].map((name) => ({ name, reason: 'x' })) });
  expect(message.split('\n')).toEqual(['node2: emptied', 'node1: occupied: off (n-off) is SHUTOFF']);
});

test('where guests cannot be moved, nothing new comes there all the same', async () => {
  const cloud = cloudOf([guest('a')]);
  const { code, message } = await cloud.run({ stays: 'it is not enabled' });
  expect({ code, message }).toEqual({ code: 3, message: 'node1: occupied: a (n-a): it is not enabled' });
  expect(cloud.writes).toEqual(['disable-log-reason node1']);
});

const confirmed: EmptyPlan['confirmed'] = {
  movable: ['SHUTOFF'],
  body: { migrate: null },
  from: 'from',
  columns: { type: 'migration' },
  underWay: ['migrating', 'confirming'],
  waits: 'finished',
  confirm: { confirmResize: null },
  usersColumns: { type: 'resize' },
  failed: { state: 'error', path: '/servers/{id}', item: 'server', status: 'ERROR', host: 'host' },
};

test('guests that are off are copied to other hosts, where they stay: that is confirmed', async () => {
  const cloud = cloudOf(
    [guest('off', { status: 'SHUTOFF' }), guest('runs'), guest('back', { status: 'SHUTOFF' })],
    ({ id }) => ({ seconds: 40, to: id === 'back' ? 'node1' : 'node2' }),
  );
  const { code, message } = await cloud.run({ confirmed });
  expect({ code, message }).toEqual({
    code: 3,
    message: 'node1: occupied: back (n-back): was to be moved, and came back; the log of its host says why',
  });
  expect(cloud.writes).toEqual(['disable-log-reason node1', 'copy off', 'move runs', 'copy back', 'confirm off']);
  expect(cloud.guests[0]).toMatchObject({ host: 'node2', status: 'SHUTOFF' });
  // Those that run are not stopped for it.
  const live = cloudOf([guest('runs'), guest('off', { status: 'SHUTOFF' })]);
  const { message: stays } = await live.run({ confirmed, stays: 'it is not enabled' });
  expect(stays).toBe('node1: occupied: runs (n-runs): it is not enabled');
  expect(live.guests.map(({ host }) => host)).toEqual(['node1', 'node2']);
});

test('what a run that was ended had moved is confirmed by the next one, also when the maintenance is over', async () => {
  const cloud = cloudOf([guest('left', { host: 'node2', status: 'VERIFY_RESIZE' })]);
  cloud.arriving.push({ instance: 'left', from: 'node1', to: 'node2', status: 'finished', type: 'migration' });
  const over = { confirmed, hosts: [], back: ['node1'] };
  // The next run says that it is done.
  expect(await cloud.run(over)).toMatchObject({ code: 3, message: expect.stringMatching(/^node1: left: /) });
  await cloud.clock.advance(10_000);
  expect(await cloud.run(over)).toMatchObject({ code: 0, message: 'node1: returned' });
  Object.assign(cloud.arriving[0] ?? {}, { status: 'finished' });
  expect(await cloud.run({ confirmed })).toMatchObject({ code: 0, message: 'node1: emptied' });
  expect(cloud.writes.filter((one) => one.startsWith('confirm'))).toEqual(['confirm left', 'confirm left']);
  // Of one that cannot be confirmed it is said why.
  Object.assign(cloud.arriving[0] ?? {}, { status: 'finished', instance: 'gone' });
  expect(await cloud.run({ confirmed })).toMatchObject({ code: 3, message: 'node1: occupied: gone: no' });
});

test('a host is not empty while its disks are needed: of a resize that waits for its user, and of a move that failed late', async () => {
  const cloud = cloudOf([
    guest('broken', { host: 'node2', status: 'ERROR' }),
    guest('mended', { host: 'node2' }),
    guest('here', { host: 'node2', status: 'ERROR' }),
  ]);
  for (const instance of ['broken', 'mended', 'gone'])
    cloud.arriving.push({ instance, from: 'node1', to: 'node2', status: 'error', type: 'migration' });
  cloud.arriving.push({ instance: 'broken', from: 'node1', to: 'node2', status: 'error', type: 'migration' });
  cloud.arriving.push({ instance: 'here', from: 'node2', to: 'node1', status: 'error', type: 'migration' });
  cloud.arriving.push({ instance: 'grown', from: 'node1', to: 'node2', status: 'finished', type: 'resize' });
  const words = [
    'node1: occupied: grown: its user has to confirm its resize, or to revert it',
    'broken is ERROR since it was moved, and has a disk here',
  ].join('; ');
  expect(await cloud.run({ confirmed })).toMatchObject({ code: 3, message: words });
  expect(cloud.writes.filter((one) => one.startsWith('confirm'))).toEqual([]);
  const over = { confirmed, hosts: [], back: ['node1'] };
  expect(await cloud.run(over)).toMatchObject({ code: 0, message: 'node1: returned' });
});

test('a host whose maintenance is over gets guests again, unless somebody else has disabled it', async () => {
  const cloud = cloudOf([]);
  Object.assign(cloud.hosts, {
    node1: { status: 'disabled', disabled_reason: `${mark}: new kernel` },
    node2: { status: 'disabled', disabled_reason: 'broken' },
  });
  const over = await cloud.run({ hosts: [], back: ['node1', 'node2', 'gone'] });
  expect(over).toMatchObject({ code: 0, message: 'node1: returned\nnode2: returned\ngone: returned' });
  expect(cloud.writes).toEqual(['enable node1']);
  // Nor is its reason written over.
  expect((await cloud.run({ hosts: [{ name: 'node2', reason: 'x' }] })).code).toBe(0);
  expect(cloud.hosts['node2']).toEqual({ status: 'disabled', disabled_reason: 'broken' });
});

test('a host that the API does not list is not taken for empty, and keeps no other from being emptied', async () => {
  const hosts = ['node9', 'node1'].map((name) => ({ name, reason: 'x' }));
  const { code, message } = await cloudOf([guest('a')]).run({ hosts });
  expect({ code, message }).toEqual({
    code: 3,
    message: 'node1: emptied\nnode9: occupied: the API lists no nova-compute of this host',
  });
});

test('a host that it cannot tell of, nor returns, nor is empty', async () => {
  const cloud = cloudOf([]);
  cloud.hosts['node1'] = { status: 'UNKNOWN' };
  const words = 'node1: the API cannot tell whether nova-compute is enabled there: UNKNOWN';
  expect(await cloud.run()).toMatchObject({ code: 1, message: words });
  expect(await cloud.run({ hosts: [], back: ['node2', 'node1'] })).toMatchObject({
    code: 1,
    message: `node2: returned\n${words}`,
  });
});

test('a guest that is on its way there is waited for', async () => {
  const cloud = cloudOf([]);
  cloud.arriving.push({ instance: 'late', to: 'node1', status: 'running' });
  cloud.clock.after(300_000, () => {
    cloud.arriving.length = 0;
    cloud.guests.push(guest('late'));
  });
  expect((await cloud.run()).code).toBe(0);
  expect(cloud.guests[0]?.host).toBe('node2');
});

test('a host that the service disabled by itself stays disabled; one that somebody enables meanwhile is told', async () => {
  const cloud = cloudOf([]);
  cloud.hosts['node1'] = { status: 'disabled', disabled_reason: 'AUTO: no libvirt' };
  expect((await cloud.run()).code).toBe(0);
  expect(cloud.hosts['node1']).toEqual({ status: 'disabled', disabled_reason: `${mark}: new kernel` });
  cloud.hosts['node1'] = { status: 'enabled' };
  cloud.clock.after(30_000, () =>
    Object.assign(cloud.hosts['node1'] ?? {}, { status: 'enabled', disabled_reason: null }),
  );
  expect(await cloud.run()).toMatchObject({
    code: 3,
    message: 'node1: occupied: its nova-compute was enabled meanwhile',
  });
});

test('many words are cut to what the kubelet takes, and each host has a line', async () => {
  const guests = Array.from({ length: 200 }, (_, index) =>
    guest(`${index}`, { status: 'SHUTOFF', host: index % 2 === 0 ? 'node1' : 'node2' }),
  );
  const cloud = cloudOf(guests);
  const hosts = ['node1', 'node2'].map((name) => ({ name, reason: 'r'.repeat(300) }));
  const { message } = await cloud.run({ hosts });
  expect(message.length).toBeLessThan(4096);
  expect(message.split('\n')).toEqual(
    ['node1', 'node2'].map((name) => expect.stringMatching(`^${name}: occupied: .*\\.\\.\\.$`)),
  );
  expect(cloud.hosts['node1']?.disabled_reason).toHaveLength(255);
});

test('a call without a plan is wrong', async () => {
  const printed: string[] = [];
  const world = { clock: virtualClock(), print: (line: string) => printed.push(line), writeMessage: () => undefined };
  const http = () => Promise.reject(new Error('nobody is asked'));
  expect(await runEmpty([], { ...world, env, http })).toBe(2);
  expect(await runEmpty([JSON.stringify(planned)], { ...world, env: { ...env, API_URL: '' }, http })).toBe(2);
  expect(printed[0]).toMatch(/^usage: OS_AUTH_URL=.* openstack-operator empty PLAN$/);
});
