import { expect, test } from 'vitest';
import { guestImage, member, networks, tiny } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { prefix, type User } from '../running-cloud.ts';
import { Server } from '../server.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';

interface Balancer {
  readonly id: string;
  readonly provisioning_status: string;
}

const vip = '10.30.0.100';
const members = { 'web-one': '10.30.0.21', 'web-two': '10.30.0.22' };

/** Asks at the virtual address, all the time, each time from another port, and says who has answered. */
const asking = `while :; do
  printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 3 ${vip} 80 2> /dev/null | tail -n 1 | sed 's/^/== ANSWER of /'
  sleep 1
done`;

/** How often each member has answered so far, by what the client says. */
async function answers(client: Server): Promise<number[]> {
  const said = await client.console().catch(() => '');
  return Object.keys(members).map((name) => said.split(`== ANSWER of ${prefix}${name}`).length - 1);
}

/** Waits until both members have answered since now. */
async function isBalanced(client: Server): Promise<void> {
  const before = await answers(client);
  await until({
    what: `answers of both members at http://${vip}/`,
    seconds: 180,
    probe: async () => (await answers(client)).every((count, index) => count > (before[index] ?? 0)) || undefined,
    explain: async () => (await client.console()).split('\n').slice(-15).join('\n'),
  });
}

/** Rows of a load balancer in OVN's northbound database. */
async function inNorthbound(id: string): Promise<string> {
  const { name, namespace } = (await controlPlane()).metadata;
  const command = ['ovn-nbctl', '--no-leader-only', '--db=unix:/run/ovn/ovnnb_db.sock', '--bare', '--columns=vips'];
  const pod = `${name}-ovn-nb-db-0`;
  return program('kubectl', '-n', namespace, 'exec', pod, '--', ...command, 'find', 'Load_Balancer', `name=${id}`);
}

/** Waits until nothing is done with a load balancer any more. */
const becomes = (user: User, id: string, expected: 'ACTIVE' | 'ERROR'): Promise<true> =>
  until({
    what: `the load balancer to be ${expected}`,
    seconds: 120,
    probe: async () => {
      const { provisioning_status: status } = await user.call<Balancer>('load_balancer.get_load_balancer', id);
      if (status !== expected && !status.startsWith('PENDING_')) throw new Error(`the load balancer is ${status}`);
      return status === expected || undefined;
    },
  });

test('OVN balances connections to two servers, also while Octavia is disabled, until the load balancer is deleted', async () => {
  const octavia = optionalService('octavia', 'octavias');
  const enabled = octavia({ enabled: true });
  const [first, image, flavor, { near, nearSubnet }] = await Promise.all([member(), guestImage(), tiny(), networks()]);
  const start = (name: string, fixed_ip: string, script?: string) =>
    Server.create(first, {
      name,
      image,
      flavor,
      networks: [{ uuid: near, fixed_ip }],
      ...(script === undefined ? {} : { script }),
    });
  const [client, ...servers] = await Promise.all([
    start('web-client', '10.30.0.20', asking),
    ...Object.entries(members).map(([name, address]) => start(name, address)),
  ]);
  await enabled;
  const user = first.connectedAnew();
  const { id } = await user.call<Balancer>('load_balancer.create_load_balancer', {
    name: `${prefix}web`,
    vip_subnet_id: nearSubnet,
    vip_address: vip,
  });
  const make = async (what: string, ...args: readonly unknown[]): Promise<string> => {
    await becomes(user, id, 'ACTIVE');
    return (await user.call<{ id: string }>(`load_balancer.create_${what}`, ...args)).id;
  };
  const listener = await make('listener', { load_balancer_id: id, protocol: 'TCP', protocol_port: 80 });
  const behind = { listener_id: listener, protocol: 'TCP', lb_algorithm: 'SOURCE_IP_PORT' };
  const pool = await make('pool', behind);
  for (const address of Object.values(members))
    await make('member', pool, { address, protocol_port: 8080, subnet_id: nearSubnet });
  await becomes(user, id, 'ACTIVE');
  for (const address of Object.values(members)) expect(await inNorthbound(id)).toContain(`${address}:8080`);
  await Promise.all([client, ...servers].map((server) => server.says(/^== READY/m, 240)));
  await isBalanced(client);
  await octavia({ enabled: false }, 'has 1 load balancer');
  await isBalanced(client);
  await octavia({ enabled: true });
  expect(await user.call<Balancer>('load_balancer.get_load_balancer', id)).toMatchObject({
    provisioning_status: 'ACTIVE',
  });
  await user.call('load_balancer.delete_load_balancer', id, { cascade: true });
  await until({
    what: 'OVN to have no row of the load balancer',
    seconds: 120,
    probe: async () => (await inNorthbound(id)) === '' || undefined,
    explain: () => inNorthbound(id),
  });
  await Promise.all([client, ...servers].map((server) => server.delete()));
}, 900_000);

test('with the provider amphora there are workers; a load balancer without an image of it ends in ERROR', async () => {
  const octavia = optionalService('octavia', 'octavias');
  const amphora = {
    flavorID: 'none',
    imageOwnerID: 'nobody',
    managementNetworkID: 'none',
    securityGroupIDs: ['none'],
    controllerAddresses: ['192.0.2.10:5555'],
  };
  const [, first, { nearSubnet }] = await Promise.all([octavia({ enabled: true, amphora }), member(), networks()]);
  const user = first.connectedAnew();
  const { id } = await user.call<Balancer>('load_balancer.create_load_balancer', {
    name: `${prefix}server`,
    vip_subnet_id: nearSubnet,
    provider: 'amphora',
  });
  await becomes(user, id, 'ERROR');
  const { name, namespace } = (await controlPlane()).metadata;
  // Its certificate has been signed by then.
  const said = await program('kubectl', '-n', namespace, 'logs', `deployment/${name}-octavia-worker`, '--tail=2000');
  expect(said).toContain('ImageGetException: Failed to retrieve image with amphora tag.');
  await user.call('load_balancer.delete_load_balancer', id, { cascade: true });
  await until({
    what: 'the load balancer to be gone',
    seconds: 120,
    probe: async () =>
      (await user.call<Balancer[]>('load_balancer.load_balancers')).every((one) => one.id !== id) || undefined,
  });
}, 600_000);
