import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { admin, guestImage, member, networks, tiny } from '../fixture.ts';
import { inComponent } from '../pods.ts';
import { prefix, User } from '../running-cloud.ts';
import { Server } from '../server.ts';

/** What was acknowledged before anything happened, and has to be there whatever happens. */
export interface Witness {
  readonly server: Server;
  /** An image of text, so that it comes down as it went up. */
  readonly image: string;
  readonly user: User;
}

export async function bearWitness(): Promise<Witness> {
  const [user, image, flavor, { near }] = await Promise.all([member(), guestImage(), tiny(), networks()]);
  const server = await Server.create(user, { name: 'witness', image, flavor, networks: [{ uuid: near }] });
  await server.reaches('ACTIVE', 300);
  await server.says(/^== READY/m, 300);
  return { server, user, image: await textImage() };
}

async function textImage(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'openstack-operator-chaos-'));
  try {
    const filename = join(directory, 'text');
    await writeFile(filename, 'what was acknowledged stays\n'.repeat(40_000));
    const { id } = await admin.call<{ id: string }>('image.create_image', `${prefix}text`, {
      filename,
      disk_format: 'raw',
      container_format: 'bare',
      wait: true,
    });
    return id;
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Everything that must not change, as comparable facts. */
export async function facts({ server, image, user }: Witness): Promise<Record<string, unknown>> {
  const ids = async (call: string, query: object = {}) =>
    (await admin.call<{ id: string }[]>(call, query)).map(({ id }) => id).sort();
  const rows = async (list: string) =>
    (await inComponent('conductor', 'nova-manage', 'cell_v2', list)).split('\n').filter((line) => line.startsWith('|'))
      .length;
  const agents = async () =>
    (await admin.call<{ agent_type: string; host: string }[]>('network.agents'))
      .map(({ agent_type: type, host }) => `${type} on ${host}`)
      .sort();
  // A client whose token was revoked gets another; of several at once only one does (keystoneauth's invalidate). Keystone
  // is asked, because other services remember for minutes that a token was good.
  for (const one of [admin, server.user]) await one.call('identity.get', '/auth/projects');
  const state = server.state();
  const all: Readonly<Record<string, Promise<unknown>>> = {
    image: admin
      .call<{ text: string }>('image.download_image', image, { stream: false })
      .then(({ text }) => createHash('sha256').update(text).digest('hex')),
    status: state.then(({ status }) => status),
    addresses: state.then(({ addresses }) => addresses),
    // Somebody else's password, that no Secret holds.
    token: new User(user.identity).call<string>('authorize').then((token) => token.length > 0),
    services: ids('identity.services'),
    endpoints: ids('identity.endpoints'),
    users: ids('identity.users'),
    projects: ids('identity.projects'),
    roles: ids('identity.roles'),
    assignments: admin.call<unknown[]>('identity.role_assignments').then(({ length }) => length),
    networks: ids('network.networks'),
    ports: ids('network.ports'),
    flavors: ids('compute.flavors'),
    images: ids('image.images'),
    cells: rows('list_cells'),
    hosts: rows('list_hosts'),
    hypervisors: ids('compute.hypervisors'),
    agents: agents(),
  };
  const known = await Promise.all(Object.entries(all).map(async ([name, fact]) => [name, await fact] as const));
  return Object.fromEntries(known);
}
