import { expect, it } from 'vitest';
import { ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

/** Watcher's programs, each on a host of its own. */
async function running() {
  const { world, token, container } = await ground();
  const host = container('watcher');
  expect((await host.run(['watcher-db-manage', 'upgrade'])).status).toBe(0);
  host.start(['uwsgi', '--ini', '/watcher.ini']);
  await world.clock.advance(15_000);
  const send = async (method: string, path: string, body?: unknown) => {
    const headers = { 'x-auth-token': token };
    const reply = await request(world, 'watcher', 9322, path, { method, headers, body });
    return { status: reply.status, body: reply.body ?? '' };
  };
  const start = async (program: string) => {
    const started = container(program).start([program]);
    await world.clock.advance(10_000);
    return started;
  };
  return { world, host, send, start };
}

it('knows no goal before a decision engine has written them down', async () => {
  const { send, start } = await running();
  const ask = (goal: string) => send('POST', '/v1/audits', { audit_type: 'ONESHOT', goal });
  expect(await ask('dummy')).toMatchObject({ status: 404, body: expect.stringContaining('Goal dummy could not') });
  await start('watcher-decision-engine');
  expect((await ask('dummy')).status).toBe(201);
});

it('gives up what was under way when an engine ended, once one of its name is back', async () => {
  const { send, start, world } = await running();
  const engine = await start('watcher-decision-engine');
  await send('POST', '/v1/audits', { audit_type: 'ONESHOT', goal: 'dummy' });
  await engine.stop();
  expect((await send('GET', '/v1/audits')).body).toContain('"ONGOING"');
  await start('watcher-decision-engine');
  await world.clock.advance(1000);
  expect((await send('GET', '/v1/audits')).body).toContain('"CANCELLED"');
});

it('needs a compute service for its picture, and an answer to its question before it purges', async () => {
  const { host, send, start } = await running();
  await start('watcher-decision-engine');
  expect((await send('GET', '/v1/data_model')).status).toBe(500);
  expect((await host.run(['watcher-db-manage', 'purge', '--age-in-days', '30'])).output).toContain('EOFError');
  const answered = { stdin: 'y\n' };
  expect((await host.run(['watcher-db-manage', 'purge', '--age-in-days', '30'], answered)).status).toBe(0);
});
