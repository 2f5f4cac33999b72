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

/** What a user has to be able to do: to write or read in a pool, or to keep shares in a filesystem. */
export interface Trial {
  readonly user: CephUser;
  readonly what: 'write' | 'read' | 'share';
  readonly name: string;
}

/** What the users of pools and filesystems have to be able to do there. */
export function trialsOf({ pools = [], fileSystems = [] }: Pick<CephStorageSpec, 'pools' | 'fileSystems'>): Trial[] {
  const users = new Set(pools.flatMap(({ purpose }) => (cloned.includes(purpose) ? [writers[purpose]] : [])));
  const inPools = pools.flatMap(({ name, purpose }): Trial[] => {
    const readers = purpose === 'glance-images' ? [...users] : [];
    return [
      { user: writers[purpose], name, what: 'write' },
      ...readers.map((user) => ({ user, name, what: 'read' as const })),
    ];
  });
  return [...inPools, ...fileSystems.map(({ name }): Trial => ({ user: 'manila', name, what: 'share' }))];
}

/** Users of a cluster, in the order of their names. */
export const usersIn = (trials: readonly Trial[]) => [...new Set(trials.map(({ user }) => user))].sort(byName);
const byName = (one: CephUser, other: CephUser) => (one < other ? -1 : 1);

/** What a user may do, by kind of daemon: what the check tries, and nothing else. */
export function capabilities(trials: readonly Trial[]): Readonly<Record<string, string>> {
  if (trials.some(({ what }) => what === 'share')) return { mon: 'allow r', mgr: 'allow rw' };
  const written = trials.flatMap(({ what, name }) => (what === 'write' ? [`profile rbd pool=${name}`] : []));
  const read = trials.flatMap(({ what, name }) => (what === 'read' ? [`profile rbd-read-only pool=${name}`] : []));
  return { mon: 'profile rbd', osd: [...written, ...read].join(', '), mgr: written.join(', ') };
}

/** The pools, each once, and how many copies each is to keep where anybody says so. */
export function copiesOf({ pools = [] }: Pick<CephStorageSpec, 'pools'>): ReadonlyMap<string, number | undefined> {
  const stated = (name: string) => pools.find((one) => one.name === name && one.replicaCount !== undefined);
  return new Map(pools.map(({ name }) => [name, stated(name)?.replicaCount]));
}
