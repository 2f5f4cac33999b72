import { Blazar, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';

const spec = { blazar: {} };
const url = 'http://my-cloud-blazar-api.openstack.svc:1234/v1';
const compute = 'http://my-cloud-nova-api.openstack.svc:8774/v2.1';

/** The answer to a request of the administrator, and its words where it is refused. */
async function asked<T>(cloud: Cloud, token: string, method: string, address: string, body?: object): Promise<T> {
  return JSON.parse((await request(cloud, token, method, address, body)) || '{}') as T;
}

/** Aggregates of Nova by their names, with their hosts. */
async function pools(cloud: Cloud, token: string): Promise<Record<string, readonly string[]>> {
  const answer = await ask(cloud, token, `${compute}/os-aggregates`);
  const { aggregates } = JSON.parse(answer) as { aggregates: { name: string; hosts: string[] }[] };
  return Object.fromEntries(aggregates.map(({ name, hosts }) => [name, hosts]));
}

/** What becomes of a new server, with the reservation that it names. */
async function boots(cloud: Cloud, token: string, reservation?: string): Promise<string> {
  const server = { name: 'guest', flavorRef: '1', networks: 'none' };
  const hints = reservation === undefined ? {} : { 'os:scheduler_hints': { reservation } };
  const made = await asked<{ server: { id: string } }>(cloud, token, 'POST', `${compute}/servers`, {
    server,
    ...hints,
  });
  await cloud.clock.advance(60_000);
  const shown = await ask(cloud, token, `${compute}/servers/${made.server.id}`);
  return (JSON.parse(shown) as { server: { status: string } }).server.status;
}

test('below a control plane that states it, a lease takes its host out of the pool, for who names it alone', async () => {
  const { cloud } = await readyCloud({ spec });
  expect(cloud.isReady('Blazar', 'my-cloud-blazar')).toBe(true);
  expect(await entitiesOf(cloud, 'services')).toContainEqual(
    expect.objectContaining({ name: 'blazar', type: 'reservation' }),
  );
  const token = await login(cloud);
  expect(await pools(cloud, token)).toEqual({ freepool: [] });
  await asked(cloud, token, 'POST', `${compute}/flavors`, { flavor: { name: 'tiny', vcpus: 1, ram: 64, disk: 1 } });
  expect(await boots(cloud, token)).toBe('ACTIVE');
  const host = { name: 'node-1' };
  expect(await ask(cloud, token, `${url}/os-hosts`, host)).toContain('found for host node-1');
  const { servers } = await asked<{ servers: readonly { id: string }[] }>(cloud, token, 'GET', `${compute}/servers`);
  for (const { id } of servers) await request(cloud, token, 'DELETE', `${compute}/servers/${id}`);
  await cloud.clock.advance(60_000);
  await asked(cloud, token, 'POST', `${url}/os-hosts`, host);
  expect(await pools(cloud, token)).toEqual({ freepool: ['node-1'] });
  const wanted = { name: 'week', reservations: [{ resource_type: 'physical:host', min: 1, max: 1 }] };
  const { lease } = await asked<{ lease: Record<string, string> }>(cloud, token, 'POST', `${url}/leases`, wanted);
  await cloud.clock.advance(15_000);
  const { id, reservation = '' } = lease;
  expect(JSON.parse(await ask(cloud, token, `${url}/leases/${id}`))).toMatchObject({ lease: { status: 'ACTIVE' } });
  expect(await pools(cloud, token)).toEqual({ freepool: [], [reservation]: ['node-1'] });
  expect(await boots(cloud, token)).toBe('ERROR');
  expect(await boots(cloud, token, reservation)).toBe('ACTIVE');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { blazar: { enabled: false } } });
  await cloud.until(() => cloud.get('Blazar', 'my-cloud-blazar') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { blazar: { enabled: null } } });
  await cloud.ready();
  const again = await login(cloud);
  await request(cloud, again, 'DELETE', `${url}/leases/${id}`);
  expect(await pools(cloud, again)).toEqual({ freepool: ['node-1'] });
});

test('without a manager it is not Ready, and a plug-in that there is not is refused', async () => {
  const { cloud } = await readyCloud({ spec });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { blazar: { managerReplicas: 0 } } });
  await cloud.until(() => cloud.condition(Blazar, 'my-cloud-blazar')?.status === 'False');
  const plugins = { spec: { blazar: { enabledPlugins: ['physical.hosts.plugin'] } } };
  await expect(cloud.change(OpenStackControlPlane, 'my-cloud', plugins)).rejects.toThrow('enabledPlugins');
});
