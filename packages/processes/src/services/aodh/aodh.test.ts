import { expect, it } from 'vitest';
import { type Changes, ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

/** Aodh's programs on one host, with an alarm on events of servers, whose action is a line of the log. */
async function running(change: Changes = {}) {
  const { world, token, container } = await ground(change);
  const host = container('aodh');
  await host.run(['aodh-dbsync']);
  const api = host.start(['uwsgi', '--ini', '/aodh.ini']);
  await world.clock.advance(15_000);
  const send = async (method: string, path: string, body?: unknown) => {
    const reply = await request(world, 'aodh', 8042, path, { method, headers: { 'x-auth-token': token }, body });
    return {
      status: reply.status,
      body: reply.body === '' ? undefined : (JSON.parse(reply.body ?? 'null') as unknown),
    };
  };
  const start = async (program: string) => {
    const started = container(program).start([program]);
    await world.clock.advance(5000);
    return started;
  };
  const alarm = { name: 'servers', type: 'event', event_rule: { event_type: 'compute.*' }, alarm_actions: ['log://'] };
  return { world, send, start, api, alarm };
}

it('refuses an alarm of no type, and answers what is not there as Aodh does', async () => {
  const { send } = await running();
  expect((await send('POST', '/v2/alarms', { name: 'x', type: 'nosuch' })).status).toBe(400);
  expect(await send('GET', '/v2/alarms/gone')).toMatchObject({
    status: 404,
    body: { error_message: { faultstring: 'Alarm gone not found' } },
  });
});

it('an evaluator that finds no metrics goes on, and says so', async () => {
  const { send, start, alarm } = await running();
  await send('POST', '/v2/alarms', { ...alarm, type: 'gnocchi_resources_threshold' });
  const evaluator = await start('aodh-evaluator');
  expect(evaluator.output()).toContain('alarm statistics retrieval failed: internal endpoint for metric service');
  expect(await evaluator.stop()).toBe(0);
});

it('each program ends with a URL that it cannot use', async () => {
  const { start } = await running({ '/etc/aodh/aodh.conf': (text) => text.replace('rabbit:', 'rabit:') });
  for (const program of ['aodh-listener', 'aodh-notifier'])
    expect((await start(program)).output()).toContain('Failed to load transport driver "rabit"');
});

it('a state is set by hand', async () => {
  const { send, alarm } = await running();
  const { body } = await send('POST', '/v2/alarms', alarm);
  const path = `/v2/alarms/${(body as { alarm_id: string }).alarm_id}`;
  expect((await send('PUT', `${path}/state`, 'ok')).body).toBe('ok');
  expect((await send('GET', path)).body).toMatchObject({ state: 'ok', state_reason: 'Manually set via API' });
});
