import { expect, test } from 'vitest';
import { type Changes, ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const conf = '/etc/octavia/octavia.conf';

/** Octavia's API and its agent on one host, and Neutron on another. */
async function running(change: (text: string) => string = (text) => text, { agent = true } = {}) {
  const changes: Changes = { [conf]: change };
  const { world, token, container } = await ground(changes);
  const neutron = container('neutron');
  await neutron.run(['neutron-db-manage', '--config-file', '/etc/neutron/neutron.conf', 'upgrade', 'heads']);
  neutron.start(['uwsgi', '--ini', '/neutron.ini']);
  const host = container('octavia');
  await host.run(['octavia-db-manage', 'upgrade', 'head']);
  const driver = agent ? host.start(['octavia-driver-agent']) : undefined;
  const api = host.start(['uwsgi', '--ini', '/octavia.ini']);
  await world.clock.advance(20_000);
  const post = async (name: string, port: number, path: string, body: object) => {
    const headers = { 'x-auth-token': token };
    const { status, body: said = '' } = await request(world, name, port, path, { method: 'POST', headers, body });
    await world.clock.advance(1000);
    return { status, said };
  };
  const balancer = async (more: object = {}) => {
    const { said } = await post('neutron', 9696, '/v2.0/networks', { network: { name: 'web' } });
    const { network } = JSON.parse(said) as { network: { id: string } };
    const asked = { vip_network_id: network.id, vip_address: '10.0.0.10', ...more };
    return post('octavia', 9876, '/v2/lbaas/loadbalancers', { loadbalancer: asked });
  };
  const statuses = async () => {
    const headers = { 'x-auth-token': token };
    const { body = '' } = await request(world, 'octavia', 9876, '/v2/lbaas/loadbalancers', { headers });
    return [...body.matchAll(/"provisioning_status":"(\w+)"/g)].map(([, status]) => status);
  };
  return { world, api, driver, balancer, statuses, post };
}

test('a load balancer is ACTIVE when OVN has it and the agent was told', async () => {
  const { balancer, statuses, post } = await running();
  const { said } = await balancer();
  expect(await statuses()).toEqual(['ACTIVE']);
  const { id } = (JSON.parse(said) as { loadbalancer: { id: string } }).loadbalancer;
  const pool = { loadbalancer_id: id, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' };
  expect(await post('octavia', 9876, '/v2/lbaas/pools', { pool })).toMatchObject({
    status: 501,
    said: expect.stringContaining('OVN provider does not support ROUND_ROBIN algorithm'),
  });
  expect(await balancer({ provider: 'amphora' })).toMatchObject({
    status: 400,
    said: expect.stringContaining("Provider 'amphora' is not enabled."),
  });
});

test('an agent that has gone leaves a load balancer in PENDING_CREATE', async () => {
  const { driver, api, balancer, statuses } = await running();
  await driver?.stop();
  await balancer();
  expect(await statuses()).toEqual(['PENDING_CREATE']);
  expect(api.output()).toContain('Error while updating the load balancer status');
});

test.each([
  ['there is none', (text: string) => text, false],
  ['its sockets are elsewhere', (text: string) => text.replaceAll('/run/octavia/', '/tmp/'), true],
])('the API does not start without its agent: %s', async (_title, change, agent) => {
  const { world, api } = await running(change, { agent });
  await world.clock.advance(180_000);
  expect(api.output()).toContain(
    'Unable to load provider driver ovn due to: Unable to open the driver agent socket: /run/octavia/status.sock',
  );
});

test('without the address of Neutron the public endpoint is asked, whatever the region', async () => {
  const { api, balancer } = await running((text) => text.replace(/endpoint_override = .*/, ''));
  expect((await balancer()).status).toBe(500);
  expect(api.output()).toContain('public endpoint for network service not found');
});
