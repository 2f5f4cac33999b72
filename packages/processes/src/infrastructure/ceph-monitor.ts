import type { Process, Program } from '@openstack-operator/sandbox';
import { CommandError, commandWith, makeDirectories, notModelled, terminated } from '../program-support.ts';
import { answering } from './wire.ts';

/** Where monitors listen, by the older of their protocols. */
export const monitorPort = 6789;

/** What a client's command asks of a cluster. */
export interface CephRequest {
  /** Whom it logs in as, without `client.`, and with what. */
  readonly user: string;
  readonly key: string;
  readonly program: 'ceph' | 'rados' | 'rbd' | 'radosgw';
  /** Of `radosgw`: `start`; `get`, `put`, `delete` and `list` with a name. */
  readonly operands: readonly string[];
  /** Of `rados`. */
  readonly pool?: string;
  /** Of a new pool. */
  readonly size?: string;
  /** How the answer is to look. */
  readonly format?: string;
  /** What `-i` names, or an object is made of, read; what `put` keeps. */
  readonly input?: string;
  /** `--yes-i-really-mean-it`. */
  readonly isMeant?: true;
}

/** How the command ends. */
export interface CephAnswer {
  readonly code: number;
  readonly said: string;
  /** It does not end before there is room in the pool. */
  readonly waits?: true;
}

/** Somebody that the cluster knows. */
interface Entity {
  readonly key: string;
  readonly caps: Readonly<Record<string, string>>;
}

interface Cluster {
  readonly fsid: string;
  /** By their names, such as `client.cinder`. */
  readonly entities: Record<string, Entity>;
  /** By name. */
  readonly pools: Record<string, Pool>;
  readonly filesystems: string[];
  /** How many bytes objects have, as `pool/object`, and groups of subvolumes. */
  readonly objects: Record<string, number>;
  /** What object gateways keep, by name. */
  readonly kept: Record<string, string>;
}

interface Pool {
  readonly applications: Record<string, object>;
  /** Number of copies. */
  readonly size: number;
  /** How many bytes it may hold, by its quota. */
  readonly quota?: number;
}

/** Bytes of the only device. */
const deviceSize = 10 * 2 ** 30;

/** What is in a pool. */
function objectsIn({ objects }: Cluster, pool: string): number[] {
  return Object.entries(objects).flatMap(([path, bytes]) => (path.startsWith(`${pool}/`) ? [bytes] : []));
}

const sum = (all: readonly number[]) => all.reduce((one, other) => one + other, 0);

/** Whether it holds as much as its quota lets it: nothing is written there then. */
function isFull(cluster: Cluster, pool: string): boolean {
  const { quota = 0 } = cluster.pools[pool] ?? {};
  return quota > 0 && sum(objectsIn(cluster, pool)) >= quota;
}

/** `ceph health`. A pool that is full is the only thing that is ever wrong. */
function health(cluster: Cluster, detailed: boolean): string {
  const full = Object.keys(cluster.pools).filter((pool) => isFull(cluster, pool));
  if (full.length === 0) return 'HEALTH_OK';
  const summary = `${full.length} pool(s) full`;
  const details = full.map((pool) => `    pool '${pool}' is full (running out of quota)`);
  return [`HEALTH_WARN ${summary}`, ...(detailed ? [`[WRN] POOL_FULL: ${summary}`, ...details] : [])].join('\n');
}

/** `ceph df --format json` (PGMap.cc): 5 percent of a device are never given to clients. */
function usage(cluster: Cluster): object {
  const used = (pool: string, { size }: Pool) => sum(objectsIn(cluster, pool)) * size;
  const pools = Object.entries(cluster.pools);
  const taken = sum(pools.map(([name, pool]) => used(name, pool)));
  const totals = {
    total_bytes: deviceSize,
    total_avail_bytes: deviceSize - taken,
    total_used_bytes: taken,
    total_used_raw_bytes: taken,
    total_used_raw_ratio: taken / deviceSize,
  };
  const free = Math.floor(deviceSize * 0.95) - taken;
  return {
    stats: { ...totals, num_osds: 1 },
    stats_by_class: { hdd: totals },
    pools: pools.map(([name, pool], index) => ({
      name,
      id: index + 1,
      stats: {
        stored: sum(objectsIn(cluster, name)),
        objects: objectsIn(cluster, name).length,
        kb_used: Math.ceil(used(name, pool) / 1024),
        bytes_used: used(name, pool),
        percent_used: used(name, pool) / (used(name, pool) + free),
        max_avail: Math.floor(free / pool.size),
      },
    })),
  };
}

const done = (said = ''): CephAnswer => ({ code: 0, said });
const errors = { EPERM: 1, ENOENT: 2, EACCES: 13, EEXIST: 17, EINVAL: 22 } as const;
const error = (name: keyof typeof errors, words: string): CephAnswer => ({
  code: errors[name],
  said: `Error ${name}: ${words}`,
});

/** The sections of a keyring. */
function entitiesIn(keyring: string): Record<string, Entity> {
  const sections = keyring.split(/^\[/m).slice(1);
  return Object.fromEntries(
    sections.map((text) => {
      const caps = [...text.matchAll(/^\s*caps (\w+) = "(.*)"$/gm)].map(([, daemon = '', rights = '']) => [
        daemon,
        rights,
      ]);
      const key = /^\s*key\s*=\s*(\S+)/m.exec(text)?.[1] ?? '';
      return [text.slice(0, text.indexOf(']')), { key, caps: Object.fromEntries(caps) as Entity['caps'] }];
    }),
  );
}

const grants = ({ caps }: Entity, daemon: string): string[] =>
  (caps[daemon] ?? '').split(/[,;]/).map((one) => one.trim());

const isAdmin = (entity: Entity, daemon: string): boolean => grants(entity, daemon).includes('allow *');

/** What an entity may do in a pool. */
function rightsIn(entity: Entity, pool: string): 'write' | 'read' | undefined {
  const all = grants(entity, 'osd');
  const may = (profile: string) => all.includes(profile) || all.includes(`${profile} pool=${pool}`);
  if (isAdmin(entity, 'osd') || may('profile rbd') || all.includes('allow rwx')) return 'write';
  return may('profile rbd-read-only') ? 'read' : undefined;
}

/** Capabilities as they follow each other in a command. */
const capsOf = (words: readonly string[]): Entity['caps'] =>
  Object.fromEntries(words.flatMap((word, index) => (index % 2 === 0 ? [[word, words[index + 1] ?? '']] : [])));

/** What anybody may ask that monitors let read. */
function look(cluster: Cluster, { operands, format }: CephRequest): CephAnswer | undefined {
  const { fsid, pools, filesystems } = cluster;
  const [one, two, ...words] = operands;
  if (one === 'fsid') return done(fsid);
  if (one === 'health') return done(health(cluster, two === 'detail'));
  if (one === 'df' && format?.startsWith('json'))
    // The program begins what is no table with an empty line.
    return done(`\n${JSON.stringify(usage(cluster), undefined, format === 'json' ? 0 : 4)}`);
  if (one === 'fs' && two === 'ls')
    return done(
      filesystems
        .map((name) => `name: ${name}, metadata pool: cephfs.${name}.meta, data pools: [cephfs.${name}.data ]`)
        .join('\n') || 'No filesystems enabled',
    );
  if (one === 'fs' && two === 'get') {
    const [name = ''] = words;
    return filesystems.includes(name)
      ? done(`Filesystem '${name}' (1)`)
      : error('ENOENT', `filesystem '${name}' not found`);
  }
  if ([one, two, ...words.slice(0, 2)].join(' ') !== 'osd pool application get') return undefined;
  const pool = pools[words[2] ?? ''];
  return pool === undefined
    ? error('ENOENT', `unrecognized pool '${words[2]}'`)
    : done(JSON.stringify(pool.applications, undefined, 4));
}

/** What changes pools. */
function changePool({ pools }: Cluster, { operands, size, isMeant }: CephRequest): CephAnswer | undefined {
  const [one, two, verb, ...words] = operands;
  if (one !== 'osd' || two !== 'pool') return undefined;
  if (verb === 'create') {
    const [pool = ''] = words;
    // It ends with 0 all the same (18.2.7).
    if (pool.startsWith('.') && isMeant !== true) return done('pool names beginning with . are not allowed');
    if (pools[pool] !== undefined) return done(`pool '${pool}' already exists`);
    pools[pool] = { applications: {}, size: Number(size ?? 3) };
    return done(`pool '${pool}' created`);
  }
  if (verb === 'set-quota') {
    const [pool = '', field = '', value = ''] = words;
    const found = pools[pool];
    if (found === undefined) return error('ENOENT', `unrecognized pool '${pool}'`);
    if (field !== 'max_bytes') return undefined;
    pools[pool] = { ...found, quota: Number(value) };
    return done(`set-quota max_bytes = ${value} for pool ${pool}`);
  }
  const [enable, pool = '', application = ''] = words;
  if (verb !== 'application' || enable !== 'enable') return undefined;
  const found = pools[pool];
  if (found === undefined) return error('ENOENT', `unrecognized pool '${pool}'`);
  found.applications[application] = {};
  return done(`enabled application '${application}' on pool '${pool}'`);
}

/** What changes users. */
function administer(cluster: Cluster, { operands, input }: CephRequest): CephAnswer | undefined {
  const [one, two, name = '', ...caps] = operands;
  const { entities } = cluster;
  const entity = entities[name];
  if (one !== 'auth') return undefined;
  if (two === 'add') {
    const key = entitiesIn(input ?? '')[name]?.key;
    if (key === undefined) return error('EINVAL', `key for ${name} not found in provided keyring`);
    if (entity !== undefined && entity.key !== key)
      return error('EEXIST', `entity ${name} exists but key does not match`);
    entities[name] = { key, caps: capsOf(caps) };
    return done(`added key for ${name}`);
  }
  if (entity === undefined) return error('ENOENT', `failed to find ${name} in keyring`);
  if (two === 'caps') {
    entities[name] = { ...entity, caps: capsOf(caps) };
    return done(`updated caps for ${name}`);
  }
  if (two !== 'get') return undefined;
  const daemons = Object.entries(entity.caps).sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = daemons.map(([daemon, rights]) => `\tcaps ${daemon} = "${rights}"\n`);
  return done(`[${name}]\n\tkey = ${entity.key}\n${lines.join('')}`.trimEnd());
}

/** What the manager does. */
function manage(cluster: Cluster, entity: Entity, [, what, verb, name = '', group]: readonly string[]): CephAnswer {
  const { filesystems, pools, objects } = cluster;
  if (what === 'volume' && verb === 'create') {
    if (!isAdmin(entity, 'mgr')) return error('EACCES', 'access denied');
    for (const kind of ['meta', 'data']) pools[`cephfs.${name}.${kind}`] = { applications: { cephfs: {} }, size: 3 };
    filesystems.push(name);
    return done();
  }
  if (!isAdmin(entity, 'mgr') && !grants(entity, 'mgr').includes('allow rw')) return error('EACCES', 'access denied');
  if (!filesystems.includes(name)) return error('ENOENT', `Volume ${name} not found`);
  return verb === 'create' ? made(objects, `${name}/${group}`, 0) : removed(objects, `${name}/${group}`);
}

function made(objects: Cluster['objects'], path: string, bytes: number): CephAnswer {
  objects[path] = bytes;
  return done();
}

function removed(objects: Cluster['objects'], path: string): CephAnswer {
  delete objects[path];
  return done();
}

/** What `rados` and `rbd` do in a pool. */
function usePool(cluster: Cluster, entity: Entity, request: CephRequest): CephAnswer {
  const { program, operands, pool: named, input = '' } = request;
  const [verb = '', second = ''] = operands;
  const pool = named ?? operands.at(-1) ?? '';
  const found = cluster.pools[pool];
  if (found === undefined)
    return {
      code: 2,
      said: `${program === 'rbd' ? 'rbd: ' : ''}error opening pool '${pool}': (2) No such file or directory`,
    };
  const rights = rightsIn(entity, pool);
  if (program === 'rbd' && verb === 'ls')
    return rights === undefined ? { code: 1, said: 'rbd: listing images failed: (1) Operation not permitted' } : done();
  const path = `${pool}/${second}`;
  if (rights !== 'write') return { code: 1, said: `error creating ${path}: (1) Operation not permitted` };
  if (program === 'rbd') {
    if (!isAdmin(entity, 'mon')) return { code: 1, said: 'rbd: failed to enable application: (13) Permission denied' };
    found.applications['rbd'] = {};
    return done();
  }
  if (verb === 'rm') return removed(cluster.objects, path);
  if (isFull(cluster, pool)) return { code: 143, said: '', waits: true };
  return verb === 'create' && path in cluster.objects
    ? { code: 1, said: `error creating ${path}: (17) File exists` }
    : made(cluster.objects, path, input.length);
}

/** What object gateways ask, which make their pools when they start. */
function serveObjects(cluster: Cluster, entity: Entity, { operands, input = '' }: CephRequest): CephAnswer {
  const { kept, pools } = cluster;
  const [verb, name = ''] = operands;
  const mayMake = isAdmin(entity, 'mon') || grants(entity, 'mon').includes('allow rw');
  if (!mayMake || rightsIn(entity, '.rgw.root') !== 'write') return { code: errors.EPERM, said: '' };
  if (verb === 'start')
    for (const pool of ['.rgw.root', ...['log', 'control', 'meta'].map((one) => `default.rgw.${one}`)])
      pools[pool] ??= { applications: { rgw: {} }, size: 3 };
  if (verb === 'put') kept[name] = input;
  if (verb === 'delete') delete kept[name];
  if (verb === 'list') {
    const below = Object.entries(kept).filter(([one]) => one.startsWith(`${name}/`));
    const rows = below.map(([one, text]) => [one.slice(name.length + 1), text.length] as const);
    // What is in a container has its name and another one.
    const isAccount = !name.includes('/');
    return done(JSON.stringify(Object.fromEntries(rows.filter(([one]) => !isAccount || !one.includes('/')))));
  }
  if (verb !== 'get') return done();
  const found = kept[name];
  return found === undefined ? { code: errors.ENOENT, said: '' } : done(found);
}

function answer(cluster: Cluster, request: CephRequest): CephAnswer {
  const { user, key, program, operands } = request;
  const entity = cluster.entities[`client.${user}`];
  if (entity === undefined || entity.key !== key)
    return { code: 13, said: '[errno 13] RADOS permission denied (error connecting to the cluster)' };
  if (program === 'radosgw') return serveObjects(cluster, entity, request);
  if (program !== 'ceph') return usePool(cluster, entity, request);
  const asked = look(cluster, request);
  const mon = grants(entity, 'mon');
  const mayLook = mon.some((one) => ['allow *', 'allow r', 'allow rw', 'profile rbd'].includes(one));
  if (asked !== undefined) return mayLook ? asked : error('EACCES', 'access denied');
  if (operands[0] === 'fs') return manage(cluster, entity, operands);
  const ofPools = mon.includes('allow rw') || isAdmin(entity, 'mon') ? changePool(cluster, request) : undefined;
  if (ofPools !== undefined) return ofPools;
  if (!isAdmin(entity, 'mon')) return error('EACCES', 'access denied');
  return administer(cluster, request) ?? error('EINVAL', 'invalid command');
}

const store = (id: string): string => `/var/lib/ceph/mon/ceph-${id}`;

/** What a monitor has in its store. */
function read({ files }: Process, id: string): Cluster {
  if (!files.exists(`${store(id)}/store.db`))
    throw new CommandError(`monitor data directory at '${store(id)}' does not exist: have you run 'mkfs'?`);
  return JSON.parse(files.read(`${store(id)}/store.db`)) as Cluster;
}

/**
 * `ceph-mon`: a monitor, which knows pools, filesystems and users, and what these may do; manager and OSDs are part of it.
 * `--mkfs` makes its store, with the users of a keyring.
 */
export const cephMonitor: Program = commandWith(
  { flags: 'f mkfs', values: 'i|id fsid keyring public-addr' },
  async (process, line) => {
    const id = line.value('id') ?? '';
    if (line.has('mkfs')) {
      const entities = entitiesIn(process.files.read(line.value('keyring') ?? ''));
      const cluster: Cluster = {
        fsid: line.value('fsid') ?? '',
        entities,
        pools: {},
        filesystems: [],
        objects: {},
        kept: {},
      };
      makeDirectories(process, store(id));
      process.files.write(`${store(id)}/store.db`, JSON.stringify(cluster));
      return 0;
    }
    if (!line.has('f')) notModelled(process, 'how to run in the background');
    const cluster = read(process, id);
    const receive = answering((request: CephRequest) => {
      const answered = answer(cluster, request);
      process.files.write(`${store(id)}/store.db`, JSON.stringify(cluster));
      return answered;
    });
    process.network.listen(monitorPort, 'ceph', () => ({ receive }));
    await terminated(process);
    return 0;
  },
);
