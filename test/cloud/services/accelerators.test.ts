import { expect, onTestFinished, test } from 'vitest';
import { admin } from '../fixture.ts';
import { prefix } from '../running-cloud.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';

const enabledDrivers = ['fake_driver'];

test('agents report devices of nodes, and a device profile outlives that Cyborg was disabled', async () => {
  const cyborg = optionalService('cyborg', 'cyborgs');
  await cyborg({ enabled: true, enabledDrivers });
  const user = admin.connectedAnew();
  const asked = async (type: string, method: string, path: string, json?: object) => {
    const filter = { service_type: type, interface: 'public' };
    const options = { endpoint_filter: filter, raise_exc: false, ...(json === undefined ? {} : { json }) };
    return user.call<{ status: number; text: string }>('session.request', path, method, options);
  };
  onTestFinished(async () => {
    const { text } = await asked('placement', 'GET', '/resource_providers');
    const { resource_providers: all } = JSON.parse(text) as { resource_providers: { uuid: string; name: string }[] };
    const made = all.filter((one) => one.name.endsWith('_FakeDevice'));
    await Promise.all(made.map(({ uuid }) => asked('placement', 'DELETE', `/resource_providers/${uuid}`)));
  });
  await until({
    what: 'an agent to report a device',
    seconds: 150,
    probe: async () => (await asked('accelerator', 'GET', '/devices')).text.includes('"FPGA"') || undefined,
  });
  const name = `${prefix}profile`;
  const groups = [{ 'resources:FPGA': '1', 'trait:CUSTOM_FAKE_DEVICE': 'required' }];
  expect((await asked('accelerator', 'POST', '/device_profiles', [{ name, groups }])).status).toBe(201);
  await cyborg({ enabled: false });
  await cyborg({ enabled: true, enabledDrivers });
  expect((await asked('accelerator', 'GET', '/device_profiles')).text).toContain(name);
  expect((await asked('accelerator', 'DELETE', `/device_profiles?value=${name}`)).status).toBe(204);
});
