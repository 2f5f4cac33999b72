import { type Identity, pools } from './keys.ts';

/** What is to run. */
export interface Shape {
  /** Where the OSD keeps its data: in its memory, or in a file on a volume that outlives the pod. */
  readonly store: 'memstore' | 'bluestore';
  readonly monitors: 1 | 3;
  /** CephFS. */
  readonly mds: boolean;
  /** S3 and Swift. */
  readonly rgw: boolean;
}

/** What is enough for block devices. */
export const smallest: Shape = { store: 'memstore', monitors: 1, mds: false, rgw: false };

/** What a cloud gets: block devices and shares. */
export const ofClouds: Shape = { ...smallest, mds: true };

/** Addresses of the monitors by name: a, b, c. */
export type Monitors = Readonly<Record<string, string>>;

const fileSystem = 'cephfs';

/** Modules of ceph-mgr that nobody asks anything here. Those that are always on cannot be left out. */
const unusedModules = [
  'alerts',
  'influx',
  'insights',
  'localpool',
  'mirroring',
  'nfs',
  'osd_perf_query',
  'osd_support',
  'prometheus',
  'selftest',
  'snap_schedule',
  'stats',
  'telegraf',
  'test_orchestrator',
  'zabbix',
];

/** ceph.conf of a client: where the monitors are. */
export function clientConfiguration({ fsid }: Identity, monitors: Monitors): string {
  const hosts = Object.values(monitors).map((address) => `[v2:${address}:3300/0,v1:${address}:6789/0]`);
  return `[global]\nfsid = ${fsid}\nmon_host = ${hosts.join(',')}\n`;
}

/** ceph.conf of the daemons: one replica on one OSD, and what a machine for tests may lack without a warning. */
export function daemonConfiguration(identity: Identity, monitors: Monitors, { store }: Shape): string {
  return `${clientConfiguration(identity, monitors)}
mon_initial_members = ${Object.keys(monitors).join(',')}
auth_allow_insecure_global_id_reclaim = false
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_pool_default_pgp_num = 8
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_allow_pool_delete = true
mon_warn_on_pool_no_redundancy = false
mon_max_pg_per_osd = 500
# How long a monitor gathers changes before it decides on them; each command of the setup waits for it.
paxos_propose_interval = 0.1
# The default has restful, which the image lacks. A manager loads all modules that it finds, used or not, each with a Python of its own.
mgr_initial_modules = iostat
mgr_disabled_modules = ${unusedModules.join(',')}
# Of the machine's disk, in percent.
mon_data_avail_warn = 5
mon_data_avail_crit = 2
log_to_stderr = true
err_to_stderr = true
log_to_file = false
mon_cluster_log_to_stderr = true
mon_cluster_log_to_file = false
# The options of RocksDB are megabytes of log.
debug_rocksdb = 1/1

[mgr]
keyring = /etc/ceph/ceph.$name.keyring

[mds]
keyring = /etc/ceph/ceph.$name.keyring

[osd]
keyring = /etc/ceph/ceph.$name.keyring
osd_objectstore = ${store}
# Both are limits: neither memory nor disk is used before there are data.
memstore_device_bytes = ${8 * 2 ** 30}
bluestore_block_size = ${20 * 2 ** 30}
osd_memory_target = ${896 * 2 ** 20}
# Multiples of osd_heartbeat_grace: 5 minutes. One that has stood still for longer than its lease, 16 seconds by default, stays laggy for
# ever where it has no peers, and answers nothing any more (ceph/ceph-container#1682, tracker.ceph.com/issues/80404).
osd_pool_default_read_lease_ratio = 15
osd_mclock_skip_benchmark = true

[client]
log_to_stderr = false
admin_socket =

[client.rgw.a]
keyring = /etc/ceph/ceph.$name.keyring
log_to_stderr = true
rgw_frontends = beast port=7480
`;
}

/** Commands for the monitors, as their JSON: what they have to know before the other daemons start. */
export function setupCommands({ osd }: Identity, { mds }: Shape): object[] {
  const [metadata, data] = [`${fileSystem}_metadata`, `${fileSystem}_data`];
  const create = (pool: string) => ({ prefix: 'osd pool create', pool, pg_num: 8 });
  return [
    { prefix: 'osd new', uuid: osd },
    ...pools.flatMap((pool) => [create(pool), { prefix: 'osd pool application enable', pool, app: 'rbd' }]),
    ...(mds
      ? [
          create(metadata),
          create(data),
          { prefix: 'fs new', fs_name: fileSystem, metadata, data },
          { prefix: 'fs set', fs_name: fileSystem, var: 'standby_count_wanted', val: '0' },
        ]
      : []),
  ];
}
