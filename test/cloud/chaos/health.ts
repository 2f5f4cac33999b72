import { admin } from '../fixture.ts';
import { program } from '../kubernetes.ts';
import { User } from '../running-cloud.ts';
import type { Identity } from '../sdk.ts';
import { until } from '../until.ts';

/** Who gives up after a while: an API whose backend is gone may keep a request for minutes. */
export function impatient(identity: Identity): User {
  return new User({ ...identity, api_timeout: 15 });
}

const user = impatient(admin.identity);

/** What a user does first, each through its API: with a new token, and down to the hypervisor. */
const questions: Readonly<Record<string, () => Promise<unknown>>> = {
  'a token': () => newToken(user),
  images: () => user.call('image.images'),
  servers: () => user.call('compute.servers', { all_projects: true }),
  networks: () => user.call('network.networks'),
  // Written, and so in the database and in OVN's.
  'a new network': async () => {
    const name = 'acceptance-chaos';
    await user.call('network.create_network', { name });
    // Those, too, of which nobody was told that they were made.
    const made = await user.call<{ id: string }[]>('network.networks', { name });
    for (const { id } of made) await user.call('network.delete_network', id);
  },
};

/** Asks Keystone for a token, as nobody with a session of old would. */
async function newToken(someone: User): Promise<void> {
  const { auth } = await someone.call<{ auth: Record<'username' | 'password', string> }>('config.config');
  const { status, text } = await tokenFor(auth.username, auth.password);
  if (status !== 201) throw new Error(`a token for ${auth.username}: ${status} ${text}`);
}

/** Whether Keystone knows somebody by that password. */
export async function mayLogIn(name: string, password: string): Promise<boolean> {
  return (await tokenFor(name, password).catch(() => undefined))?.status === 201;
}

function tokenFor(name: string, password: string) {
  return user.call<{ status: number; text: string }>('identity.post', '/auth/tokens', {
    authenticated: false,
    raise_exc: false,
    json: {
      auth: {
        identity: { methods: ['password'], password: { user: { name, domain: { name: 'Default' }, password } } },
      },
    },
  });
}

/**
 * Waits until everything answers, twice in a row: what is about to end may answer once more. The console of a server,
 * where it runs, is asked for through the broker, the cell and libvirt.
 */
export async function answers(seconds: number, server?: string): Promise<void> {
  const console = () => user.call('compute.get_server_console_output', server);
  const all = { ...questions, ...(server === undefined ? {} : { 'a console': console }) };
  let rounds = 0;
  let trouble: string[] = [];
  await until({
    what: 'all APIs to answer',
    seconds,
    probe: async () => {
      const asked = Object.entries(all).map(async ([what, ask]) =>
        ask().then(
          () => [],
          (error: unknown) => [`${what}: ${String(error)}`],
        ),
      );
      trouble = (await Promise.all(asked)).flat();
      rounds = trouble.length === 0 ? rounds + 1 : 0;
      return rounds >= 2 ? true : undefined;
    },
    explain: async () => `${trouble.join('\n')}\n${await program('kubectl', 'get', 'pods', '--all-namespaces')}`,
  });
}

/** Waits until the operator says that the cloud is Ready, at its present generation. */
export async function ready(seconds: number): Promise<void> {
  const kind = 'openstackcontrolplanes.openstack.k8s.io';
  const get = async () => JSON.parse(await program('kubectl', 'get', kind, '--all-namespaces', '-o', 'json')) as Planes;
  await until({
    what: 'the control plane to be Ready',
    seconds,
    probe: async () => {
      const [plane] = (await get()).items;
      const condition = plane?.status.conditions.find(({ type }) => type === 'Ready');
      const current = condition?.observedGeneration === plane?.metadata.generation;
      return condition?.status === 'True' && current ? true : undefined;
    },
    explain: async () => JSON.stringify((await get()).items[0]?.status.conditions, null, 2),
  });
}

interface Planes {
  readonly items: readonly {
    readonly metadata: { readonly generation: number };
    readonly status: {
      readonly conditions: readonly {
        readonly type: string;
        readonly status: string;
        readonly observedGeneration: number;
      }[];
    };
  }[];
}
