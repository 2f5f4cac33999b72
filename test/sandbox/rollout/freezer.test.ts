import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';

const spec = { ...identityOnly, imageRegistry: 'registry.example.com/openstack' };
const job = {
  client_id: 'node-1',
  job_actions: [{ freezer_action: { action: 'backup', mode: 'fs', path_to_backup: '/etc' } }],
};

/** Where the administrator's project has its clients and jobs. */
async function urlOf(cloud: Cloud): Promise<string> {
  const project = (await entitiesOf(cloud, 'projects')).find(({ name }) => name === 'admin');
  return `http://my-cloud-freezer-api.openstack.svc:9090/v2/${String(project?.id)}`;
}

async function jobsOf(cloud: Cloud): Promise<readonly unknown[]> {
  return (JSON.parse(await ask(cloud, await login(cloud), `${await urlOf(cloud)}/jobs`)) as { jobs: unknown[] }).jobs;
}

test('below a control plane with Swift it is Ready; jobs of a client outlive that it was disabled', async () => {
  const { cloud } = await readyCloud({ spec: { ...spec, swift: {}, freezer: {} } });
  expect(cloud.isReady('Freezer', 'my-cloud-freezer')).toBe(true);
  expect(cloud.get('Freezer', 'my-cloud-freezer')?.['spec']).toMatchObject({ swiftRef: { name: 'my-cloud-swift' } });
  expect(await entitiesOf(cloud, 'services')).toContainEqual(
    expect.objectContaining({ name: 'freezer', type: 'backup' }),
  );
  const token = await login(cloud);
  const url = await urlOf(cloud);
  await request(cloud, token, 'POST', `${url}/clients`, { client_id: 'node-1', hostname: 'node-1' });
  await request(cloud, token, 'POST', `${url}/jobs`, job);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { freezer: { enabled: false } } });
  await cloud.until(() => cloud.get('Freezer', 'my-cloud-freezer') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { freezer: { enabled: null } } });
  await cloud.ready();
  expect(await jobsOf(cloud)).toMatchObject([{ client_id: 'node-1' }]);
});

test('without a Swift it says what it misses; it needs none where backups land elsewhere', async () => {
  const { cloud } = await readyCloud({ spec });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { freezer: { enabled: true } } });
  const told = () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'FreezerReady')?.message ?? '';
  await cloud.until(() => told().includes('swift'));
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { freezer: { storageBackend: 'ssh' } } });
  await cloud.ready();
  expect(await jobsOf(cloud)).toEqual([]);
});
