import { expect, it, test } from 'vitest';
import { type Changes, ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

/** Adjutant's API on a host, with a database that is ready unless nobody migrated it. */
async function running(change: Changes = {}, migrates = true) {
  const { world, token: admin, container } = await ground(change);
  const host = container('adjutant');
  const migrated = migrates ? await host.run(['adjutant-api', 'migrate']) : undefined;
  const api = host.start(['uwsgi', '--ini', '/adjutant.ini']);
  await world.clock.advance(5000);
  const send = async (method: string, path: string, body?: unknown, token = admin) => {
    const headers = { ...(token && { 'x-auth-token': token }), host: 'adjutant:5051' };
    const reply = await request(world, 'adjutant', 5051, path, { method, headers, body });
    const isJson = reply.body?.startsWith('{');
    return {
      status: reply.status,
      body: (isJson ? JSON.parse(reply.body ?? '') : reply.body) as Record<string, never>,
    };
  };
  return { migrated, send, api };
}

const ann = { email: 'ann@example.com', roles: ['member'] };

test('whoever is invited has a token, with which he sets a password, once', async () => {
  const { send, api } = await running();
  expect(await send('GET', '/', undefined, '')).toMatchObject({ status: 200 });
  expect(await send('POST', '/v1/openstack/users', ann, '')).toEqual({
    status: 401,
    body: { errors: ['Credentials incorrect or none given.'] },
  });
  expect(await send('POST', '/v1/openstack/users', ann)).toEqual({ status: 202, body: { notes: ['task created'] } });
  expect(await send('POST', '/v1/openstack/users', ann)).toMatchObject({ status: 409 });
  // Upstream's default prints mails.
  const [, token] = /http:\/\/horizon\/token\/(\w+)/u.exec(api.output()) ?? [];
  expect(await send('GET', `/v1/tokens/${token}`, undefined, '')).toMatchObject({
    body: { actions: ['NewUserAction'], required_fields: ['password'] },
  });
  expect(await send('POST', `/v1/tokens/${token}`, {}, '')).toMatchObject({ status: 400 });
  expect((await send('POST', `/v1/tokens/${token}`, { password: 'pw' }, '')).status).toBe(200);
  expect((await send('POST', `/v1/tokens/${token}`, { password: 'pw' }, '')).status).toBe(404);
  const users = await send('GET', '/v1/openstack/users');
  expect(users.body).toMatchObject({ users: [{ name: 'admin' }, { name: 'ann@example.com', roles: ['member'] }] });
});

const refused: readonly (readonly [string, object, object])[] = [
  ['nothing', {}, { email: ['This field is required.'] }],
  ['what is no address', { ...ann, email: 'ann' }, { email: ['Enter a valid email address.'] }],
  ['a role that nobody gives', { ...ann, roles: ['admin'] }, { roles: ['"admin" is not a valid choice.'] }],
  ['a project of others', { ...ann, project_id: 'other' }, ['actions invalid']],
];

it.each(refused)('refuses to invite %s', async (_what, body, errors) => {
  const { send } = await running();
  const answer = await send('POST', '/v1/openstack/users', body);
  expect(answer.status).toBe(400);
  expect(answer.body['errors']).toEqual(Array.isArray(errors) ? errors : expect.objectContaining(errors));
});

test('a task that fails is told to administrators alone', async () => {
  const { send } = await running();
  await send('POST', '/v1/openstack/users', { ...ann, roles: ['heat_stack_owner'] });
  const { tokens } = (await send('GET', '/v1/tokens')).body as unknown as { tokens: { token: string }[] };
  const answer = await send('POST', `/v1/tokens/${tokens[0]?.token}`, { password: 'pw' }, '');
  expect(answer).toEqual({
    status: 503,
    body: { errors: ['Service temporarily unavailable, try again later.'] },
  });
  const notes = JSON.stringify((await send('GET', '/v1/notifications')).body);
  expect(notes).toContain('Keystone missing role: heat_stack_owner');
});

test('a reset of the password of nobody is answered as any other, late', async () => {
  const { send } = await running();
  const note = 'If user with email exists, reset token will be issued.';
  expect(await send('POST', '/v1/openstack/users/password-reset', { email: ann.email }, '')).toEqual({
    status: 202,
    body: { notes: [note] },
  });
  expect((await send('GET', '/v1/tokens')).body).toEqual({ tokens: [] });
});

test('what is not chosen is not there, and what is not migrated is told with the first request', async () => {
  const { send, api } = await running({}, false);
  expect((await send('POST', '/v1/openstack/sign-up', {})).status).toBe(404);
  expect((await send('GET', '/v1/tasks')).status).toBe(500);
  expect(api.output()).toContain("(1146, \"Table 'adjutant.tasks_task' doesn't exist\")");
});

const file = '/etc/adjutant/adjutant.yaml';
const mistakes: readonly (readonly [string, (text: string) => string, string])[] = [
  [
    'no URL of Keystone',
    (text) => text.replace('auth_url', 'url'),
    "'adjutant.identity.auth.auth_url': ['This conf is",
  ],
  ['no URL of the dashboard', (text) => text.replace('horizon_url', 'url'), 'adjutant.workflow.horizon_url'],
  ['another database', (text) => text.replace('backends.mysql', 'backends.nosuch'), "isn't an available database"],
  ['an API that is none', (text) => `${text}api: {active_delegate_apis: [NoSuch]}`, "unregistered: ['NoSuch']"],
  ['no place for a log', (text) => text.replace('logging: {version: 1}', 'log_file: /nowhere/log'), "handler 'file'"],
];

it.each(mistakes)('%s is told when it starts', async (_what, change, words) => {
  const { api } = await running({ [file]: change });
  expect(api.output()).toContain(words);
});

it('a command says what is wrong with its file, or the words of the database', async () => {
  const bad = await running({ [file]: (text) => text.replace('auth_url', 'url') });
  expect(bad.migrated).toMatchObject({
    status: 1,
    output: expect.stringContaining('This command requires a valid config'),
  });
  const closed = await running({ [file]: (text) => text.replace('PASSWORD: pw', 'PASSWORD: no') });
  expect(closed.migrated).toMatchObject({
    status: 1,
    output: expect.stringContaining('(1045, "Access denied for user'),
  });
});
