import { client } from '../../engine/configuration/sections.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { ConfigFiles, DataSource } from '../../engine/vocabulary/service.ts';
import { cephConf, cephFiles, cephOf, clusterProblems } from '../../infrastructure/ceph/address.ts';
import type { Layer } from '../../oslo/layers.ts';
import { type Glance, whySingle } from './kind.ts';

type Spec = Partial<Glance['spec']>;

/** Whether images are kept in Ceph. */
export const inCeph = ({ storageType }: Spec): boolean => storageType === 'ceph';

/** Whether images are kept in Swift. */
export const inSwift = ({ storageType }: Spec): boolean => storageType === 'swift';

/** Whether images are kept on a volume, which one pod at a time can use. */
export const onVolume = (spec: Spec): boolean => !inCeph(spec) && !inSwift(spec);

/** The pool of the images in Ceph. */
export const poolOf = ({ cephPoolName = 'glance-images' }: Spec): string => cephPoolName;

/** Options of stores that users cannot set, with the field instead. */
export const ownedByStores = {
  glance_store: { default_backend: 'spec.storageType' },
  local: { filesystem_store_datadir: 'spec.storage' },
  ceph: {
    rbd_store_pool: 'spec.cephPoolName',
    rbd_store_user: 'spec.users of the CephStorage',
    rbd_store_ceph_conf: 'spec.external of the CephStorage',
  },
  swift: {
    swift_store_config_file: 'spec.identity',
    default_swift_reference: 'nothing: it stands in the location of each image',
    swift_store_container: 'nothing: the container of the images',
    swift_store_create_container_on_put: 'nothing: the first image makes the container',
    swift_store_multi_tenant: "nothing: images lie in the account of Glance's project",
    swift_store_region: 'spec.region',
    swift_store_endpoint: 'spec.swiftRef',
    swift_store_endpoint_type: 'spec.swiftRef',
    swift_store_service_type: 'spec.swiftRef',
  },
} as const;

/** By what images are found. */
export function foundBy(spec: Spec): Record<string, string> {
  return {
    'spec.storageType': spec.storageType ?? 'pvc',
    ...(inCeph(spec) && { 'spec.cephPoolName': poolOf(spec) }),
    ...(inSwift(spec) && spec.swiftRef && { 'spec.swiftRef': `Swift ${spec.swiftRef.name}` }),
  };
}

/** What is wrong with a spec, by where it keeps images. */
export function storeProblems(context: Context<Glance>): readonly string[] {
  const { spec } = context;
  if (inCeph(spec)) return clusterProblems(context, 'spec.storageType');
  if (inSwift(spec))
    return spec.swiftRef === undefined
      ? ['spec.storageType: swift needs a Swift; set spec.swiftRef, or spec.swift of the control plane']
      : [];
  const { replicas = 1 } = spec.components?.['api'] ?? {};
  return replicas > 1 ? [`spec.components.api.replicas: ${whySingle}`] : [];
}

/** Files that the store reads besides: what it logs in with. */
export function storeFiles(context: Context<Glance>): ConfigFiles {
  const ceph = clusterOf(context);
  return {
    ...(ceph && cephFiles(ceph, 'glance')),
    ...(inSwift(context.spec) && { [swiftAccounts]: accounts(context) }),
  };
}

/** The store, whose name is recorded with each image. */
export function store(context: Context<Glance>): Layer {
  if (inSwift(context.spec)) return swift(context);
  const ceph = clusterOf(context);
  if (ceph === undefined)
    return {
      DEFAULT: { enabled_backends: 'local:file' },
      glance_store: { default_backend: 'local' },
      local: { filesystem_store_datadir: '/var/lib/glance/images' },
    };
  return {
    DEFAULT: { enabled_backends: 'ceph:rbd' },
    glance_store: { default_backend: 'ceph' },
    ceph: {
      rbd_store_pool: poolOf(context.spec),
      rbd_store_user: ceph.user('glance'),
      rbd_store_ceph_conf: cephConf,
    },
  };
}

/** The cluster that images lie in; undefined when they lie elsewhere. */
const clusterOf = (context: Context<Glance>) => (inCeph(context.spec) ? cephOf(context) : undefined);

const swiftAccounts = '/etc/glance/glance-swift.conf';

/** The section of that file. The location of each image names it: it never changes. */
const account = 'cloud';

/** All images lie in one container of the account of Glance's own project, where it is an administrator. */
function swift({ region }: Context<Glance>): Layer {
  return {
    DEFAULT: { enabled_backends: 'swift:swift' },
    glance_store: { default_backend: 'swift' },
    swift: {
      swift_store_config_file: swiftAccounts,
      default_swift_reference: account,
      swift_store_container: 'glance',
      swift_store_create_container_on_put: true,
      swift_store_endpoint_type: 'internalURL',
      swift_store_region: region,
    },
  };
}

/** What it logs in with: read by Python's configparser, and quoted, because quotes around a value are taken off. */
function accounts(context: Context<Glance>): DataSource {
  const login = client(context, undefined, 'percent');
  return {
    format: 'ini',
    data: {
      [account]: {
        auth_version: '3',
        auth_address: login['auth_url'] ?? '',
        user: `${login['project_name']}:${login['username']}`,
        key: `"${login['password']}"`,
        user_domain_name: login['user_domain_name'] ?? '',
        project_domain_name: login['project_domain_name'] ?? '',
      },
    },
  };
}
