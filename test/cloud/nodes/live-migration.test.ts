import { afterAll, beforeAll, expect, test } from 'vitest';
import { admin, externalNetwork, guestImage, member, networks, tiny } from '../fixture.ts';
import { program } from '../kubernetes.ts';
import { outside } from '../provider-network.ts';
import { Server } from '../server.ts';
import { until } from '../until.ts';
import { changeNova, kubectl, maintain } from './plane.ts';

let server: Server;
let floating: { readonly id: string; readonly floating_ip_address: string };
let rule: string;

const host = async () =>
  (await admin.call<{ hypervisor_hostname: string }>('compute.get_server', server.id)).hypervisor_hostname;

/** Seconds that the guest's kernel has run, as it said last; what it says at a host begins there. */
const uptime = async () =>
  Number(
    (await server.console())
      .match(/^== UPTIME [\d.]+$/gm)
      ?.at(-1)
      ?.split(' ')
      .at(-1) ?? Number.NaN,
  );

beforeAll(async () => {
  await changeNova({ liveMigration: { enabled: true } });
  const [user, image, flavor, { near }] = await Promise.all([member(), guestImage(), tiny(), networks()]);
  server = await Server.create(user, { name: 'mover', image, flavor, networks: [{ uuid: near }] });
  await server.reaches('ACTIVE', 240);
  const [port] = await user.call<{ id: string }[]>('network.ports', { device_id: server.id });
  floating = await user.call('network.create_ip', { floating_network_id: await externalNetwork(), port_id: port?.id });
  const [group] = await user.call<{ id: string }[]>('network.security_groups', { name: 'default' });
  const icmp = { security_group_id: group?.id, direction: 'ingress', ethertype: 'IPv4', protocol: 'icmp' };
  rule = (await user.call<{ id: string }>('network.create_security_group_rule', icmp)).id;
}, 900_000);
afterAll(async () => {
  const user = await member();
  await user.call('network.delete_ip', floating.id);
  await user.call('network.delete_security_group_rule', rule);
  await changeNova({ liveMigration: { enabled: false } });
}, 900_000);

const askNova = async (): Promise<void> => {
  await admin
    .call('compute.live_migrate_server', server.id, null, { block_migration: 'auto' })
    .catch((error: unknown) => {
      throw new Error(`the server does not move: ${String(error)}`);
    });
};

/**
 * Has the server moved, and pings its floating address five times a second meanwhile. Gives the longest silence, in
 * seconds.
 */
async function move(ask: () => Promise<void> = askNova): Promise<number> {
  await server.says(/^== UPTIME/m);
  const before = { host: await host(), uptime: await uptime() };
  // Its exit code tells of loss.
  const pings = program('sh', '-c', `ping -i 0.2 -w 45 -D ${floating.floating_ip_address} || true`);
  await ask();
  await until({
    what: 'the server to be on another node',
    seconds: 180,
    probe: async () => ((await server.state()).task_state === null && (await host()) !== before.host) || undefined,
    explain: async () => JSON.stringify(await admin.call('compute.server_migrations', server.id)),
  });
  await server.reaches('ACTIVE');
  // The same kernel goes on: it has not begun again, nor has it said a word of its start.
  await server.says(/^== UPTIME/m);
  expect(await uptime()).toBeGreaterThan(before.uptime);
  expect(await server.console()).not.toContain('== BOOT');
  const heard = (await pings).match(/^\[(\d+\.\d+)\] \d+ bytes/gm) ?? [];
  const times = heard.map((line) => Number(line.slice(1, line.indexOf(']'))));
  expect(times.length).toBeGreaterThan(100);
  return Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? time)));
}

test('a running server moves to the other node and back, with its disk and its addresses', async () => {
  await until({
    what: `the floating address to answer from ${outside.cidr}`,
    seconds: 120,
    probe: () => program('ping', '-c', '1', '-W', '2', floating.floating_ip_address).then(Boolean, () => undefined),
    explain: () => server.console(),
  });
  const first = await host();
  const there = await move();
  expect(await host()).not.toBe(first);
  const back = await move();
  expect(await host()).toBe(first);
  process.stdout.write(`silence of a guest that moves: ${there.toFixed(1)} s there, ${back.toFixed(1)} s back\n`);
  expect(Math.max(there, back)).toBeLessThan(15);
});

test('a node in maintenance is emptied of its servers, and gets none until that is over', async () => {
  const first = await host();
  const compute = async () => {
    const found = await admin.call<Record<string, unknown>[]>('compute.services', {
      host: first,
      binary: 'nova-compute',
    });
    return found.map(({ status, disabled_reason }) => [status, disabled_reason]);
  };
  let emptied: Promise<void> | undefined;
  const silence = await move(async () => {
    emptied = maintain(first, 'new kernel', 'Emptied');
  });
  await emptied;
  process.stdout.write(`silence of a guest that leaves a node in maintenance: ${silence.toFixed(1)} s\n`);
  expect(silence).toBeLessThan(15);
  expect(await compute()).toEqual([['disabled', 'openstack.k8s.io/maintenance: new kernel']]);
  await maintain(first, null, undefined);
  expect(await compute()).toEqual([['enabled', null]]);
  expect(await host()).not.toBe(first);
});

test('a host serves those alone who have a certificate of the cloud', async () => {
  const { items } = JSON.parse(await kubectl('get', 'nodes', '-o', 'json')) as {
    readonly items: readonly {
      readonly status: { readonly addresses: readonly { type: string; address: string }[] };
    }[];
  };
  for (const { status } of items) {
    const address = status.addresses.find(({ type }) => type === 'InternalIP')?.address ?? '';
    const ask = program('timeout', '5', 'openssl', 's_client', '-quiet', '-no_ign_eof', '-connect', `${address}:16514`);
    await expect(ask).rejects.toThrow(/unexpected eof|certificate required/);
  }
});
