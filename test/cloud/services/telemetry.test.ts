import { expect, test } from 'vitest';
import { admin, guestImage, member, networks, tiny } from '../fixture.ts';
import { prefix, type User } from '../running-cloud.ts';
import { Server } from '../server.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';

/** What an API answers that the SDK does not know. @throws Error when it refuses */
async function asked<T>(user: User, type: string, method: 'get' | 'post', path: string, json?: object): Promise<T> {
  const endpoint = { endpoint_filter: { service_type: type, interface: 'public' } };
  const options = json === undefined ? endpoint : { ...endpoint, json };
  const { text } = await user.connectedAnew().call<{ text: string }>(`session.${method}`, path, options);
  return JSON.parse(text) as T;
}

test('an alarm fires when a server is made, whose processors are measured and aggregated', async () => {
  const [gnocchi, ceilometer, aodh] = [
    optionalService('gnocchi', 'gnocchis'),
    optionalService('ceilometer', 'ceilometers'),
    optionalService('aodh', 'aodhs'),
  ];
  await gnocchi({ enabled: true });
  await ceilometer({ enabled: true, metricsBackend: 'gnocchi', pollingIntervalSeconds: 30 });
  // The listener knows the alarms of a project for a minute, also that there are none.
  await aodh({ enabled: true, config: { 'aodh.conf': { DEFAULT: { event_alarm_cache_ttl: 0 } } } });
  const [user, image, flavor, { near }] = await Promise.all([member(), guestImage(), tiny(), networks()]);
  const { alarm_id: alarm } = await asked<{ alarm_id: string }>(user, 'alarming', 'post', '/v2/alarms', {
    name: `${prefix}server`,
    type: 'event',
    event_rule: { event_type: 'compute.instance.create.end' },
    alarm_actions: ['http://alarms.example.com/'],
  });
  const server = await Server.create(user, { name: 'measured', image, flavor, networks: [{ uuid: near }] });
  await server.reaches('ACTIVE', 180);
  await until({
    what: 'the alarm to fire',
    seconds: 60,
    probe: async () => {
      const { state } = await asked<{ state: string }>(user, 'alarming', 'get', `/v2/alarms/${alarm}`);
      return state === 'alarm' || undefined;
    },
  });
  const path = `/v1/resource/instance/${server.id}/metric/cpu/measures`;
  const measures = await until({
    what: "a measure of the server's processors",
    seconds: 240,
    probe: async () => {
      const found = await asked<unknown[]>(admin, 'metric', 'get', path).catch(() => []);
      return found.length > 0 ? found : undefined;
    },
  });
  expect(measures[0]).toEqual([expect.any(String), 300, expect.any(Number)]);
  // What needs it goes first.
  await ceilometer({ enabled: false });
  await gnocchi({ enabled: false });
  await gnocchi({ enabled: true });
  expect((await asked<unknown[]>(admin, 'metric', 'get', path)).length).toBeGreaterThan(0);
});
