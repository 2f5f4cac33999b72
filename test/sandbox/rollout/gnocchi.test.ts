import { Gnocchi, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { identityOnly, readyCloud } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';

const url = 'http://my-cloud-gnocchi-api.openstack.svc:8041/v1';

test('below a control plane that states it, it is Ready, and aggregates measures', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, gnocchi: {} } });
  expect(await entitiesOf(cloud, 'services')).toContainEqual(
    expect.objectContaining({ name: 'gnocchi', type: 'metric' }),
  );
  const token = await login(cloud);
  await request(cloud, token, 'POST', `${url}/resource/generic`, { id: 'one' });
  const measure = { timestamp: '2026-01-02T03:04:05', value: 42 };
  const batch = { one: { answer: { measures: [measure] } } };
  await request(cloud, token, 'POST', `${url}/batch/resources/metrics/measures?create_metrics=true`, batch);
  const measures = () => ask(cloud, token, `${url}/resource/generic/one/metric/answer/measures`);
  expect(JSON.parse(await measures())).toEqual([]);
  await cloud.clock.advance(70_000);
  expect(JSON.parse(await measures())).toEqual([[measure.timestamp, 300, 42]]);
});

test('a second pod, which would find no volume, is refused', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, gnocchi: {} } });
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { gnocchi: { components: { api: { replicas: 2 } } } },
  });
  const told = () => cloud.condition(Gnocchi, 'my-cloud-gnocchi', 'ConfigReady')?.message ?? '';
  await cloud.until(() => told().includes('at most 1'));
});
