import { OpenStackControlPlane, Tacker } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';

const spec = { heat: {}, tacker: {} };
const capacity = { cpu: '8', memory: '32Gi' };
const url = 'http://my-cloud-tacker-server.openstack.svc:9890';
const packages = `${url}/vnfpkgm/v1/vnf_packages`;

interface Package {
  readonly id: string;
  readonly onboardingState: string;
}

/** The cloud itself, as its administrator knows it. */
function vimOf(cloud: Cloud): object {
  const { password = '' } = (cloud.get('Secret', 'my-cloud-keystone-admin-password')?.['data'] ?? {}) as {
    password?: string;
  };
  return {
    vim: {
      name: 'here',
      type: 'openstack',
      auth_url: 'http://my-cloud-keystone-api.openstack.svc:5000/v3',
      auth_cred: { username: 'admin', password: Buffer.from(password, 'base64').toString() },
      vim_project: { name: 'admin' },
    },
  };
}

async function vimsOf(cloud: Cloud): Promise<{ name: string; auth_cred: Record<string, string> }[]> {
  const answer = await ask(cloud, await login(cloud), `${url}/v1.0/vims`);
  return (JSON.parse(answer) as { vims: { name: string; auth_cred: Record<string, string> }[] }).vims;
}

test('a package is unpacked, a cloud is registered, and both outlive that Tacker was disabled', async () => {
  const { cloud } = await readyCloud({ spec, capacity });
  expect(cloud.isReady('Tacker', 'my-cloud-tacker')).toBe(true);
  expect(await entitiesOf(cloud, 'services')).toContainEqual(
    expect.objectContaining({ name: 'tacker', type: 'nfv-orchestration' }),
  );
  const token = await login(cloud);
  const { id, onboardingState } = JSON.parse(await request(cloud, token, 'POST', packages, {})) as Package;
  expect(onboardingState).toBe('CREATED');
  const state = async () => (JSON.parse(await ask(cloud, token, `${packages}/${id}`)) as Package).onboardingState;
  const send = async (content: string) => {
    await request(cloud, token, 'PUT', `${packages}/${id}/package_content`, content);
    await cloud.clock.advance(5000);
  };
  await send('no archive');
  expect(await state()).toBe('CREATED');
  await send('PK: an archive');
  expect(await state()).toBe('ONBOARDED');
  await request(cloud, token, 'POST', `${url}/v1.0/vims`, vimOf(cloud));
  expect(await vimsOf(cloud)).toMatchObject([{ name: 'here', auth_cred: { key_type: 'fernet_key', password: '***' } }]);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { tacker: { enabled: false } } });
  await cloud.until(() => cloud.get('Tacker', 'my-cloud-tacker') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { tacker: { enabled: null } } });
  await cloud.ready();
  expect(await vimsOf(cloud)).toHaveLength(1);
  expect(JSON.parse(await ask(cloud, await login(cloud), packages))).toMatchObject([
    { id, onboardingState: 'ONBOARDED' },
  ]);
});

test('keys of clouds are secrets of the key manager, which is waited for; of two roles the API has those that are enabled', async () => {
  const { cloud } = await readyCloud({ spec: { heat: {} }, capacity });
  const change = (spec: object) => cloud.change(OpenStackControlPlane, 'my-cloud', { spec });
  await change({ tacker: { enabled: true, vimKeyStore: 'barbican', enableVNFM: false } });
  const told = () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'TackerReady')?.message ?? '';
  await cloud.until(() => told().includes('barbican'));
  await change({ barbican: { enabled: true } });
  await cloud.ready();
  const token = await login(cloud);
  await request(cloud, token, 'POST', `${url}/v1.0/vims`, vimOf(cloud));
  expect(await vimsOf(cloud)).toMatchObject([{ auth_cred: { key_type: 'barbican_key' } }]);
  expect(await ask(cloud, token, `${url}/vnflcm/v1/vnf_instances`)).toContain('Unknown API version specified');
  await change({ tacker: { components: { server: { replicas: 2 } } } });
  const refused = () => cloud.condition(Tacker, 'my-cloud-tacker', 'ConfigReady')?.message ?? '';
  await cloud.until(() => refused().includes('spec.components.server.replicas'));
});
