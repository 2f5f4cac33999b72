import { createServer, type Server as Listener } from 'node:net';
import { program } from './kubernetes.ts';
import { outside } from './provider-network.ts';
import { administrator, prefix, User } from './running-cloud.ts';
import { Server } from './server.ts';

/** Made when it is first asked for, and then kept: the files of the suite share what is slow to make. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

type Made = { readonly id: string };

/** Makes what plain users may not: projects, flavours, the network outside. */
export const admin = administrator();

/** A project with a plain user in it. */
async function project(name: string): Promise<User & { projectId: string }> {
  const password = `${prefix}password`;
  const [{ id }, user, role] = await Promise.all([
    admin.call<Made>('identity.create_project', { name: `${prefix}${name}`, domain_id: 'default' }),
    admin.call<Made>('identity.create_user', { name: `${prefix}${name}`, password, domain_id: 'default' }),
    admin.call<Made>('identity.find_role', 'member'),
  ]);
  await admin.call('identity.assign_project_role_to_user', id, user.id, role.id);
  const identity = {
    ...admin.identity,
    auth: { username: `${prefix}${name}`, password, project_name: `${prefix}${name}` },
  };
  return Object.assign(new User(identity), { projectId: id });
}

/** The plain user who does most of what the suite does. */
export const member = once(() => project('one'));
/** Somebody who must not see it. */
export const stranger = once(() => project('other'));

/** The guest of images/guest, for everybody. */
export const guestImage = image('guest');
/** The same disk once more: what servers are rebuilt with. */
export const otherGuestImage = image('guest-two');

function image(name: string): () => Promise<string> {
  return once(async () => {
    const { id } = await admin.call<Made>('image.create_image', `${prefix}${name}`, {
      filename: await program('images/guest/build'),
      disk_format: 'raw',
      container_format: 'bare',
      visibility: 'public',
      wait: true,
      allow_duplicates: true,
    });
    return id;
  });
}

function flavor(name: string, ram: number): () => Promise<string> {
  return once(async () => {
    const wanted = { name: `${prefix}${name}`, ram, vcpus: 1, disk: 1 };
    return (await admin.call<Made>('compute.create_flavor', wanted)).id;
  });
}
/** The flavour of all guests. */
export const tiny = flavor('tiny', 128);
/** What a guest is resized to. */
export const larger = flavor('larger', 192);

/** The network outside: the one that the cloud has, or one of the suite. */
export const externalNetwork = once(async () => {
  const [there] = await admin.call<Made[]>('network.networks', { is_router_external: true });
  if (there !== undefined) return there.id;
  const { id } = await admin.call<Made>('network.create_network', {
    name: `${prefix}outside`,
    is_router_external: true,
    provider_network_type: 'flat',
    provider_physical_network: 'physnet1',
  });
  await admin.call('network.create_subnet', {
    name: `${prefix}outside`,
    network_id: id,
    ip_version: 4,
    cidr: outside.cidr,
    gateway_ip: outside.gateway,
    is_dhcp_enabled: false,
    allocation_pools: [{ start: outside.first, end: outside.last }],
  });
  return id;
});

/** Ids of what `networks` makes. */
export interface Networks {
  readonly near: string;
  readonly far: string;
  readonly nearSubnet: string;
  readonly router: string;
}

/** Two networks of the member and the router between them, with a way out. */
export const networks = once(async (): Promise<Networks> => {
  const user = await member();
  const make = async (name: string, cidr: string) => {
    const network = await user.call<Made>('network.create_network', { name: `${prefix}${name}` });
    const subnet = { name: `${prefix}${name}`, network_id: network.id, ip_version: 4, cidr };
    return { network: network.id, subnet: (await user.call<Made>('network.create_subnet', subnet)).id };
  };
  const external = await externalNetwork();
  const [near, far, router] = await Promise.all([
    make('near', '10.30.0.0/24'),
    make('far', '10.31.0.0/24'),
    user.call<Made>('network.create_router', {
      name: `${prefix}router`,
      external_gateway_info: { network_id: external },
    }),
  ]);
  for (const { subnet } of [near, far]) await user.call('network.add_interface_to_router', router.id, { subnet });
  return { near: near.network, far: far.network, nearSubnet: near.subnet, router: router.id };
});

/** What arrives from guests at this machine, as `who: what`. */
export const arrived: string[] = [];
const listener = once(
  () =>
    new Promise<Listener>((resolve, reject) => {
      const server = createServer((socket) => {
        socket.on('data', (text) => arrived.push(`${socket.remoteAddress}: ${text.toString().trim()}`));
        socket.on('error', () => {});
        socket.end();
      });
      server.on('error', reject);
      server.unref().listen(0, outside.gateway, () => resolve(server));
    }),
);

/** Where the guests are: two in one network, one in the other. */
export const addresses = { one: '10.30.0.11', two: '10.30.0.12', three: '10.31.0.13' };

/** The servers of `guests`. */
export interface Guests {
  readonly one: Server;
  readonly two: Server;
  readonly three: Server;
}

/** Three servers: `two` pings the others and calls this machine, all the time, and says so on its console. */
export const guests = once(async (): Promise<Guests> => {
  const [user, image, size, { near, far }, server] = await Promise.all([
    member(),
    guestImage(),
    tiny(),
    networks(),
    listener(),
  ]);
  const { port } = server.address() as { port: number };
  const script = `ping_always() {
  while :; do
    if ping -c 1 -W 2 "$2" > /dev/null; then echo "== PING $1 answers"; else echo "== PING $1 is silent"; fi
    sleep 2
  done
}
ping_always one ${addresses.one} &
ping_always three ${addresses.three} &
while :; do
  hostname | nc -w 3 ${outside.gateway} ${port} > /dev/null 2>&1
  sleep 2
done`;
  const create = (name: keyof Guests, network: string, more: { script?: string; metadata?: Record<string, string> }) =>
    Server.create(user, {
      name,
      image,
      flavor: size,
      networks: [{ uuid: network, fixed_ip: addresses[name] }],
      ...more,
    });
  const [one, two, three] = await Promise.all([
    create('one', near, { script: 'echo "== SCRIPT says $((6 * 7))"', metadata: { purpose: 'acceptance' } }),
    create('two', near, { script }),
    create('three', far, {}),
  ]);
  await Promise.all([one, two, three].map((guest) => guest.reaches('ACTIVE', 180)));
  return { one, two, three };
});
