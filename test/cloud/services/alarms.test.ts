import { expect, test } from 'vitest';
import { member } from '../fixture.ts';
import { prefix, type User } from '../running-cloud.ts';
import { optionalService } from './optional-service.ts';

/** What Aodh answers, and with which status. */
async function asked(user: User, method: 'get' | 'post' | 'put' | 'delete', path: string, json?: unknown) {
  const options = { raise_exc: false, endpoint_filter: { service_type: 'alarming', interface: 'public' } };
  const body = json === undefined ? options : { ...options, json };
  const { status, text } = await user.call<{ status: number; text: string }>(`session.${method}`, path, body);
  return { status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}

test('an alarm is made and changed by a plain user, has a history, and outlives that Aodh was disabled', async () => {
  const aodh = optionalService('aodh', 'aodhs');
  await aodh({ enabled: true });
  const user = await member();
  const rule = { event_rule: { event_type: 'compute.instance.*' }, alarm_actions: ['http://alarms.example.com/'] };
  const made = await asked(user, 'post', '/v2/alarms', { name: `${prefix}alarm`, type: 'event', ...rule });
  expect(made).toMatchObject({ status: 201, body: { state: 'insufficient data', project_id: user.projectId } });
  const path = `/v2/alarms/${(made.body as { alarm_id: string }).alarm_id}`;
  expect(await asked(user, 'put', `${path}/state`, 'ok')).toMatchObject({ status: 200, body: 'ok' });
  await aodh({ enabled: false });
  await aodh({ enabled: true });
  expect(await asked(user, 'get', path)).toMatchObject({ status: 200, body: { state: 'ok' } });
  const history = await asked(user, 'get', `${path}/history`);
  expect(history.body).toContainEqual(expect.objectContaining({ type: 'state transition' }));
  expect((await asked(user, 'delete', path)).status).toBe(204);
});
