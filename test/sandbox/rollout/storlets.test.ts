import { OpenStackControlPlane, Swift } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { identityOnly, readyCloud } from './cloud.ts';
import { entitiesOf, login, request } from './keystone.ts';

const spec = {
  ...identityOnly,
  imageRegistry: 'registry.example.com/openstack',
  swift: { storageNodes: 1, storagePolicy: { partitionPower: 4, replicaCount: 1 } },
};
const proxy = 'http://my-cloud-swift-proxy.openstack.svc:8080';

test('the proxies of Swift have the API of storlets while it is enabled; the objects stay', async () => {
  const { cloud } = await readyCloud({ spec: { ...spec, storlets: {} } });
  expect(cloud.isReady('Storlets', 'my-cloud-storlets')).toBe(true);
  const token = await login(cloud);
  const ask = (method: string, path: string, body?: object) => request(cloud, token, method, `${proxy}${path}`, body);
  expect(await ask('GET', '/info')).toContain('StubStorletGateway');
  const id = (await entitiesOf(cloud, 'projects')).find(({ name }) => name === 'admin')?.id;
  const account = `/v1/AUTH_${id}`;
  for (const container of ['storlet', 'photos']) await ask('PUT', `${account}/${container}`);
  await ask('PUT', `${account}/photos/cat`, {});
  await expect(ask('PUT', `${account}/storlet/one.py`, {})).rejects.toThrow('Account disabled for storlets');

  const change = (swift: object, storlets: object) =>
    cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift, storlets } });
  const config = { 'proxy-server.conf': { 'filter:storlet_handler': { storlet_gateway_module: 'docker' } } };
  await change({ config }, {});
  await cloud.until(() => cloud.condition(Swift, 'my-cloud-swift', 'ConfigReady')?.reason === 'ConfigRefused');
  expect(cloud.condition(Swift, 'my-cloud-swift', 'ConfigReady')?.message).toContain('what Storlets needs; remove it');

  await change({ config: null }, { enabled: false });
  await cloud.until(() => cloud.get('Storlets', 'my-cloud-storlets') === undefined);
  await cloud.ready();
  expect(await ask('GET', '/info')).not.toContain('storlet');
  await ask('PUT', `${account}/storlet/one.py`, {});
  expect(await ask('GET', `${account}/photos/cat`)).toBe('{}');
});
