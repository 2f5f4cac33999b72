import { expect, test } from 'vitest';
import type { Http } from './http.ts';
import { keepBrokerRecords } from './rabbitmq.ts';

/** As much of the management API as the records need. */
function broker() {
  const vhosts = new Map<string, unknown>();
  const users = new Map<string, string>([['admin', 'secret']]);
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
    if (users.get(name) !== password) return answer(401, { error: 'not_authorized', reason: 'Login failed' });
    if (path === '/api/whoami') return answer(200, { name });
    const [, , kind = '', ...rest] = path.split('/');
    const [shelf, key] = [
      new Map<string, Map<string, unknown>>([
        ['vhosts', vhosts],
        ['users', users],
        ['permissions', permissions],
      ]).get(kind) ?? vhosts,
      rest.join('/'),
    ];
    if (method === 'GET') return shelf.has(key) ? answer(200, shelf.get(key)) : answer(404, { reason: 'Not Found' });
    const value = JSON.parse(body ?? '{}') as { password?: string };
    shelf.set(key, kind === 'users' ? value.password : value);
    return answer(201);
  };
  return { http, calls, users, permissions };
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

test('writes a password only when the old one is refused, and grants what was taken', async () => {
  const { http, users, permissions } = broker();
  await keepBrokerRecords(records, http);
  users.set('nova', 'other');
  permissions.set('nova/nova', { configure: '', write: '', read: '.*' });
  expect(await keepBrokerRecords(records, http)).toEqual([
    'set the password of user nova',
    'granted user nova vhost nova',
  ]);
});

test('a wrong administrator is named, without the password', async () => {
  const { http } = broker();
  const wrong = keepBrokerRecords({ ...records, password: 'hunter2hunter2' }, http);
  await expect(wrong).rejects.toThrow('GET http://broker:15672/api/vhosts/nova: 401 Login failed');
});
