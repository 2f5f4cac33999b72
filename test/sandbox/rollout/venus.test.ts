import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { identityOnly, readyCloud } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';

const url = 'http://my-cloud-venus-api.openstack.svc:10010/v1';
const venus = { elasticsearchURL: 'http://opensearch.logging.svc:9200' };

test('rules of anomalies are kept, and outlive that Venus was disabled; nobody outside reaches it', async () => {
  const spec = { ...identityOnly, imageRegistry: 'registry.example.com/openstack', venus };
  const { cloud } = await readyCloud({ spec });
  expect(cloud.isReady('Venus', 'my-cloud-venus')).toBe(true);
  expect(await entitiesOf(cloud, 'services')).toContainEqual(expect.objectContaining({ name: 'venus', type: 'LMS' }));
  expect(cloud.list('HTTPRoute').map(({ metadata }) => metadata.name)).not.toContain('my-cloud-venus-api');
  const rule = { title: 'errors', desc: '', keyword: 'ERROR', log_type: 'flog', module: 'nova' };
  const token = await login(cloud);
  await request(cloud, token, 'POST', `${url}/anomaly/rule`, rule);
  expect(JSON.parse(await ask(cloud, token, `${url}/search/logs`))).toEqual({ code: 0, msg: 'no data, no index' });

  const change = (more: object) =>
    cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { venus: { ...venus, ...more } } });
  await change({ enabled: false });
  await cloud.until(() => cloud.get('Venus', 'my-cloud-venus') === undefined);
  await change({ enabled: null });
  await cloud.ready();
  expect(JSON.parse(await ask(cloud, await login(cloud), `${url}/anomaly/rule/list`))).toMatchObject({ rules: [rule] });
});
