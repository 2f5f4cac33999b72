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
