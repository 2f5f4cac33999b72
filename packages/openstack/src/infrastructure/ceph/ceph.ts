import { defineService } from '../../engine/vocabulary/service.ts';
import { cephAddress, cephFiles } from './address.ts';
import { type CephPool, CephStorage, type CephUser } from './kind.ts';

/** Who needs a pool, the owner first; the others read it. */
const needing: Readonly<Record<CephPool['purpose'], readonly [CephUser, ...CephUser[]]>> = {
  'cinder-volumes': ['cinder'],
  'cinder-backups': ['cinderBackup'],
  // Volumes and disks of servers are clones of images.
  'glance-images': ['glance', 'cinder'],
  'nova-ephemeral': ['nova'],
};

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

function usersOf(pools: readonly CephPool[]): CephUser[] {
  return [...new Set(pools.flatMap(({ purpose }) => needing[purpose]))];
}

/** User, pool and `write` or `read`, for each user of each pool. */
function trials(pools: readonly CephPool[], nameOf: (user: CephUser) => string): string[] {
  return pools.flatMap(({ name, purpose }) =>
    needing[purpose].flatMap((user, index) => [nameOf(user), name, index === 0 ? 'write' : 'read']),
  );
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
