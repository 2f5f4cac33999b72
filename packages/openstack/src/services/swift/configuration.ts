import { authtoken, client } from '../../engine/configuration/sections.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { ConfigFiles, DataSource } from '../../engine/vocabulary/service.ts';
import type { DataMap } from '../../formats/data.ts';
import { secretReference } from '../../oslo/references.ts';
import type { Swift } from './kind.ts';

/** Where the rings are mounted; the rest of the configuration is in the directory above. */
export const ringFolder = '/etc/swift/rings';

/** The servers of a storage node, and the daemons that belong to each. */
export const servers = {
  object: { port: 6200, daemons: ['replicator', 'auditor', 'updater', 'expirer'] },
  container: { port: 6201, daemons: ['replicator', 'auditor', 'updater'] },
  account: { port: 6202, daemons: ['replicator', 'auditor', 'reaper'] },
} as const;

/** Where replicators copy whole files to: not rsync's own port, which root alone may open. */
export const rsyncPort = 6873;

/** What a request passes, in this order. Who asks in the way of S3 logs in between authtoken and keystoneauth. */
const pipeline =
  'catch_errors gatekeeper healthcheck proxy-logging cache listing_formats bulk tempurl ratelimit authtoken s3api s3token keystoneauth copy container-quotas account-quotas slo dlo versioned_writes symlink proxy-logging proxy-server'.split(
    ' ',
  );

/** The files of proxies, and those of storage nodes. */
export function configSets(context: Context<Swift>): Record<string, ConfigFiles> {
  const common = { '/etc/swift/swift.conf': swiftConf(context) };
  return {
    proxy: { ...common, '/etc/swift/proxy-server.conf': proxyConf(context) },
    storage: {
      ...common,
      ...Object.fromEntries(
        Object.entries(servers).map(([kind, one]) => [`/etc/swift/${kind}-server.conf`, serverConf(kind, one)]),
      ),
      '/etc/swift/internal-client.conf': internalClient(context),
      '/etc/swift/rsyncd.conf': rsyncd,
    },
  };
}

/** The hash of a name, salted by both ends, is where its data lie: other ends would find none of them. */
function swiftConf({ named }: Context<Swift>): DataSource {
  const end = (key: string) => secretReference(named('hash'), key, 'percent');
  const where = 'nothing: data lie where they say';
  return {
    format: 'ini',
    data: {
      'swift-hash': { swift_hash_path_prefix: end('prefix'), swift_hash_path_suffix: end('suffix') },
      'storage-policy:0': { name: 'Policy-0', default: 'yes' },
    },
    owned: {
      'swift-hash.swift_hash_path_prefix': where,
      'swift-hash.swift_hash_path_suffix': where,
      'storage-policy:0.name': where,
    },
  };
}

function proxyConf(context: Context<Swift>): DataSource {
  const { keystone_authtoken: tokens = {} } = authtoken(context) as Readonly<Record<string, DataMap>>;
  const login = client(context, undefined, 'percent');
  const filters: Readonly<Record<string, DataMap>> = {
    cache: memcache(context),
    authtoken: {
      use: null,
      'paste.filter_factory': 'keystonemiddleware.auth_token:filter_factory',
      ...tokens,
      ...login,
      // Public containers and temporary URLs need no token.
      delay_auth_decision: true,
    },
    s3api: { location: context.region },
    // Keystone tells services alone whom a signature belongs to.
    s3token: { auth_uri: context.identity.internalUrl, delay_auth_decision: true, ...login },
    keystoneauth: { operator_roles: 'admin, member', reseller_admin_role: resellerAdmin },
  };
  return ini(8080, 2, pipeline, { account_autocreate: true }, filters);
}

/** The role of those who may do everything in every account. */
export const resellerAdmin = 'ResellerAdmin';

/** What daemons ask as clients: they are no users. */
function internalClient(context: Context<Swift>): DataSource {
  const passed = ['catch_errors', 'proxy-logging', 'cache', 'symlink', 'proxy-server'];
  return ini(undefined, 1, passed, { account_autocreate: true }, { cache: memcache(context) });
}

const memcache = ({ cache = '' }: Context<Swift>): DataMap => ({ use: 'egg:swift#memcache', memcache_servers: cache });

function serverConf(kind: string, { port, daemons }: (typeof servers)[keyof typeof servers]): DataSource {
  const more: Readonly<Record<string, DataMap>> = {
    replicator: { rsync_module: `rsync://{replication_ip}:${rsyncPort}/${kind}` },
    // The queue that all clusters have; the other one is not finished.
    expirer: { dequeue_from_legacy: true, internal_client_conf_path: '/etc/swift/internal-client.conf' },
  };
  const sections = daemons.map((name) => [`${kind}-${name}`, more[name] ?? {}]);
  const { data, ...rest } = ini(port, 1, ['healthcheck', 'recon', `${kind}-server`], {}, {});
  return { ...rest, data: { ...(data as DataMap), ...Object.fromEntries(sections) } };
}

/** A file of Paste: the program is the last of the pipeline, all others are filters of Swift's own unless they say otherwise. */
function ini(
  port: number | undefined,
  workers: number,
  passed: readonly string[],
  app: DataMap,
  filters: Readonly<Record<string, DataMap>>,
): DataSource {
  const egg = (name: string) => ({ use: `egg:swift#${name.replaceAll('-', '_')}` });
  const last = passed.at(-1) ?? '';
  const used = [...new Set(passed.slice(0, -1))].map((name) => {
    const options = Object.entries({ ...egg(name), ...filters[name] }).filter(([, value]) => value !== null);
    return [`filter:${name}`, Object.fromEntries(options)];
  });
  return {
    format: 'ini',
    data: {
      DEFAULT: {
        ...(port === undefined ? {} : { bind_ip: '0.0.0.0', bind_port: port, workers }),
        user: 'swift',
        swift_dir: ringFolder,
        devices: '/srv/node',
        // Each device is mounted by the node before a server runs: a volume that lacks keeps the pod from starting.
        mount_check: false,
      },
      'pipeline:main': { pipeline: passed.join(' ') },
      [`app:${last}`]: { use: `egg:swift#${last.replace('-server', '')}`, ...app },
      ...Object.fromEntries(used),
    },
    owned: {
      'DEFAULT.bind_port': 'nothing: rings and probes have it',
      'DEFAULT.swift_dir': 'nothing: rings are mounted there',
      'DEFAULT.devices': 'nothing: volumes are mounted there',
    },
  };
}

/** Whoever may connect may write: the storage nodes alone (NetworkPolicy). */
const rsyncd = `use chroot = no
max connections = 25
${Object.keys(servers)
  .map((kind) => `[${kind}]\npath = /srv/node\nread only = no\nlock file = /tmp/${kind}.lock\n`)
  .join('')}`;
