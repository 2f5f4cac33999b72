import { get } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { arrived, externalNetwork, guests, member, networks } from './fixture.ts';
import { program } from './kubernetes.ts';
import { prefix, type User } from './running-cloud.ts';
import { until } from './until.ts';

interface FloatingAddress {
  readonly id: string;
  readonly floating_ip_address: string;
}

let user: User;
let floating: FloatingAddress;
let group: string;

beforeAll(async () => {
  user = await member();
  const { one } = await guests();
  const [port] = await user.call<{ id: string }[]>('network.ports', { device_id: one.id });
  floating = await user.call<FloatingAddress>('network.create_ip', {
    floating_network_id: await externalNetwork(),
    port_id: port?.id,
  });
  const [first] = await user.call<{ id: string }[]>('network.security_groups', { name: 'default' });
  group = first?.id ?? '';
}, 300_000);
afterAll(() => user.call('network.delete_ip', floating.id));

/** Opens the group for everybody; gives the rule. */
async function open(rule: { protocol: string; port?: number }): Promise<string> {
  const made = await user.call<{ id: string }>('network.create_security_group_rule', {
    security_group_id: group,
    direction: 'ingress',
    ethertype: 'IPv4',
    remote_ip_prefix: '0.0.0.0/0',
    protocol: rule.protocol,
    ...(rule.port === undefined ? {} : { port_range_min: rule.port, port_range_max: rule.port }),
  });
  return made.id;
}

/** What the guest serves at the floating address, or undefined. */
function served(): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = get(`http://${floating.floating_ip_address}:8080/`, { timeout: 2000, agent: false }, (response) => {
      response.toArray().then(
        (pieces) =>
          resolve(
            Buffer.concat(pieces as Buffer[])
              .toString()
              .trim(),
          ),
        () => resolve(undefined),
      );
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
  });
}

async function pings(): Promise<boolean> {
  return await program('ping', '-c', '1', '-W', '2', floating.floating_ip_address).then(
    () => true,
    () => false,
  );
}

async function becomes<T>(what: string, probe: () => Promise<T>, expected: T): Promise<void> {
  await until({
    what: `${what} at ${floating.floating_ip_address}`,
    seconds: 60,
    probe: async () => ((await probe()) === expected ? true : undefined),
    explain: async () => (await (await guests()).one.console()).split('\n').slice(-20).join('\n'),
  });
}

test('servers of one network reach each other', async () => {
  const { two } = await guests();
  await two.says(/^== PING one answers$/m);
});

test('servers of two networks reach each other through the router', async () => {
  const { two } = await guests();
  await two.says(/^== PING three answers$/m);
});

test("a server reaches the outside with its router's address", async () => {
  const { two } = await guests();
  const { router } = await networks();
  const { external_gateway_info: gateway } = await user.call<{
    external_gateway_info: { external_fixed_ips: { ip_address: string }[] };
  }>('network.get_router', router);
  const [address] = gateway.external_fixed_ips;
  await until({
    what: `a connection of ${two.name} from ${address?.ip_address}`,
    seconds: 60,
    probe: async () => arrived.find((words) => words.startsWith(`${address?.ip_address}: ${prefix}two`)),
    explain: async () => `what arrived: ${arrived.slice(-5).join('; ') || 'nothing'}`,
  });
});

test('a security group lets nobody in from outside, until it has a rule for it, and again when it has none', async () => {
  const { one } = await guests();
  await one.says(/^== READY/m);
  expect(await served(), 'before there is a rule').toBe(undefined);
  const rule = await open({ protocol: 'tcp', port: 8080 });
  const name = await until({
    what: `${one.name} to answer at http://${floating.floating_ip_address}:8080/`,
    seconds: 60,
    probe: served,
    explain: async () => JSON.stringify(await user.call('network.get_ip', floating.id)),
  });
  expect(name).toContain(`${prefix}one`);
  expect(await pings(), 'ICMP has no rule').toBe(false);
  await user.call('network.delete_security_group_rule', rule);
  await becomes('silence', served, undefined);
});

test('a floating address answers pings once the security group allows them', async () => {
  const rule = await open({ protocol: 'icmp' });
  await becomes('an answer to ping', pings, true);
  expect(await served(), 'TCP has no rule').toBe(undefined);
  await user.call('network.delete_security_group_rule', rule);
  await becomes('silence', pings, false);
});

test('a floating address moves to another server', async () => {
  const { two } = await guests();
  const rule = await open({ protocol: 'tcp', port: 8080 });
  const [port] = await user.call<{ id: string }[]>('network.ports', { device_id: two.id });
  await user.call('network.update_ip', floating.id, { port_id: port?.id });
  await becomes(`${prefix}two`, async () => (await served())?.includes(`${prefix}two`), true);
  await user.call('network.delete_security_group_rule', rule);
});
