import type { CephPool, CephStorageSpec, CephUser } from './kind.ts';

/** Who writes to a pool. */
const writers: Readonly<Record<CephPool['purpose'], CephUser>> = {
  'cinder-volumes': 'cinder',
  'cinder-backups': 'cinderBackup',
  'glance-images': 'glance',
  'nova-ephemeral': 'nova',
};

/** What is made of clones of images, so that its user reads them. */
const cloned: readonly CephPool['purpose'][] = ['cinder-volumes', 'nova-ephemeral'];

/** What of a cluster services use. */
export type Used = Pick<CephStorageSpec, 'pools' | 'fileSystems' | 'objectGateway'>;

/** What a user has to be able to do: to write or read in a pool, to keep shares in a filesystem, or to serve objects in pools of its own. */
export interface Trial {
  readonly user: CephUser;
  readonly what: 'write' | 'read' | 'share' | 'serve';
  /** The pool or the filesystem. */
  readonly name: string;
}

/** The pool in which object gateways have what they are; the others follow from it. They make all of them. */
const gatewayPool = '.rgw.root';

/** What the users of a cluster have to be able to do there. */
export function trialsOf({ pools = [], fileSystems = [], objectGateway = false }: Used): Trial[] {
  const users = new Set(pools.flatMap(({ purpose }) => (cloned.includes(purpose) ? [writers[purpose]] : [])));
  const inPools = pools.flatMap(({ name, purpose }): Trial[] => {
    const readers = purpose === 'glance-images' ? [...users] : [];
    return [
      { user: writers[purpose], name, what: 'write' },
      ...readers.map((user) => ({ user, name, what: 'read' as const })),
    ];
  });
  return [
    ...inPools,
    ...fileSystems.map(({ name }): Trial => ({ user: 'manila', name, what: 'share' })),
    ...(objectGateway ? [{ user: 'swift', name: gatewayPool, what: 'serve' } as const] : []),
  ];
}

/** Users of a cluster, in the order of their names. */
export const usersIn = (trials: readonly Trial[]) => [...new Set(trials.map(({ user }) => user))].sort(byName);
const byName = (one: CephUser, other: CephUser) => (one < other ? -1 : 1);

/** What a user may do, by kind of daemon: what the check tries, and nothing else. */
export function capabilities(trials: readonly Trial[]): Readonly<Record<string, string>> {
  if (trials.some(({ what }) => what === 'share')) return { mon: 'allow r', mgr: 'allow rw' };
  // Docs of Ceph have no right to the manager for it, and gateways serve without; no kind of daemon may be left out here.
  if (trials.some(({ what }) => what === 'serve')) return { mon: 'allow rw', osd: 'allow rwx', mgr: 'allow r' };
  const written = trials.flatMap(({ what, name }) => (what === 'write' ? [`profile rbd pool=${name}`] : []));
  const read = trials.flatMap(({ what, name }) => (what === 'read' ? [`profile rbd-read-only pool=${name}`] : []));
  return { mon: 'profile rbd', osd: [...written, ...read].join(', '), mgr: written.join(', ') };
}

/** The pools, each once, and how many copies each is to keep where anybody says so. */
export function copiesOf({ pools = [] }: Pick<CephStorageSpec, 'pools'>): ReadonlyMap<string, number | undefined> {
  const stated = (name: string) => pools.find((one) => one.name === name && one.replicaCount !== undefined);
  return new Map(pools.map(({ name }) => [name, stated(name)?.replicaCount]));
}
