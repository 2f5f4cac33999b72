import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Http } from './http.ts';
import { keepBrokerRecords, removeBrokerRecords } from './rabbitmq.ts';

/** An account as RabbitMQ shows it: base64 of a salt of four bytes, and the digest of salt and password. */
function account(password: string, tags: string) {
  const salt = Buffer.from('salt');
  const digest = createHash('sha512').update(salt).update(password).digest();
  return {
    password_hash: Buffer.concat([salt, digest]).toString('base64'),
    hashing_algorithm: 'rabbit_password_hashing_sha512',
    tags: tags === '' ? [] : tags.split(','),
  };
}

/** As much of the management API as the records need. */
function broker() {
  const vhosts = new Map<string, unknown>();
  const users = new Map<string, unknown>([['admin', account('secret', 'administrator')]]);
  const permissions = new Map<string, unknown>();
  const calls: string[] = [];
  const http: Http = ({ method, url, headers, body }) => {
    const path = decodeURIComponent(new URL(url).pathname);
    calls.push(`${method} ${path}`);
    const [name = '', password] = Buffer.from((headers['authorization'] ?? '').slice(6), 'base64')
      .toString()
      .split(':');
    const answer = (status: number, value?: unknown) =>
      Promise.resolve({ status, headers: {}, body: value === undefined ? '' : JSON.stringify(value) });
    if (name !== 'admin' || password !== 'secret')
      return answer(401, { error: 'not_authorized', reason: 'Login failed' });
    const [, , kind = '', ...rest] = path.split('/');
    const [shelf, key] = [
      new Map<string, Map<string, unknown>>([
        ['vhosts', vhosts],
        ['users', users],
        ['permissions', permissions],
      ]).get(kind) ?? vhosts,
      rest.join('/'),
    ];
    if (kind === 'vhosts' && rest[1] === 'permissions') {
      const held = [...permissions.keys()].map((one) => one.split('/'));
      return answer(
        200,
        held.flatMap(([vhost, user]) => (vhost === rest[0] ? [{ vhost, user }] : [])),
      );
    }
    if (method === 'DELETE') {
      shelf.delete(key);
      // The rights of a user, or to a virtual host, go with it.
      for (const one of permissions.keys())
        if (one.split('/')[kind === 'users' ? 1 : 0] === key) permissions.delete(one);
      return answer(204);
    }
    if (method === 'GET') return shelf.has(key) ? answer(200, shelf.get(key)) : answer(404, { reason: 'Not Found' });
    const value = JSON.parse(body ?? '{}') as { password: string; tags: string };
    shelf.set(key, kind === 'users' ? account(value.password, value.tags) : value);
    return answer(201);
  };
  return { http, calls, users, vhosts, permissions };
}

const records = {
  url: 'http://broker:15672',
  username: 'admin',
  password: 'secret',
  vhosts: [{ name: 'nova' }],
  users: [
    { name: 'nova', password: 'one', permissions: [{ vhost: 'nova', configure: '.*', write: '.*', read: '.*' }] },
  ],
};

test('makes what is missing, and nothing the second time', async () => {
  const { http, calls } = broker();
  expect(await keepBrokerRecords(records, http)).toEqual([
    'created vhost nova',
    'created user nova',
    'granted user nova vhost nova',
  ]);
  calls.length = 0;
  expect(await keepBrokerRecords(records, http)).toEqual([]);
  expect(calls.filter((call) => !call.startsWith('GET'))).toEqual([]);
});

test('writes a password only when it differs, and grants what was taken', async () => {
  const { http, users, permissions } = broker();
  await keepBrokerRecords(records, http);
  users.set('nova', account('other', ''));
  permissions.set('nova/nova', { configure: '', write: '', read: '.*' });
  expect(await keepBrokerRecords(records, http)).toEqual([
    'set the password of user nova',
    'granted user nova vhost nova',
  ]);
});

test('users of services have no tags; those of earlier versions lose theirs', async () => {
  const { http, users } = broker();
  await keepBrokerRecords(records, http);
  expect(users.get('nova')).toMatchObject({ tags: [] });
  users.set('nova', account('one', 'management'));
  expect(await keepBrokerRecords(records, http)).toEqual(['took tags management from user nova']);
  expect(users.get('nova')).toMatchObject({ tags: [] });
  expect(await keepBrokerRecords(records, http)).toEqual([]);
});

test('a user whose password is accepted no more is removed, with what is there of both in the end', async () => {
  const { http, users } = broker();
  await keepBrokerRecords(records, http);
  const permissions = records.users.flatMap((user) => user.permissions);
  const second = { ...records, users: [{ name: 'nova.b', password: 'two', permissions }], absentUsers: ['nova'] };
  expect(
    await keepBrokerRecords({ ...second, users: [...second.users, ...records.users], absentUsers: [] }, http),
  ).toEqual(['created user nova.b', 'granted user nova.b vhost nova']);
  expect(await keepBrokerRecords(second, http)).toEqual(['removed user nova']);
  expect(await keepBrokerRecords(second, http)).toEqual([]);
  expect([...users.keys()]).toEqual(['admin', 'nova.b']);
  users.set('nova', account('one', ''));
  expect(await removeBrokerRecords(second, http)).toEqual([
    'removed user nova.b',
    'removed user nova',
    'removed vhost nova',
  ]);
});

test('a wrong administrator is named, without the password', async () => {
  const { http } = broker();
  const wrong = keepBrokerRecords({ ...records, password: 'hunter2hunter2' }, http);
  await expect(wrong).rejects.toThrow('GET http://broker:15672/api/vhosts/nova: 401 Login failed');
});

test('a virtual host that others use stays until the last of them has gone', async () => {
  const { http, vhosts, users } = broker();
  const shared = { name: 'notifications', shared: true };
  const of = (name: string) => ({
    ...records,
    vhosts: [{ name }, shared],
    users: [
      {
        name,
        password: 'one',
        permissions: [name, shared.name].map((vhost) => ({ vhost, configure: '.*', write: '.*', read: '.*' })),
      },
    ],
  });
  await keepBrokerRecords(of('nova'), http);
  await keepBrokerRecords(of('bell'), http);
  expect(await removeBrokerRecords(of('nova'), http)).toEqual(['removed user nova', 'removed vhost nova']);
  expect([...vhosts.keys()]).toEqual(['notifications', 'bell']);
  expect(await removeBrokerRecords(of('bell'), http)).toEqual([
    'removed user bell',
    'removed vhost bell',
    'removed vhost notifications',
  ]);
  expect([...users.keys()]).toEqual(['admin']);
});
