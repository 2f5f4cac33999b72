import {
  authtoken,
  database,
  locks,
  logging,
  proxied,
  sections,
  sending,
} from '../../engine/configuration/sections.ts';
import type { OwnedOptions } from '../../engine/configuration/user-config.ts';
import { nightly } from '../../engine/objects/schedule.ts';
import { type Component, usualProcesses } from '../../engine/vocabulary/component.ts';
import type { ConfigFiles, DataSource } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService, type Schedule } from '../../engine/vocabulary/service.ts';
import { type Layer, layered } from '../../oslo/layers.ts';
import { refusedBy } from '../backends.ts';
import { caches, importsAndCache, ownedByImportsAndCache, pruner } from './imports-and-cache.ts';
import { Glance } from './kind.ts';
import { enforced, ownedByLimits, registeredLimits, systemRoles, unknownEndpoint } from './limits.ts';
import {
  apiConf,
  foundBy,
  inCeph,
  inCinder,
  inS3,
  inSwift,
  onVolume,
  ownedByAdditional,
  ownedByStores,
  poolsOf,
  showsPlaces,
  storeFiles,
  storeProblems,
  stores,
  strangeCinder,
  usesCeph,
} from './stores.ts';

/**
 * Images: in Ceph, in Swift, in Cinder, in S3, or on one volume that one pod at a time can use (phase 1 plan, task 14): there an update stops
 * the old pod first, so it is a short outage (production rule 30).
 *
 * glance-api runs by itself, not under uwsgi: in 2025.1 uploads in chunks and imports depend on that.
 */
export const glance = defineService<Glance>({
  kind: Glance,
  offers: { glanceRef: {} },
  child: { field: 'glance', phase: 'CoreServices', description: 'The image service.' },
  name: 'glance',
  user: 'glance',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: { stated: ({ messageQueueRef }) => messageQueueRef !== undefined },
    cacheRef: 'steps',
    keystoneRef: 'start',
    swiftRef: { stated: inSwift, start: true },
    cinderRef: { stated: inCinder, start: true, onlyUsed: true },
    cephStorageRef: {
      stated: usesCeph,
      asks: (spec) => ({ pools: poolsOf(spec).map((name) => ({ name, purpose: 'glance-images' })) }),
    },
  },
  databases: [{ name: 'glance' }],
  messaging: 'notifications',
  // One that forks them is there even where it forks but one (glance/common/wsgi.py, start_wsgi).
  connections: (spec) => ({
    api: { others: caches(spec) ? 2 : 1, workloads: showsPlaces(spec) ? 2 : 1, pools: 1 },
  }),
  identity: {
    users: [{ name: 'glance', roles: ['admin', 'service'], systemRoles }],
    catalogue: [
      {
        type: 'image',
        name: 'glance',
        description: 'OpenStack Image',
        component: 'api',
        port: 'api',
        path: '',
        internal: 'internal',
        limits: registeredLimits,
      },
    ],
  },
  heldBy: {
    // Hidden images are in a list of their own.
    counts: [
      {
        of: 'images',
        lists: ['/v2/images?visibility=all&limit=1000', '/v2/images?visibility=all&os_hidden=true&limit=1000'],
      },
    ],
  },
  configures: {
    // Volumes of images that are volumes are clones.
    cinder: ({ context: { surroundings } }) =>
      inCinder(surroundings.peerSpec('Glance') ?? {})
        ? { 'cinder.conf': { DEFAULT: { allowed_direct_url_schemes: 'cinder' } } }
        : {},
  },
  owned: {
    DEFAULT: {
      enabled_backends: 'spec.storageType or spec.additionalStores',
      worker_self_reference_url: 'nothing: it is the address of the pod',
      bind_host: 'nothing: probes and the Service connect to it',
      bind_port: 'nothing: probes and the Service connect to it',
      show_image_direct_url: 'nothing: the component internal alone shows where images are (OSSN-0090)',
      show_multiple_locations: 'nothing: whoever may set locations may read what others keep (OSSN-0090)',
    },
    oslo_policy: { policy_dirs: 'spec.policy' },
    ...ownedByStores,
  },
  config: (context) => ({
    main: files(context),
    ...(showsPlaces(context.spec) && {
      internal: { ...files(context, locations), [`${policies}/locations.yaml`]: locationPolicy },
    }),
  }),
  volumes: ({ spec }) => (onVolume(spec) ? [{ suffix: 'images', size: '10Gi', ...spec.storage }] : []),
  single: (spec) => (onVolume(spec) ? ['api'] : []),
  components: (context) => ({
    api: { ...api(context), exposed: 'api', reachable: 'anyone' },
    // Cinder and Nova clone images in the cluster when they see where these are. Nobody else may (OSSN-0090).
    ...(showsPlaces(context.spec) && {
      internal: { ...api(context), variantOf: 'api', config: 'internal', reachable: ['api'] },
    }),
  }),
  migrate: () => ({
    image: 'glance-api',
    mounts: [{ path: '/var/lib/glance', scratch: true }],
    sync: ['glance-manage', 'db_sync'],
    expand: [
      ['glance-manage', 'db', 'expand'],
      ['glance-manage', 'db', 'migrate'],
    ],
    // By itself it reads another file than the API.
    check: ['glance-status', '--config-file', apiConf],
    contract: [['glance-manage', 'db', 'contract']],
  }),
  jobs: () => [
    {
      // Leaves alone what is there: definitions that were changed stay.
      suffix: 'load-metadefs',
      step: 'MetadataDefinitionsReady',
      needs: ['MigrationReady'],
      image: 'glance-api',
      mounts: [{ path: '/var/lib/glance', scratch: true }],
      runs: [{ name: 'load-metadefs', command: ['glance-manage', 'db_load_metadefs'] }],
    },
  ],
  schedules: (context) => [housekeeping(context)],
  findings: (context) => ({ remarks: [...remarksOn(context), ...strangeCinder(context)] }),
  lasting: ({ spec }) => foundBy(spec),
  problems: (context) => ({ ...refusedBy(storeProblems(context)), ...unknownEndpoint(context) }),
});

function remarksOn({ spec, named }: Context<Glance>): string[] {
  if (usesCeph(spec) && !showsPlaces(spec))
    return [
      `spec.additionalStores: ${inCeph(spec) ? 'volumes and servers copy the images that lie in Ceph' : 'volumes copy the images that lie in Cinder'}, because with storageType pvc no API shows where they are`,
    ];
  return showsPlaces(spec) && spec.nodeNetworks === undefined
    ? [
        `spec.nodeNetworks: not set, so any address that reaches the cluster's network may connect to ${named('internal')}, which shows where images are; set it to the networks of nodes`,
      ]
    : [];
}

/** What lies in `policy_dirs` comes over what users say. */
const policies = '/etc/glance/policy.d';

/** Where images are in the cluster: there alone, whatever users say of the API (OSSN-0090). */
const locations: Layer = {
  DEFAULT: { show_image_direct_url: true, show_multiple_locations: true },
  oslo_policy: { policy_dirs: policies },
};

/** Nova sets the location of a snapshot that it has made in the cluster, for its user, but with its own token as well. */
const locationPolicy: DataSource = {
  format: 'yaml',
  data: Object.fromEntries(
    ['delete_image_location', 'get_image_location', 'set_image_location'].map((name) => [
      name,
      'service_roles:service',
    ]),
  ),
};

function api({ spec, named }: Context<Glance>): Component {
  return {
    workload: 'Deployment',
    image: 'glance-api',
    runs: { command: ['glance-api', '--config-file', apiConf] },
    workers: { section: 'DEFAULT', option: 'workers' },
    env: {
      // Of several pods the one is asked that has staged an image. Of one alone another may come later, on the same volume.
      ...(!onVolume(spec) && {
        POD_IP: { field: 'status.podIP' },
        OS_DEFAULT__WORKER_SELF_REFERENCE_URL: 'http://$(POD_IP):9292',
      }),
      // boto3 1.36 and later send checksums as trailers, which not every server of S3 knows.
      ...(inS3(spec) && {
        AWS_REQUEST_CHECKSUM_CALCULATION: 'when_required',
        AWS_RESPONSE_CHECKSUM_VALIDATION: 'when_required',
      }),
    },
    ports: { api: 9292 },
    health: { get: '/healthcheck', port: 'api' },
    ...(onVolume(spec) && { strategy: 'Recreate' }),
    // Uploads are staged there, wherever images are kept.
    mounts: [{ path: '/var/lib/glance', ...(onVolume(spec) ? { claim: named('images') } : { scratch: true }) }],
    ...(caches(spec) && { sidecars: [pruner] }),
    graceSeconds: 60,
    resources: { cpu: '50m', memory: '256Mi' },
  };
}

function files(context: Context<Glance>, ...more: readonly Layer[]): ConfigFiles {
  return {
    [apiConf]: {
      oslo: sections(configuration(context), ...importsAndCache(context.spec), enforced(context), ...more),
      owned: layered(
        ownedByAdditional(context.spec),
        ownedByImportsAndCache(context.spec),
        ownedByLimits(context.spec),
      ) as OwnedOptions,
    },
    ...storeFiles(context),
  };
}

/** Exact names, as Glance compares them: it knows no networks. `domain`: that of the cluster. */
const insideHosts = (domain: string) => [
  '169.254.169.254',
  'fd00:ec2::254',
  'metadata.google.internal',
  'localhost',
  '127.0.0.1',
  '::1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  `kubernetes.default.svc.${domain}`,
];

/** Not `purge_images_table`: the rows of images themselves keep their identifiers from being used again (OSSN-0075). */
function housekeeping(context: Context<Glance>): Schedule {
  const { schedule, suspend = false, purgeAfterDays = 30 } = context.spec.housekeeping ?? {};
  const age = ['--age_in_days', String(purgeAfterDays), '--max_rows', '10000'];
  return {
    suffix: 'db-purge',
    image: 'glance-api',
    mounts: [{ path: '/var/lib/glance', scratch: true }],
    runs: [{ name: 'db-purge', command: ['glance-manage', 'db', 'purge', ...age] }],
    cron: schedule ?? nightly(context, 'db-purge'),
    suspend,
    deadlineSeconds: 3600,
  };
}

function configuration(context: Context<Glance>) {
  return sections(
    logging,
    proxied,
    locks('glance'),
    database(context, 'glance'),
    authtoken(context),
    sending(context),
    stores(context),
    {
      DEFAULT: { bind_host: '0.0.0.0', bind_port: 9292, workers: usualProcesses },
      os_glance_staging_store: { filesystem_store_datadir: '/var/lib/glance/staging' },
      os_glance_tasks_store: { filesystem_store_datadir: '/var/lib/glance/tasks' },
      // web-download fetches what any user names, from inside the cluster. Public servers prove by a certificate who they
      // are; the addresses of metadata services and of the cluster's own API are none. Glance reads these lists in brackets.
      import_filtering_opts: {
        allowed_schemes: '[https]',
        allowed_ports: '[443]',
        disallowed_hosts: `[${insideHosts(context.surroundings.clusterDomain).join(',')}]`,
      },
      paste_deploy: { flavor: 'keystone', config_file: '/etc/glance/glance-api-paste.ini' },
    },
  );
}
