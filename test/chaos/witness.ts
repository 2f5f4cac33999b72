import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { admin, guestImage, member, networks, tiny } from '../cloud/fixture.ts';
import { prefix, User } from '../cloud/running-cloud.ts';
import { Server } from '../cloud/server.ts';
import { type Container, containers, execute } from '../cloud/truth/pods.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

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
  const { text } = await admin.call<{ text: string }>('image.download_image', image, { stream: false });
  const { status, addresses } = await server.state();
  const cells = await nova('cell_v2', 'list_cells');
  return {
    image: sha256(text),
    status,
    addresses,
    // Somebody else's password, that no Secret holds.
    token: (await new User(user.identity).call<string>('authorize')).length > 0,
    services: await ids('identity.services'),
    endpoints: await ids('identity.endpoints'),
    users: await ids('identity.users'),
    projects: await ids('identity.projects'),
    roles: await ids('identity.roles'),
    assignments: (await admin.call<unknown[]>('identity.role_assignments')).length,
    networks: await ids('network.networks'),
    ports: await ids('network.ports'),
    flavors: await ids('compute.flavors'),
    images: await ids('image.images'),
    cells: cells.split('\n').filter((line) => line.startsWith('|')).length,
    hosts: (await nova('cell_v2', 'list_hosts')).split('\n').filter((line) => line.startsWith('|')).length,
    hypervisors: await ids('compute.hypervisors'),
    agents: (await admin.call<{ agent_type: string; host: string }[]>('network.agents'))
      .map(({ agent_type: type, host }) => `${type} on ${host}`)
      .sort(),
  };
}

/** What nova-manage says where cells are known. */
async function nova(...argv: readonly string[]): Promise<string> {
  const there = (await containers()).find(
    ({ service, component }) => service === 'nova' && component === 'conductor',
  ) as Container;
  const { code, stdout, stderr } = await execute(there, ['nova-manage', ...argv]);
  if (code !== 0) throw new Error(`nova-manage ${argv.join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}
