import { expect, it } from 'vitest';
import { type Changes, ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const conf = '/etc/freezer/freezer-api.conf';
const paste = '/etc/freezer/freezer-paste.ini';

/** Freezer's API on a host, with a database that is ready. */
async function running(change: Changes = {}) {
  const { world, token, container } = await ground(change);
  const host = container('freezer');
  const sync = await host.run(['freezer-manage', 'db', 'sync']);
  const api = host.start(['uwsgi', '--ini', '/freezer.ini']);
  await world.clock.advance(15_000);
  const { token: known } = JSON.parse(
    (
      await request(world, 'keystone', 5000, '/v3/auth/tokens', {
        headers: { 'x-auth-token': token, 'x-subject-token': token },
      })
    ).body ?? '',
  ) as { token: { project: { id: string } } };
  const send = async (method: string, path: string, body?: unknown) => {
    const headers = { 'x-auth-token': token };
    const reply = await request(world, 'freezer', 9090, `/v2/${known.project.id}${path}`, { method, headers, body });
    return { status: reply.status, body: JSON.parse(reply.body || 'null') as unknown };
  };
  return { host, sync, api, send };
}

const job = {
  client_id: 'node-1',
  job_actions: [{ freezer_action: { action: 'backup', mode: 'fs', storage: 'swift', path_to_backup: '/etc' } }],
};

it('knows jobs of clients that are registered, and what was asked of them', async () => {
  const { send } = await running();
  expect(await send('POST', '/clients', { client_id: 'node-1' })).toMatchObject({ status: 201 });
  expect(await send('POST', '/clients', { client_id: 'node-1' })).toEqual({
    status: 409,
    body: { title: 'Document already existing', description: 'Client already registered with ID node-1' },
  });
  const { body } = await send('POST', '/jobs', job);
  const { job_id } = body as { job_id: string };
  expect(await send('POST', `/jobs/${job_id}/event`, { start: null })).toEqual({
    status: 202,
    body: { result: 'success' },
  });
  expect(await send('GET', `/jobs/${job_id}`)).toMatchObject({ body: { job_schedule: { event: 'start' } } });
  expect(await send('DELETE', `/jobs/${job_id}`)).toMatchObject({ status: 204 });
  expect(await send('GET', `/jobs/${job_id}`)).toEqual({ status: 404, body: null });
});

it('drops the connection over a job that its client cannot do, and keeps its actions', async () => {
  const { send, api } = await running();
  expect((await send('POST', '/jobs', job)).status).toBe(500);
  expect(api.output()).toContain("'UnprocessableEntity' object has no attribute 'status'");
  expect(await send('GET', '/jobs')).toEqual({ status: 200, body: { jobs: [] } });
  expect((await send('GET', '/actions')).body).toMatchObject({ actions: [{ freezer_action: { action: 'backup' } }] });
});

const mistakes: readonly (readonly [string, Changes, string])[] = [
  [
    'no file of its pipeline',
    { [conf]: (text) => `${text}[paste_deploy]\nconfig_file = /nosuch\n` },
    '/nosuch not found',
  ],
  ['no pipeline', { [paste]: () => '' }, "No section 'pipeline:main'"],
  ['a version that is not named', { [paste]: (text) => text.replace('/v1: v1\n', '') }, "'composite:api'"],
  [
    'a filter that there is not',
    { [paste]: (text) => text.replace('middleware:Con', 'middleware:con') },
    'ImportError',
  ],
  ['another driver', { [conf]: (text) => text.replace('= sqlalchemy', '= mysql') }, 'ImportError: Class not found.'],
  ['a wrong password', { [conf]: (text) => text.replace(':pw@', ':no@') }, 'Access denied'],
];

it.each(mistakes)('%s is told when it starts', async (_what, change, words) => {
  const { api } = await running(change);
  expect(api.output()).toContain(words);
});

it('ends a migration that failed with status 0, and what it prints', async () => {
  const { sync, host } = await running({ [conf]: (text) => text.replace(':pw@', ':no@') });
  expect(sync).toMatchObject({ status: 0, output: expect.stringContaining('Access denied') as string });
  expect((await host.run(['freezer-manage', 'db', 'show'])).output).toContain('Access denied');
});
