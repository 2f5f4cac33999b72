import { defineService } from '../../engine/vocabulary/service.ts';
import { cephAddress, cephFiles } from './address.ts';
import { type CephPool, CephStorage, type CephStorageSpec, type CephUser } from './kind.ts';

/** Who writes to a pool. */
const writers: Readonly<Record<CephPool['purpose'], CephUser>> = {
  'cinder-volumes': 'cinder',
  'cinder-backups': 'cinderBackup',
  'glance-images': 'glance',
  'nova-ephemeral': 'nova',
};

/** What is made of clones of images, so that its user reads them. */
const cloned: readonly CephPool['purpose'][] = ['cinder-volumes', 'nova-ephemeral'];

/** A Ceph cluster (architecture, section 6.1): one that exists already, whose pools, filesystems and keys are tried. */
export const ceph = defineService<CephStorage>({
  kind: CephStorage,
  offers: { cephStorageRef: { address: (resource) => cephAddress(resource) } },
  child: {
    field: 'cephStorage',
    suffix: 'ceph',
    phase: 'Infrastructure',
    description: 'The Ceph cluster that keeps volumes, images, disks of servers and shares.',
    optional: true,
    fields: ({ own, asked }) => {
      const all = [own, ...asked] as readonly Partial<CephStorageSpec>[];
      const pools = distinct(all.flatMap((one) => one.pools ?? []));
      const fileSystems = distinct(all.flatMap((one) => one.fileSystems ?? []));
      return { ...(pools.length > 0 && { pools }), ...(fileSystems.length > 0 && { fileSystems }) };
    },
  },
  name: 'ceph-storage',
  // Who runs what tries them.
  user: 'cinder',
  dependsOn: {},
  config: ({ resource, spec }) => {
    const users = [...new Set(trialsOf(spec).map(({ user }) => user))];
    return users.length === 0 ? {} : { main: cephFiles(cephAddress(resource), ...users) };
  },
  components: () => ({}),
  jobs: ({ resource, spec }) => {
    const { user: nameOf } = cephAddress(resource);
    const trials = trialsOf(spec).flatMap(({ user, what, name }) => [nameOf(user), name, what]);
    const runs = [{ name: 'pool-check', script: tryAll, arguments: trials }];
    return trials.length === 0 ? [] : [{ suffix: 'pool-check', step: 'PoolsReady', image: 'cinder-volume', runs }];
  },
});

/** Those of one purpose and name are one. */
function distinct<T extends { readonly name: string; readonly purpose?: string }>(all: readonly T[]): readonly T[] {
  return [...new Map(all.map((one) => [`${one.purpose} ${one.name}`, one])).values()];
}

/** What a user has to be able to do: to write or read in a pool, or to keep shares in a filesystem. */
interface Trial {
  readonly user: CephUser;
  readonly what: 'write' | 'read' | 'share';
  readonly name: string;
}

function trialsOf({ pools = [], fileSystems = [] }: Partial<CephStorageSpec>): Trial[] {
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

const tryAll = `# Does in each pool and filesystem what its users do. The last line, which a condition shows, is what they cannot do.
newline='
'
failures=
as() { timeout 30 "$@" 2>&1; }
write() {
  as rados --id "$user" --pool "$name" create openstack-operator-check \\
    && as rados --id "$user" --pool "$name" rm openstack-operator-check
}
read_only() { as rbd --id "$user" ls "$name"; }
share() {
  as ceph --id "$user" fs subvolumegroup create "$name" openstack-operator-check \\
    && as ceph --id "$user" fs subvolumegroup rm "$name" openstack-operator-check
}
while [ $# -gt 0 ]; do
  user=$1
  name=$2
  what=$3
  shift 3
  case $what in
    write) try=write where="write in pool $name" rights="mon 'profile rbd', osd 'profile rbd pool=$name'" ;;
    read) try=read_only where="read in pool $name" rights="mon 'profile rbd', osd 'profile rbd-read-only pool=$name'" ;;
    *) try=share where="keep shares in filesystem $name" rights="mon 'allow r', mgr 'allow rw'" ;;
  esac
  if said=$("$try"); then continue; fi
  said=\${said##*"$newline"}
  said="client.$user cannot $where: \${said:-no answer within 30 seconds} (it needs $rights)"
  failures="\${failures:+$failures; }$said"
done
if [ -n "$failures" ]; then
  echo "$failures" >&2
  exit 1
fi
`;
