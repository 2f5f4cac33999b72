import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';

const url = 'http://my-cloud-masakari-api.openstack.svc:15868/v1';

/** A segment with a host of the cloud. */
async function protectedHost(cloud: Cloud, token: string, host: string): Promise<string> {
  const segment = { name: 'rack', recovery_method: 'auto', service_type: 'COMPUTE' };
  const made = await request(cloud, token, 'POST', `${url}/segments`, { segment });
  const { uuid } = (JSON.parse(made) as { segment: { uuid: string } }).segment;
  const body = { host: { name: host, type: 'COMPUTE', control_attributes: 'SSH' } };
  await request(cloud, token, 'POST', `${url}/segments/${uuid}/hosts`, body);
  return uuid;
}

test('with a Nova it takes hosts that Nova knows, and an engine takes notifications; a monitor runs beside guests', async () => {
  const { cloud } = await readyCloud({ spec: { masakari: {} } });
  expect(cloud.isReady('Masakari', 'my-cloud-masakari')).toBe(true);
  expect(cloud.get('DaemonSet', 'my-cloud-masakari-instance-monitor')?.['status']).toMatchObject({ numberReady: 1 });
  expect(await entitiesOf(cloud, 'services')).toContainEqual(
    expect.objectContaining({ name: 'masakari', type: 'instance-ha' }),
  );
  const token = await login(cloud);
  const segment = await protectedHost(cloud, token, 'node-1');
  const refused = { host: { name: 'nowhere', type: 'COMPUTE', control_attributes: 'SSH' } };
  expect(await ask(cloud, token, `${url}/segments/${segment}/hosts`, refused)).toContain(
    'Compute service with name nowhere could not be found.',
  );
  const payload = { event: 'STOPPED', host_status: 'NORMAL', cluster_status: 'OFFLINE' };
  const notification = { type: 'COMPUTE_HOST', hostname: 'node-1', generated_time: '2026-01-01T00:00:00', payload };
  await request(cloud, token, 'POST', `${url}/notifications`, { notification });
  await cloud.clock.advance(5000);
  expect(JSON.parse(await ask(cloud, token, `${url}/notifications`))).toMatchObject({
    notifications: [{ status: 'finished' }],
  });
});

test('segments are there again after it was switched off and on, in a cloud that has no Nova', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, rabbitmq: {}, masakari: { enableMonitors: false } } });
  const segment = { name: 'rack', recovery_method: 'auto', service_type: 'COMPUTE' };
  await request(cloud, await login(cloud), 'POST', `${url}/segments`, { segment });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { masakari: { enabled: false } } });
  await cloud.until(() => cloud.get('Masakari', 'my-cloud-masakari') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { masakari: { enabled: null } } });
  await cloud.ready();
  const token = await login(cloud);
  expect(JSON.parse(await ask(cloud, token, `${url}/segments`))).toMatchObject({ segments: [{ name: 'rack' }] });
});
