import { Cyborg, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';

const spec = { cyborg: { enabledDrivers: ['fake_driver'] } };
const url = 'http://my-cloud-cyborg-api.openstack.svc:6666/v2';
const profile = [{ name: 'fake', groups: [{ 'resources:FPGA': '1', 'trait:CUSTOM_FAKE_DEVICE': 'required' }] }];

async function namesOf(cloud: Cloud, token: string): Promise<string[]> {
  const answer = await ask(cloud, token, `${url}/device_profiles`);
  return (JSON.parse(answer) as { device_profiles: { name: string }[] }).device_profiles.map(({ name }) => name);
}

test('below a control plane that states it, each node of Nova reports devices; profiles outlive that it was off', async () => {
  const { cloud } = await readyCloud({ spec });
  expect(cloud.isReady('Cyborg', 'my-cloud-cyborg')).toBe(true);
  expect(await entitiesOf(cloud, 'services')).toContainEqual(
    expect.objectContaining({ name: 'cyborg', type: 'accelerator' }),
  );
  const pod = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith('my-cloud-cyborg-agent'));
  expect(pod?.['spec']).toMatchObject({ hostNetwork: true, containers: [{ securityContext: { runAsUser: 42_483 } }] });
  const token = await login(cloud);
  await request(cloud, token, 'POST', `${url}/device_profiles`, profile);
  expect(await namesOf(cloud, token)).toEqual(['fake']);
  await cloud.clock.advance(120_000);
  const devices = await ask(cloud, token, `${url}/devices`);
  expect(JSON.parse(devices)).toMatchObject({ devices: [{ hostname: 'node-1', type: 'FPGA' }] });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cyborg: { enabled: false } } });
  await cloud.until(() => cloud.get('Cyborg', 'my-cloud-cyborg') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cyborg: { enabled: null } } });
  await cloud.ready();
  expect(await namesOf(cloud, await login(cloud))).toEqual(['fake']);
});

test('without drivers there are no agents, and no device; without a conductor it is not Ready', async () => {
  const { cloud } = await readyCloud({ spec: { cyborg: {} } });
  expect(cloud.get('DaemonSet', 'my-cloud-cyborg-agent')).toBeUndefined();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cyborg: { conductorReplicas: 0 } } });
  await cloud.until(() => cloud.condition(Cyborg, 'my-cloud-cyborg')?.status === 'False');
});
