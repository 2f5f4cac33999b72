import { CloudKitty, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { ask, call, entitiesOf, login, request } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const spec = {
  ...identityOnly,
  rabbitmq: {},
  glance: { enabled: true },
  gnocchi: {},
  ceilometer: { metricsBackend: 'gnocchi', pollingIntervalSeconds: 60 },
  cloudKitty: { config: { 'cloudkitty.conf': { collect: { period: 60 } } } },
};
const url = 'http://my-cloud-cloudkitty-api.openstack.svc:8889/v1';
const hashmap = `${url}/rating/module_config/hashmap`;
const minutes = 60_000;

/** Lets an image cost something, and makes one of the administrator. */
async function priced(cloud: Cloud, token: string): Promise<void> {
  await request(cloud, token, 'PUT', `${url}/rating/modules/hashmap`, { enabled: true });
  const made = await request(cloud, token, 'POST', `${hashmap}/services`, { name: 'image.size' });
  const { service_id } = JSON.parse(made) as { service_id: string };
  await request(cloud, token, 'POST', `${hashmap}/mappings`, { service_id, cost: '0.5', type: 'flat' });
  const image = { name: 'cirros', disk_format: 'raw', container_format: 'bare' };
  await request(cloud, token, 'POST', 'http://my-cloud-glance-api.openstack.svc:9292/v2/images', image);
}

/** What the administrator's project owes. */
async function rateOf(cloud: Cloud): Promise<number> {
  const { summary } = JSON.parse(await ask(cloud, await login(cloud), `${url}/report/summary`)) as {
    summary: { rate: string }[];
  };
  return Number(summary[0]?.rate);
}

test('what a project has used is rated once the user of CloudKitty has the role there, and outlives that it was off', async () => {
  const { cloud } = await readyCloud({ spec });
  expect(cloud.isReady('CloudKitty', 'my-cloud-cloudkitty')).toBe(true);
  expect(cloud.get('Job', 'my-cloud-cloudkitty-storage-init')).toBeDefined();
  expect(await entitiesOf(cloud, 'services')).toContainEqual(
    expect.objectContaining({ name: 'cloudkitty', type: 'rating' }),
  );
  const token = await login(cloud);
  await priced(cloud, token);
  const quote = { resources: [{ service: 'image.size', volume: '4' }] };
  expect(JSON.parse(await ask(cloud, token, `${url}/rating/quote`, quote))).toBe('2');
  await cloud.clock.advance(3 * minutes);
  expect(await rateOf(cloud)).toBe(0);
  const id = async (collection: string, name: string) =>
    (await entitiesOf(cloud, collection)).find((one) => one['name'] === name)?.id;
  const [project, user, role] = [
    await id('projects', 'admin'),
    await id('users', 'cloudkitty'),
    await id('roles', 'rating'),
  ];
  await call(cloud, await login(cloud), 'PUT', `/projects/${project}/users/${user}/roles/${role}`);
  await cloud.clock.advance(3 * minutes);
  const rate = await rateOf(cloud);
  expect(rate).toBeGreaterThan(0);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cloudKitty: { enabled: false } } });
  await cloud.until(() => cloud.get('CloudKitty', 'my-cloud-cloudkitty') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cloudKitty: { enabled: null } } });
  await cloud.ready();
  expect(await rateOf(cloud)).toBeGreaterThanOrEqual(rate);
});

const shared = sharedCloud(() => readyCloud({ spec: { ...identityOnly, rabbitmq: {} } }));

test('without a Gnocchi it does not come up, and says what it misses', async () => {
  const { cloud } = await shared();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cloudKitty: { enabled: true } } });
  const told = () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'CloudKittyReady')?.message ?? '';
  await cloud.until(() => told().includes('gnocchi'));
});

test('of a Prometheus it has to be told which metrics are rated', async () => {
  const prometheusURL = 'http://prometheus.monitoring.svc:9090/api/v1';
  const cloudKitty = { enabled: true, collector: 'prometheus', prometheusURL };
  const { cloud } = await shared();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cloudKitty } });
  const told = () => cloud.condition(CloudKitty, 'my-cloud-cloudkitty', 'ConfigReady')?.message ?? '';
  await cloud.until(() => told().includes('state metrics.yml'));
  const metrics = { ceilometer_image_size: { unit: 'B' } };
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { cloudKitty: { config: { 'metrics.yml': { metrics } } } },
  });
  await cloud.ready();
});
