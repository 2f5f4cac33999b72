import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';

const images = { imageRegistry: 'registry.example.com/openstack' };
const url = 'http://my-cloud-vitrage-api.openstack.svc:8999/v1';

/** Nova comes up later than Vitrage: it is asked again after a minute. */
const often = { config: { 'vitrage.conf': { datasources: { snapshots_interval: 60 } } } };

interface Topology {
  readonly nodes: readonly { readonly vitrage_type: string; readonly name: string }[];
}

async function nodesOf(cloud: Cloud): Promise<Topology['nodes']> {
  const answer = await ask(cloud, await login(cloud), `${url}/topology`, { all_tenants: true });
  return (JSON.parse(answer) as Topology).nodes;
}

test('what the cloud has is in the graph, also what comes later; templates outlive that it was off', async () => {
  const { cloud } = await readyCloud({ spec: { ...images, vitrage: often } });
  expect(cloud.isReady('Vitrage', 'my-cloud-vitrage')).toBe(true);
  expect(await entitiesOf(cloud, 'services')).toContainEqual(expect.objectContaining({ name: 'vitrage', type: 'rca' }));
  await cloud.clock.advance(60_000);
  expect(await nodesOf(cloud)).toContainEqual(expect.objectContaining({ vitrage_type: 'nova.host', name: 'node-1' }));
  const token = await login(cloud);
  const neutron = 'http://my-cloud-neutron-server.openstack.svc:9696/v2.0';
  await request(cloud, token, 'POST', `${neutron}/networks`, { network: { name: 'late' } });
  await cloud.clock.advance(10_000);
  expect(await nodesOf(cloud)).toContainEqual(
    expect.objectContaining({ vitrage_type: 'neutron.network', name: 'late' }),
  );
  expect(JSON.parse(await ask(cloud, token, `${url}/service`))).not.toEqual([]);
  const templates = [['one.yaml', { metadata: { version: '3', name: 'one' } }]];
  await request(cloud, token, 'PUT', `${url}/template`, { templates, template_type: 'standard' });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { vitrage: { enabled: false } } });
  await cloud.until(() => cloud.get('Vitrage', 'my-cloud-vitrage') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { vitrage: { enabled: null } } });
  await cloud.ready();
  expect(JSON.parse(await ask(cloud, await login(cloud), `${url}/template`))).toMatchObject([{ name: 'one' }]);
});

test('without the graph nothing is answered; machine learning is a further program', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, ...images, rabbitmq: {}, vitrage: {} } });
  expect(await nodesOf(cloud)).toEqual([]);
  expect(cloud.get('Deployment', 'my-cloud-vitrage-ml')).toBeUndefined();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { vitrage: { graphReplicas: 0, enableML: true } } });
  await cloud.until(() => cloud.get('Deployment', 'my-cloud-vitrage-ml') !== undefined);
  await cloud.until(() => !cloud.list('Pod').some(({ metadata }) => metadata.name.includes('vitrage-graph')));
  expect(await ask(cloud, await login(cloud), `${url}/status`)).toContain('vitrage-graph not available');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { vitrage: { graphReplicas: 1 } } });
  await cloud.ready();
});
