import { expect, test } from 'vitest';
import { admin, member } from '../fixture.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';

interface Node {
  readonly uuid: string;
  readonly name: string;
  readonly provision_state: string;
  readonly power_state: string | null;
}

/** What Ironic answers, and with which status. */
async function asked(user: User, method: 'get' | 'post' | 'put' | 'delete', path: string, json?: object) {
  const headers = { 'X-OpenStack-Ironic-API-Version': '1.80' };
  const options = { raise_exc: false, headers, ...(json === undefined ? {} : { json }) };
  const { status, text } = await user.call<{ status: number; text: string }>(`baremetal.${method}`, path, options);
  return { status, text, body: (text.startsWith('{') ? JSON.parse(text) : {}) as Node };
}

test('a machine that is made up is deployed, powered and deleted; it outlives that Ironic was disabled', async () => {
  const ironic = optionalService('ironic', 'ironics');
  const enabledDrivers = ['fake-hardware'];
  await ironic({ enabled: true, enabledDrivers });
  const user = admin.connectedAnew();
  const name = `${prefix}rack-1`;
  const body = { name, driver: 'fake-hardware', automated_clean: false };
  expect((await asked(await member(), 'post', '/nodes', body)).status).not.toBe(201);
  const made = await asked(user, 'post', '/nodes', body);
  expect(made).toMatchObject({ status: 201, body: { provision_state: 'enroll' } });
  const path = `/nodes/${made.body.uuid}`;
  const reaches = (part: Partial<Node>) =>
    until({
      what: `the machine to be ${Object.values(part).join()}`,
      seconds: 60,
      probe: async () => {
        const { body } = await asked(user, 'get', path);
        return Object.entries(part).every(([key, value]) => body[key as keyof Node] === value) || undefined;
      },
      explain: async () => (await asked(user, 'get', path)).text,
    });
  for (const [target, state] of [
    ['manage', 'manageable'],
    ['provide', 'available'],
    ['active', 'active'],
  ] as const) {
    expect(await asked(user, 'put', `${path}/states/provision`, { target })).toMatchObject({ status: 202 });
    await reaches({ provision_state: state });
  }
  for (const target of ['power off', 'power on']) {
    expect(await asked(user, 'put', `${path}/states/power`, { target })).toMatchObject({ status: 202 });
    await reaches({ power_state: target });
  }
  await ironic({ enabled: false }, 'has 1 node');
  await ironic({ enabled: true, enabledDrivers });
  expect((await asked(user, 'get', path)).body).toMatchObject({ name, provision_state: 'active' });
  expect(await asked(user, 'put', `${path}/states/provision`, { target: 'deleted' })).toMatchObject({ status: 202 });
  await reaches({ provision_state: 'available' });
  expect(await asked(user, 'delete', path)).toMatchObject({ status: 204 });
});
