import { defineService } from '../../engine/vocabulary/service.ts';
import { cephAddress, cephFiles } from './address.ts';
import { type CephPool, CephStorage, type CephUser } from './kind.ts';

/** Who writes to a pool. */
const writers: Readonly<Record<CephPool['purpose'], CephUser>> = {
  'cinder-volumes': 'cinder',
  'cinder-backups': 'cinderBackup',
  'glance-images': 'glance',
  'nova-ephemeral': 'nova',
};

/** What is made of clones of images, so that its user reads them. */
const cloned: readonly CephPool['purpose'][] = ['cinder-volumes', 'nova-ephemeral'];

/** A Ceph cluster (architecture, section 6.1): one that exists already, whose pools and keys are tried. */
export const ceph = defineService<CephStorage>({
  kind: CephStorage,
  offers: { cephStorageRef: { address: (resource) => cephAddress(resource) } },
  child: {
    field: 'cephStorage',
    suffix: 'ceph',
    phase: 'Infrastructure',
    description: 'The Ceph cluster that keeps volumes, images and disks of servers.',
    optional: true,
    fields: ({ own, asked }) => {
      const pools = distinct([...((own['pools'] ?? []) as CephPool[]), ...(asked as CephPool[])]);
      return pools.length === 0 ? {} : { pools };
    },
  },
  name: 'ceph-storage',
  // Who runs what tries the pools.
  user: 'cinder',
  dependsOn: {},
  config: ({ resource, spec: { pools = [] } }) =>
    pools.length === 0 ? {} : { main: cephFiles(cephAddress(resource), ...usersOf(pools)) },
  components: () => ({}),
  jobs: ({ resource, spec: { pools = [] } }) => {
    const { user } = cephAddress(resource);
    const runs = [{ name: 'pool-check', script: tryPools, arguments: trials(pools, user) }];
    return pools.length === 0 ? [] : [{ suffix: 'pool-check', step: 'PoolsReady', image: 'cinder-volume', runs }];
  },
});

function distinct(pools: readonly CephPool[]): readonly CephPool[] {
  return [...new Map(pools.map((pool) => [`${pool.purpose} ${pool.name}`, pool])).values()];
}

function usersOf(pools: readonly CephPool[]): CephUser[] {
  return [...new Set(pools.map(({ purpose }) => writers[purpose]))];
}

/** User, pool and `write` or `read`, for each user of each pool. */
function trials(pools: readonly CephPool[], nameOf: (user: CephUser) => string): string[] {
  const readers = usersOf(pools.filter(({ purpose }) => cloned.includes(purpose)));
  return pools.flatMap(({ name, purpose }) => [
    nameOf(writers[purpose]),
    name,
    'write',
    ...(purpose === 'glance-images' ? readers.flatMap((user) => [nameOf(user), name, 'read']) : []),
  ]);
}

const tryPools = `# Does in each pool what its users do. The last line, which a condition shows, is what they cannot do.
newline='
'
failures=
as() { timeout 30 "$@" 2>&1; }
write() {
  as rados --id "$user" --pool "$pool" create openstack-operator-check \\
    && as rados --id "$user" --pool "$pool" rm openstack-operator-check
}
read_only() { as rbd --id "$user" ls "$pool"; }
while [ $# -gt 0 ]; do
  user=$1
  pool=$2
  access=$3
  shift 3
  if [ "$access" = write ]; then try=write rights='profile rbd'; else try=read_only rights='profile rbd-read-only'; fi
  if said=$("$try"); then continue; fi
  said=\${said##*"$newline"}
  said="client.$user cannot $access in pool $pool: \${said:-no answer within 30 seconds} (it needs mon 'profile rbd', osd '$rights pool=$pool')"
  failures="\${failures:+$failures; }$said"
done
if [ -n "$failures" ]; then
  echo "$failures" >&2
  exit 1
fi
`;
