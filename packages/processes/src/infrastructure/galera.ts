import { type Listener, type Process, SystemError } from '@openstack-operator/sandbox';
import { pause } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { detach, Group, type GroupMember, positionOf } from './galera-group.ts';
import { accountKey, type MariadbCatalog } from './mariadb-catalog.ts';
import { MysqlError } from './mysql-protocol.ts';
import { answering, ask } from './wire.ts';

const ports = { sst: 4444, galera: 4567, ist: 4568 };

/** Seconds after which a member that nobody hears of is taken out (evs.suspect_timeout). */
const suspectTimeout = 5000;

/** A server as a member of a cluster. */
export interface Membership {
  readonly status: () => Readonly<Record<string, string>>;
  /** Waits while it is not known who is there. @throws MysqlError 1047 without a majority */
  readonly admit: () => Promise<void>;
  readonly written: () => void;
  /** Leaves in order: the others do not miss it. */
  readonly leave: () => void;
}

/** What a server starts with. */
export interface MemberOptions {
  readonly settings: ReadonlyMap<string, string>;
  readonly datadir: string;
  readonly catalog: MariadbCatalog;
  readonly log: (level: string, text: string) => void;
}

/** Whether options make a member of a server. */
export function isMember(settings: ReadonlyMap<string, string>): boolean {
  return /^(on|1|true)?$/i.test(settings.get('wsrep-on') ?? 'OFF');
}

type Request =
  | { readonly type: 'join'; readonly member: GroupMember; readonly cluster: string }
  | { readonly type: 'transfer'; readonly address: string; readonly by: 'sst' | 'ist' };

/**
 * `mariadbd --wsrep-recover`: tells the position of a disk in the log.
 * @returns what it says when it gives up
 */
export function recover({ settings, catalog, log }: MemberOptions): readonly string[] {
  if (settings.get('wsrep-sst-method') === 'mariabackup' && !settings.has('wsrep-cluster-address'))
    return [`WSREP: wsrep_cluster_address is not set, and wsrep_sst_method is mariabackup`];
  detach(catalog);
  const { uuid, seqno } = positionOf(catalog) ?? { uuid: '00000000-0000-0000-0000-000000000000', seqno: -1 };
  log('Note', `WSREP: Recovered position: ${uuid}:${seqno}`);
  return [];
}

/** Begins a cluster, or joins one. @returns what the server says when it gives up, as `string[]` */
export async function becomeMember(process: Process, options: MemberOptions): Promise<Membership | readonly string[]> {
  const { settings, catalog, datadir } = options;
  const provider = settings.get('wsrep-provider') ?? 'none';
  if (!process.files.exists(provider))
    return [`WSREP: wsrep_load(): dlopen(): ${provider}: cannot open shared object file: No such file or directory`];
  const words = settings.get('wsrep-provider-options') ?? '';
  const unknown = words
    .split(';')
    .find((word) => word !== '' && !/^(gcache|gcs|gmcast|evs|pc|ist|repl|cert|socket|base_\w+)\b/.test(word.trim()));
  if (unknown !== undefined) return [`WSREP: Unrecognized parameter '${unknown.split('=')[0]}'`];
  detach(catalog);
  const name = settings.get('wsrep-node-name') ?? process.pod.hostname;
  const member = { name, address: settings.get('wsrep-node-address') ?? process.pod.ip, catalog };
  const begins = settings.has('wsrep-new-cluster');
  const state = `${datadir}/grastate.dat`;
  if (begins && process.files.exists(state) && /^safe_to_bootstrap: 0$/m.test(process.files.read(state)))
    return [
      'WSREP: It may not be safe to bootstrap the cluster from this node. It was not the last one to leave the cluster and may not contain all the updates. To force cluster bootstrap with this node, edit the grastate.dat file manually and set safe_to_bootstrap to 1 .',
    ];
  const found = begins ? begin(process, settings, member) : await join(process, options, member);
  if (!(found instanceof Group)) return found;
  const write = (seqno: number, isSafe: boolean): void =>
    process.files.write(
      state,
      `# GALERA saved state\nversion: 2.1\nuuid:    ${found.uuid}\nseqno:   ${seqno}\nsafe_to_bootstrap: ${isSafe ? 1 : 0}\n`,
    );
  write(-1, false);
  const listener = listen(process, options, { group: found, member });
  options.log('Note', 'WSREP: Synchronized with group, ready for connections');
  return {
    status: () => ({
      wsrep_ready: found.isPrimary ? 'ON' : 'OFF',
      wsrep_cluster_size: String(found.members.size),
      wsrep_cluster_status: found.isPrimary ? 'Primary' : 'non-Primary',
      wsrep_local_state_comment: found.isPrimary ? 'Synced' : 'Initialized',
    }),
    async admit() {
      while (found.isUnsettled) if (!(await pause(process, 100))) return;
      if (!found.isPrimary) throw new MysqlError(1047, 'WSREP has not yet prepared node for application use');
    },
    written: () => void (found.seqno += 1),
    leave() {
      listener.close();
      write(found.seqno, found.members.size === 1);
      found.leave(member, true);
    },
  };
}

function begin(process: Process, settings: ReadonlyMap<string, string>, member: GroupMember): Group {
  const [uuid, seqno = '0'] = settings.get('wsrep-start-position')?.split(':') ?? [];
  const random = () =>
    Math.floor(process.random.next() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const fresh = `${random()}-${random().slice(4)}-11f0-8000-${random()}${random().slice(4)}`;
  const group = new Group({ uuid: uuid ?? fresh, seqno: Number(seqno) });
  group.join(member);
  return group;
}

async function join(process: Process, options: MemberOptions, member: GroupMember): Promise<Group | readonly string[]> {
  const { settings, catalog, datadir, log } = options;
  const cluster = settings.get('wsrep-cluster-name') ?? 'my_wsrep_cluster';
  const hosts = (settings.get('wsrep-cluster-address') ?? '').replace(/^gcomm:\/\//, '').split(',');
  const [uuid, seqno = '-1'] = settings.get('wsrep-start-position')?.split(':') ?? [];
  const until = process.clock.monotonic() + 30_000;
  for (;;) {
    for (const host of hosts) {
      const group = await joinBy(process, host, { type: 'join', member, cluster });
      if (group === undefined) continue;
      if (typeof group === 'string') return [group];
      // Who has data, and does not say how far they go, believes to have all.
      if (positionOf(catalog) !== undefined && uuid === undefined) return group;
      if (uuid !== group.uuid || Number(seqno) < group.seqno) {
        const by = uuid === group.uuid ? 'ist' : 'sst';
        const mark = `${datadir}/sst_in_progress`;
        if (by === 'sst') process.files.write(mark, '');
        const listener = process.network.listen(ports[by], by, () => ({ receive: () => Promise.resolve(undefined) }));
        const failure = await transfer(process, host, { type: 'transfer', address: member.address, by });
        listener.close();
        if (failure !== undefined) return [`WSREP: State transfer request failed: ${failure}`];
        if (by === 'sst') {
          process.files.remove(mark);
          if (!process.files.exists(`${datadir}/mysql`)) process.files.mkdir(`${datadir}/mysql`, { mode: 0o700 });
        }
        log('Note', `WSREP: ${by.toUpperCase()} received`);
      }
      group.join(member);
      await greet(process, { group, member }, cluster);
      return group;
    }
    if (process.clock.monotonic() > until || !(await pause(process, 1000)))
      return [
        'WSREP: failed to open gcomm backend connection: 110: failed to reach primary view: 110 (Connection timed out)',
      ];
  }
}

/** @returns undefined when nobody is there */
async function joinBy(process: Process, host: string, request: Request): Promise<Group | string | undefined> {
  try {
    const connection = await process.network.connect(host, ports.galera, 'galera');
    const answer = await ask<Group | string>(connection, request);
    connection.close();
    return answer;
  } catch (error) {
    if (error instanceof SystemError) return undefined;
    throw error;
  }
}

async function transfer(process: Process, host: string, request: Request): Promise<string | undefined> {
  try {
    const connection = await process.network.connect(host, ports.galera, 'galera');
    return await ask<string | undefined>(connection, request);
  } catch (error) {
    if (error instanceof SystemError) return error.message;
    throw error;
  }
}

interface Self {
  readonly group: Group;
  readonly member: GroupMember;
}

/** Connects to all others: the end of a connection tells of the end of a member. */
async function greet(process: Process, self: Self, cluster: string): Promise<void> {
  for (const other of self.group.members) {
    if (other === self.member) continue;
    try {
      const connection = await process.network.connect(other.address, ports.galera, 'galera');
      await ask(connection, { type: 'join', member: self.member, cluster } satisfies Request);
      connection.closed.addEventListener('abort', () => void suspect(process, self, other), { once: true });
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
    }
  }
}

function listen(process: Process, options: MemberOptions, self: Self): Listener {
  const name = options.settings.get('wsrep-cluster-name') ?? 'my_wsrep_cluster';
  return process.network.listen(ports.galera, 'galera', () => {
    let peer: GroupMember | undefined;
    const answer = async (request: Request): Promise<unknown> => {
      if (request.type === 'transfer') return donate(process, options, request);
      if (request.cluster !== name)
        return `WSREP: gcs connect failed: group name mismatch: ${request.cluster}, expected ${name}`;
      peer = request.member;
      return self.group;
    };
    return {
      receive: answering(answer),
      closed: () => void (peer !== undefined && suspect(process, self, peer)),
    };
  });
}

/** The donor's side of a state transfer. @returns why it failed */
async function donate(
  process: Process,
  { settings, catalog }: MemberOptions,
  { address, by }: Extract<Request, { type: 'transfer' }>,
): Promise<string | undefined> {
  if (by === 'sst') {
    const [user = ''] = (settings.get('wsrep-sst-auth') ?? '').replaceAll('"', '').split(':');
    const held = catalog.accounts.get(accountKey(user, 'localhost'))?.grants.get('*');
    if (!['RELOAD', 'PROCESS', 'LOCK TABLES'].every((one) => held?.has(one) || held?.has('ALL PRIVILEGES')))
      return `mariabackup: Access denied for user '${user}'@'localhost'`;
  }
  try {
    const connection = await process.network.connect(address, ports[by], by);
    await pause(process, startTimes.galera[by]);
    connection.close();
    return undefined;
  } catch (error) {
    if (error instanceof SystemError) return error.message;
    throw error;
  }
}

/** Somebody is not heard of any more: without a word, it is taken out after a while. */
async function suspect(process: Process, { group, member }: Self, other: GroupMember): Promise<void> {
  if (!group.members.has(other) || !group.members.has(member)) return;
  group.misses(member, 1);
  try {
    await pause(process, suspectTimeout);
    // Who has ended itself reaches nobody, and does not judge.
    process.network.lookup('localhost');
    const connection = await process.network.connect(other.address, ports.galera, 'galera');
    connection.close();
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    if (error.code !== 'ECONNRESET') group.leave(other, false);
  } finally {
    group.misses(member, -1);
  }
}
