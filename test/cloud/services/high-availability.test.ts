import { expect, test } from 'vitest';
import { admin, member } from '../fixture.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';

interface Answer {
  readonly segment?: { readonly uuid: string };
  readonly segments?: readonly { readonly name: string }[];
  readonly hosts?: readonly { readonly name: string }[];
  readonly notification?: { readonly notification_uuid: string; readonly status: string };
}

/** What Masakari answers, and with which status. */
async function asked(user: User, method: 'get' | 'post' | 'delete', path: string, json?: object) {
  const options = { raise_exc: false, ...(json === undefined ? {} : { json }) };
  const { status, text } = await user.call<{ status: number; text: string }>(`instance_ha.${method}`, path, options);
  return { status, text, body: (text.startsWith('{') ? JSON.parse(text) : {}) as Answer };
}

test('a segment takes a host that Nova knows, and an engine a notification; it outlives that Masakari was disabled', async () => {
  const masakari = optionalService('masakari', 'masakaris');
  await masakari({ enabled: true });
  const user = admin.connectedAnew();
  const [service] = await user.call<{ host: string }[]>('compute.services', { binary: 'nova-compute' });
  const host = service?.host ?? '';
  const name = `${prefix}rack`;
  const body = { segment: { name, recovery_method: 'auto', service_type: 'COMPUTE' } };
  expect((await asked(await member(), 'post', '/segments', body)).status).toBe(403);
  const made = await asked(user, 'post', '/segments', body);
  expect(made).toMatchObject({ status: 201 });
  const segment = `/segments/${made.body.segment?.uuid}`;
  const hostNamed = (name: string) => ({ host: { name, type: 'COMPUTE', control_attributes: 'SSH' } });
  expect((await asked(user, 'post', `${segment}/hosts`, hostNamed('nowhere'))).status).toBe(400);
  expect(await asked(user, 'post', `${segment}/hosts`, hostNamed(host))).toMatchObject({ status: 201 });
  const notification = {
    type: 'VM',
    hostname: host,
    generated_time: '2026-01-01T00:00:00',
    // A server that there is not: nothing is mended.
    payload: {
      event: 'LIFECYCLE',
      instance_uuid: '00000000-0000-4000-8000-000000000000',
      vir_domain_event: 'STOPPED_FAILED',
    },
  };
  const sent = await asked(user, 'post', '/notifications', { notification });
  expect(sent).toMatchObject({ status: 202 });
  const path = `/notifications/${sent.body.notification?.notification_uuid}`;
  await until({
    what: 'the engine to take the notification',
    seconds: 60,
    probe: async () => (await asked(user, 'get', path)).body.notification?.status !== 'new' || undefined,
    explain: async () => (await asked(user, 'get', path)).text,
  });
  await masakari({ enabled: false });
  await masakari({ enabled: true });
  expect((await asked(user, 'get', `${segment}/hosts`)).body.hosts).toMatchObject([{ name: host }]);
});
