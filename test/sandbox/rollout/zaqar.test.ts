import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { entitiesOf, login } from './keystone.ts';

const spec = { ...identityOnly, imageRegistry: 'registry.example.com/openstack', zaqar: {} };

/** What Zaqar answers to one of its clients, which each has an identifier. */
async function asked(cloud: Cloud, token: string, method: string, path: string, body?: object): Promise<string> {
  const pod = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith('my-cloud-keystone-api-'));
  const url = `http://my-cloud-zaqar-api.openstack.svc:8888/v2${path}`;
  const headers = {
    'X-Auth-Token': token,
    'Client-ID': 'e0b2f0c2-5a3b-4c4e-9d59-0f8a3c1d2e4f',
    'Content-Type': 'application/json',
  };
  const argv = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const data = body === undefined ? [] : ['-d', JSON.stringify(body)];
  const name = pod?.metadata.name ?? '';
  const run = cloud.rehearsal.sandbox.pods.exec({ namespace: 'openstack', name }, [
    'curl',
    '-s',
    '-X',
    method,
    ...argv,
    ...data,
    url,
  ]);
  return (await cloud.settle(run)).stdout;
}

test('below a control plane it is Ready; messages are claimed once, and outlive that it was disabled', async () => {
  const { cloud } = await readyCloud({ spec });
  expect(await entitiesOf(cloud, 'services')).toContainEqual(expect.objectContaining({ type: 'messaging' }));
  const token = await login(cloud);
  await asked(cloud, token, 'PUT', '/queues/jobs', {});
  const messages = [{ body: 'one', ttl: 300 }];
  expect(await asked(cloud, token, 'POST', '/queues/jobs/messages', { messages })).toContain(
    '/v2/queues/jobs/messages/',
  );
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { zaqar: { enabled: false } } });
  await cloud.until(() => cloud.get('Zaqar', 'my-cloud-zaqar') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { zaqar: { enabled: null, enableWebsocket: false } } });
  await cloud.ready();
  expect(cloud.get('Deployment', 'my-cloud-zaqar-websocket')).toBeUndefined();
  const again = await login(cloud);
  expect(await asked(cloud, again, 'GET', '/queues')).toContain('"jobs"');
  expect(await asked(cloud, again, 'POST', '/queues/jobs/claims', { ttl: 60, grace: 60 })).toContain('"one"');
  expect(await asked(cloud, again, 'POST', '/queues/jobs/claims', { ttl: 60, grace: 60 })).toBe('');
});
