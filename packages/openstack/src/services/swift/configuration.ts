import { authtoken, client } from '../../engine/configuration/sections.ts';
import type { ConfigFiles, DataSource } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { DataMap } from '../../formats/data.ts';
import { pasteData, pasteOwned } from '../../formats/paste.ts';
import { secretReference } from '../../oslo/references.ts';
import type { Swift } from './kind.ts';
import { nodesOf } from './nodes.ts';
import { hasFragments, policySections } from './policies.ts';

/** Where the rings are mounted; the rest of the configuration is in the directory above. */
export const ringFolder = '/etc/swift/rings';

/** The servers of a storage node, and the daemons that belong to each. */
export const servers = {
  object: { port: 6200, daemons: ['replicator', 'auditor', 'updater', 'expirer'] },
  container: { port: 6201, daemons: ['replicator', 'auditor', 'updater'] },
  account: { port: 6202, daemons: ['replicator', 'auditor', 'reaper'] },
} as const;

/** The kinds of servers. */
export const kinds = Object.keys(servers) as readonly (keyof typeof servers)[];

/** The daemons of a kind of server. */
export function daemonsOf({ spec }: Context<Swift>, kind: keyof typeof servers): readonly string[] {
  const { daemons } = servers[kind];
  return kind === 'object' && hasFragments(spec) ? [...daemons, 'reconstructor'] : daemons;
}

/** Where replicators copy whole files to: not rsync's own port, which root alone may open. */
export const rsyncPort = 6873;

/** What a request passes, in this order. Who asks in the way of S3 logs in between authtoken and keystoneauth. */
export const pipeline =
  'catch_errors gatekeeper healthcheck proxy-logging cache listing_formats bulk tempurl ratelimit authtoken s3api s3token keystoneauth copy container-quotas account-quotas slo dlo versioned_writes symlink proxy-logging proxy-server'.split(
    ' ',
  );

/** The files of proxies, and those of storage nodes. */
export function configSets(context: Context<Swift>): Record<string, ConfigFiles> {
  const common = { '/etc/swift/swift.conf': swiftConf(context) };
  const storage = (onMounts: boolean) => ({
    ...common,
    ...Object.fromEntries(
      kinds.map((kind) => [`/etc/swift/${kind}-server.conf`, serverConf(kind, daemonsOf(context, kind), onMounts)]),
    ),
    '/etc/swift/internal-client.conf': internalClient(context),
    '/etc/swift/rsyncd.conf': rsyncd,
  });
  const hasMounts = nodesOf(context).groups.some(({ host }) => host !== undefined);
  return {
    proxy: { ...common, '/etc/swift/proxy-server.conf': proxyConf(context) },
    storage: storage(false),
    ...(hasMounts && { mounts: storage(true) }),
  };
}

/** The hash of a name, salted by both ends, is where its data lie: other ends would find none of them. */
function swiftConf({ named, spec }: Context<Swift>): DataSource {
  const end = (key: string) => secretReference(named('hash'), key, 'percent');
  const where = 'nothing: data lie where they say';
  return {
    format: 'ini',
    data: {
      'swift-hash': { swift_hash_path_prefix: end('prefix'), swift_hash_path_suffix: end('suffix') },
      ...policySections(spec),
    },
    owned: {
      'swift-hash.swift_hash_path_prefix': where,
      'swift-hash.swift_hash_path_suffix': where,
      'storage-policy:*': 'spec.storagePolicies',
    },
  };
}

function proxyConf(context: Context<Swift>): DataSource {
  const { keystone_authtoken: tokens = {} } = authtoken(context, 'percent') as Readonly<Record<string, DataMap>>;
  // Public containers and temporary URLs need no token.
  const verified = { ...tokens, delay_auth_decision: true };
  const { cafile: _authority, ...account } = client(context, undefined, 'percent');
  // Keystone tells services alone whom a signature belongs to.
  const signed = {
    auth_uri: context.identity.internalUrl,
    delay_auth_decision: true,
    ...account,
  };
  const options = {
    'proxy-server': { account_autocreate: true },
    cache: memcache(context),
    authtoken: { 'paste.filter_factory': 'keystonemiddleware.auth_token:filter_factory', ...verified },
    s3api: { location: context.region },
    s3token: signed,
    keystoneauth: {
      operator_roles: 'admin, member',
      // They may read what is in a project, as everywhere; by default nobody may who may not write.
      project_reader_roles: 'reader',
      reseller_admin_role: resellerAdmin,
    },
    // Versions of buckets (S3) and of containers, and the older way, of clients that name a container for versions.
    versioned_writes: { allow_object_versioning: true, allow_versioned_writes: true },
  };
  const login = 'nothing: how Swift logs in to Keystone';
  const prefix = 'nothing: the catalogue has the accounts by their prefix';
  const owned = {
    ...Object.fromEntries(Object.keys(verified).map((option) => [`filter:authtoken.${option}`, login])),
    ...Object.fromEntries(Object.keys(signed).map((option) => [`filter:s3token.${option}`, login])),
    'filter:s3api.location': 'spec.region',
    'filter:keystoneauth.reseller_admin_role': 'nothing: the role that the operator makes',
    '*.reseller_prefix': prefix,
    'filter:s3token.auth_prefix': prefix,
  };
  return paste(8080, 2, pipeline, options, owned);
}

/** The role of those who may do everything in every account. */
export const resellerAdmin = 'ResellerAdmin';

/** What daemons ask as clients: they are no users. */
function internalClient(context: Context<Swift>): DataSource {
  const passed = ['catch_errors', 'proxy-logging', 'cache', 'symlink', 'proxy-server'];
  return paste(undefined, 1, passed, { cache: memcache(context) });
}

const memcache = ({ cache = '' }: Context<Swift>): DataMap => ({ use: 'egg:swift#memcache', memcache_servers: cache });

/** `onMounts`: its devices are mount points of the node, and one that is not mounted would fill the node's own disk. */
function serverConf(kind: keyof typeof servers, daemons: readonly string[], onMounts: boolean): DataSource {
  const { port } = servers[kind];
  const more: Readonly<Record<string, DataMap>> = {
    replicator: { rsync_module: `rsync://{replication_ip}:${rsyncPort}/${kind}` },
    // The queue that all clusters have; the other one is not finished.
    expirer: { dequeue_from_legacy: true, internal_client_conf_path: '/etc/swift/internal-client.conf' },
  };
  const sections = daemons.map((name) => [`${kind}-${name}`, more[name] ?? {}]);
  const { data, ...rest } = paste(
    port,
    1,
    ['healthcheck', 'recon', `${kind}-server`],
    {},
    {
      '*.rsync_module': 'nothing: rsync listens there',
      '*.internal_client_conf_path': 'nothing: the file is there',
      '*.servers_per_port': 'nothing: rings have one port for each kind of server',
      '*.replication_server': 'nothing: each server answers clients and replicators',
    },
  );
  const all = data as { readonly DEFAULT: DataMap };
  const DEFAULT = { ...all.DEFAULT, mount_check: onMounts };
  return { ...rest, data: { ...all, DEFAULT, ...Object.fromEntries(sections) } };
}

/** What says where programs find each other and their data, in whatever section it stands. */
const everywhere = {
  bind_ip: 'nothing: probes and others of the cloud connect there',
  bind_port: 'nothing: rings and probes have it',
  cert_file: 'nothing: probes and others of the cloud connect without TLS',
  key_file: 'nothing: probes and others of the cloud connect without TLS',
  devices: 'nothing: volumes are mounted there',
  mount_check: 'nothing: a volume that lacks keeps the pod from starting, and mounts of nodes are looked for',
  swift_dir: 'nothing: rings are mounted there',
  user: 'nothing: the user of the image, who owns the volumes',
  memcache_servers: 'spec.cacheRef',
};

/** A file of Paste; `port` where it listens. Filters and programs are Swift's own unless they say otherwise. */
function paste(
  port: number | undefined,
  workers: number,
  pipeline: readonly string[],
  options: Readonly<Record<string, DataMap>>,
  owned: Readonly<Record<string, string>> = {},
): DataSource {
  const listens = port === undefined ? {} : { bind_ip: '0.0.0.0', bind_port: port, workers };
  // A volume that lacks keeps the pod from starting: servers need not look for mounts.
  const defaults = { ...listens, user: 'swift', swift_dir: ringFolder, mount_check: false };
  const use = (name: string) => `egg:swift#${name.replace(/-server$/, '').replaceAll('-', '_')}`;
  return {
    format: 'ini',
    data: pasteData({ defaults, pipeline, use, options }),
    owned: { ...pasteOwned(pipeline, everywhere), ...owned },
  };
}

/** Whoever may connect may write: the storage nodes alone (NetworkPolicy). */
const rsyncd = `use chroot = no
max connections = 25
${Object.keys(servers)
  .map((kind) => `[${kind}]\npath = /srv/node\nread only = no\nlock file = /tmp/${kind}.lock\n`)
  .join('')}`;
