import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { readyCloud, withResources } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';

const url = 'http://my-cloud-zun-api.openstack.svc:9517/v1';

test('a container finds no host, a registry is kept; both outlive that Zun was disabled, the proxy of consoles does not', async () => {
  const { cloud } = await readyCloud({ spec: { zun: {} }, capacity: { cpu: '8', memory: '32Gi' } });
  expect(cloud.isReady('Zun', 'my-cloud-zun')).toBe(true);
  expect(await entitiesOf(cloud, 'services')).toContainEqual(
    expect.objectContaining({ name: 'zun', type: 'container' }),
  );
  expect(cloud.get('Deployment', 'my-cloud-zun-wsproxy')).toBeDefined();
  const token = await login(cloud);
  const registry = { name: 'private', domain: 'registry.example.com', password: 'secret' };
  await request(cloud, token, 'POST', `${url}/registries`, { registry });
  const wanted = { name: 'web', image: 'nginx' };
  await expect(request(cloud, token, 'POST', `${url}/containers`, wanted)).rejects.toThrow(
    'There is no neutron network available',
  );
  const networks = 'http://my-cloud-neutron-server.openstack.svc:9696/v2.0/networks';
  await request(cloud, token, 'POST', networks, { network: { name: 'web' } });
  await request(cloud, token, 'POST', `${url}/containers`, wanted);

  const change = (zun: object) => cloud.change(OpenStackControlPlane, 'my-cloud', { ...withResources, spec: { zun } });
  await change({ enabled: false });
  await cloud.until(() => cloud.get('Zun', 'my-cloud-zun') === undefined);
  await change({ enabled: null, enableWebsocketProxy: false });
  await cloud.ready();
  expect(cloud.get('Deployment', 'my-cloud-zun-wsproxy')).toBeUndefined();
  const again = await login(cloud);
  expect(JSON.parse(await ask(cloud, again, `${url}/registries`))).toMatchObject({
    registries: [{ name: 'private', password: '***' }],
  });
  expect(JSON.parse(await ask(cloud, again, `${url}/containers`))).toMatchObject({
    containers: [{ name: 'web', status: 'Error', status_reason: 'There are not enough hosts available.' }],
  });
});
