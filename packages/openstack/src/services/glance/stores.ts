import { client, trustOfApis } from '../../engine/configuration/sections.ts';
import type { OwnedOptions } from '../../engine/configuration/user-config.ts';
import { lastingSuffix } from '../../engine/names/names.ts';
import { rootOf } from '../../engine/names/roots.ts';
import type { ConfigFiles, DataSource } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { cephConf, cephFiles, cephOf, clusterProblems } from '../../infrastructure/ceph/address.ts';
import type { CephUser } from '../../infrastructure/ceph/kind.ts';
import type { Layer } from '../../oslo/layers.ts';
import { secretReference } from '../../oslo/references.ts';
import { isInCeph } from '../cinder/configuration.ts';
import type { Cinder } from '../cinder/kind.ts';
import { backendsFor } from '../cinder/volume-types.ts';
import type { AdditionalStore } from './additional-stores.ts';
import { type Glance, standardPool, whySingle } from './kind.ts';

type Spec = Partial<Glance['spec']>;

/** The file of the API. */
export const apiConf = '/etc/glance/glance-api.conf';

/** One store of images. */
interface Store extends Pick<AdditionalStore, 'name' | 'description' | 'cephPoolName' | 's3' | 'volumeType'> {
  readonly type: 'pvc' | AdditionalStore['type'];
  /** Where the spec says that there is one. */
  readonly path: string;
}

/** Names of the stores that storageType makes: they are recorded with each image. */
const standardNames = { pvc: 'local', ceph: 'ceph', swift: 'swift' } as const;

/** All stores; the first one is that of storageType. */
function storesOf({ storageType = 'pvc', additionalStores = [], ...spec }: Spec): readonly [Store, ...Store[]] {
  return [
    {
      name: standardNames[storageType],
      type: storageType,
      path: 'spec.storageType',
      ...(storageType === 'ceph' && { cephPoolName: spec.cephPoolName ?? standardPool }),
    },
    ...additionalStores.map((store) => ({ ...store, path: pathOf(store.name) })),
  ];
}

const pathOf = (name: string): string => `spec.additionalStores[name=${name}]`;

const has = (spec: Spec, type: Store['type']): boolean => storesOf(spec).some((store) => store.type === type);

/** Whether images are kept in Ceph. */
export const inCeph = (spec: Spec): boolean => has(spec, 'ceph');

/** Whether images are kept in Swift. */
export const inSwift = (spec: Spec): boolean => has(spec, 'swift');

/** Whether images are kept as volumes of Cinder. */
export const inCinder = (spec: Spec): boolean => has(spec, 'cinder');

/** Whether they are kept in a cluster of Ceph: in pools, or as volumes, which the operator offers there alone. */
export const usesCeph = (spec: Spec): boolean => inCeph(spec) || inCinder(spec);

/** Whether images are kept in S3. */
export const inS3 = (spec: Spec): boolean => has(spec, 's3');

/** Whether images are kept on a volume, which one pod at a time can use. */
export const onVolume = (spec: Spec): boolean => has(spec, 'pvc');

/** Whether an API of its own shows where images are in Ceph: a second one cannot use the volume. */
export const showsPlaces = (spec: Spec): boolean => usesCeph(spec) && !onVolume(spec);

/** The pools of the images in Ceph. */
export const poolsOf = (spec: Spec): string[] => storesOf(spec).flatMap(({ cephPoolName: pool }) => pool ?? []);

/** Options of stores that users cannot set, with the field instead. */
const ownedBy = {
  pvc: { filesystem_store_datadir: 'spec.storage' },
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

/** The same of the stores that storageType makes. */
export const ownedByStores = {
  glance_store: { default_backend: 'spec.defaultStore' },
  local: ownedBy.pvc,
  ceph: ownedBy.ceph,
  swift: ownedBy.swift,
} as const;

/** The same of the further stores of a spec. */
export function ownedByAdditional({ additionalStores = [] }: Spec): OwnedOptions {
  return Object.fromEntries(additionalStores.map(({ name, type }) => [name, ownedOf(pathOf(name), type)]));
}

function ownedOf(path: string, type: AdditionalStore['type']): OwnedOptions[string] {
  const fields = {
    ceph: { ...ownedBy.ceph, rbd_store_pool: `${path}.cephPoolName` },
    swift: ownedBy.swift,
    s3: {
      s3_store_host: `${path}.s3.endpoint`,
      s3_store_bucket: `${path}.s3.bucket`,
      s3_store_region_name: `${path}.s3.region`,
      s3_store_access_key: `${path}.s3.secretName`,
      s3_store_secret_key: `${path}.s3.secretName`,
    },
    cinder: {
      cinder_store_auth_address: 'spec.keystoneRef',
      cinder_store_user_name: 'spec.identity',
      cinder_store_password: 'spec.identity',
      cinder_store_user_domain_name: 'spec.identity',
      cinder_store_project_name: "nothing: volumes of images are those of Glance's project",
      cinder_store_project_domain_name: "nothing: volumes of images are those of Glance's project",
      cinder_os_region_name: 'spec.region',
      cinder_volume_type: `${path}.volumeType`,
    },
  };
  return { store_description: `${path}.description`, ...fields[type] };
}

/** By what images are found. */
export function foundBy(spec: Spec): Record<string, string> {
  const [standard, ...additional] = storesOf(spec);
  return {
    'spec.storageType': standard.type,
    ...(standard.cephPoolName !== undefined && { 'spec.cephPoolName': standard.cephPoolName }),
    ...(inSwift(spec) && spec.swiftRef && { 'spec.swiftRef': `Swift ${spec.swiftRef.name}` }),
    ...(inCinder(spec) && spec.cinderRef && { 'spec.cinderRef': `Cinder ${spec.cinderRef.name}` }),
    ...Object.fromEntries(additional.map((store) => [store.path, placeOf(store)])),
  };
}

function placeOf({ type, cephPoolName, s3 }: Store): string {
  return [type, cephPoolName, s3 && `${s3.bucket} at ${s3.endpoint}`].filter((part) => part !== undefined).join(' ');
}

/** What is wrong with a spec, by where it keeps images. */
export function storeProblems(context: Context<Glance>): readonly string[] {
  const { spec } = context;
  const lacking = storesOf(spec).flatMap((store) => {
    const { type, path } = store;
    const field = path === 'spec.storageType' ? path : `${path}.type`;
    if (type === 'ceph') return clusterProblems(context, field);
    if (type === 'cinder') return cinderProblems(context, field, store);
    return type === 'swift' && spec.swiftRef === undefined
      ? [`${field}: swift needs a Swift; set spec.swiftRef, or spec.swift of the control plane`]
      : [];
  });
  const { replicas = 1 } = spec.components?.['api'] ?? {};
  const tooMany = onVolume(spec) && replicas > 1 ? [`spec.components.api.replicas: ${whySingle}`] : [];
  return [...lacking, ...tooMany, ...takenAway(context)];
}

/** The pods have what clients of Ceph have, and no rights to attach or to mount what other backends keep. */
function cinderProblems(context: Context<Glance>, field: string, { volumeType }: Store): string[] {
  const { spec, reference } = context;
  if (spec.cinderRef === undefined)
    return [`${field}: cinder needs a Cinder; set spec.cinderRef, or spec.cinder of the control plane`];
  const cinder: Partial<Cinder['spec']> = reference('cinderRef')?.spec ?? {};
  const elsewhere = backendsFor(cinder, volumeType).filter((one) => !isInCeph(one));
  if (elsewhere.length === 0) return clusterProblems(context, field);
  const type = volumeType === undefined ? 'the default type' : `type ${volumeType}`;
  const names = elsewhere.map(({ name }) => name).join(', ');
  return [
    `${field}: volumes of ${type} may lie in backend ${names} of the Cinder, and images are kept as volumes in backends of type ceph only; set volumeType to a type of such a one`,
  ];
}

/** What a Cinder of another cloud lacks for images that are volumes: it knows the Glance of its own alone. */
export function strangeCinder({ spec, resource, reference }: Context<Glance>): string[] {
  const cinder = inCinder(spec) ? reference('cinderRef') : undefined;
  if (cinder === undefined) return [];
  const root = rootOf(cinder);
  if (root?.uid === rootOf(resource)?.uid) return [];
  const { name } = cinder.metadata;
  const of = root === undefined ? 'of no control plane' : `of ${root.kind} ${root.name}`;
  return [
    `spec.cinderRef: Cinder ${name} is ${of}, and knows nothing of the stores of this Glance: unless it is told allowed_direct_url_schemes=cinder in section DEFAULT of its cinder.conf (config), volumes copy the images that lie there; and unless project service has no bounds (openstack quota set --volumes -1 --gigabytes -1 service), it has room for as many images as for volumes`,
  ];
}

/** Stores that there were, and that nobody states any more: Glance would not know where their images are. */
function takenAway({ spec, surroundings, named }: Context<Glance>): string[] {
  const stated = new Set(storesOf(spec).map(({ path }) => path));
  return Object.entries(surroundings.lasting)
    .filter(([field]) => field.startsWith('spec.additionalStores[') && !stated.has(field))
    .map(
      ([field, was]) =>
        `${field}: it was ${was} before (status.lasting, ConfigMap ${named(lastingSuffix)}), and is stated no more: its images are out of reach; state it again`,
    );
}

/** Files that stores read besides: what they log in with. */
export function storeFiles(context: Context<Glance>): ConfigFiles {
  const ceph = clusterOf(context);
  return {
    ...(ceph && cephFiles(ceph, ...usersOf(context.spec))),
    ...(inSwift(context.spec) && { [swiftAccounts]: accounts(context) }),
  };
}

/** As whom pods use Ceph: volumes of images they open as Cinder does, with the key that os-brick looks for in their files. */
function usersOf(spec: Spec): CephUser[] {
  return [...(inCeph(spec) ? (['glance'] as const) : []), ...(inCinder(spec) ? (['cinder'] as const) : [])];
}

const drivers = { pvc: 'file', ceph: 'rbd', swift: 'swift', s3: 's3', cinder: 'cinder' } as const;

/** The stores, whose names are recorded with each image. */
export function stores(context: Context<Glance>): Layer {
  const all = storesOf(context.spec);
  const sections = all.map((store) => {
    const { name, description } = store;
    return [
      name,
      { ...(description !== undefined && { store_description: description }), ...optionsOf(context, store) },
    ];
  });
  return {
    DEFAULT: { enabled_backends: all.map(({ name, type }) => `${name}:${drivers[type]}`).join(',') },
    glance_store: { default_backend: context.spec.defaultStore ?? all[0].name },
    ...(inCinder(context.spec) && { privsep_osbrick: unprivileged }),
    ...(Object.fromEntries(sections) as Layer),
  };
}

/**
 * os-brick asks for names of initiators by a process of its own, which gets root by sudo, whatever keeps the volumes. Of what
 * it finds Ceph needs nothing, and without capabilities to keep it starts in a pod that has none (oslo.privsep 3.6).
 */
const unprivileged = { capabilities: '', helper_command: `privsep-helper --config-file ${apiConf}` };

function optionsOf(context: Context<Glance>, store: Store): Layer[string] {
  const { name, type, cephPoolName = '', s3, path } = store;
  if (type === 'pvc') return { filesystem_store_datadir: '/var/lib/glance/images' };
  if (type === 'cinder') return volumes(context, store);
  if (type === 'swift') return swift(context, path === 'spec.storageType' ? 'glance' : `glance-${name}`);
  const ceph = clusterOf(context);
  if (ceph !== undefined && type === 'ceph')
    return { rbd_store_pool: cephPoolName, rbd_store_user: ceph.user('glance'), rbd_store_ceph_conf: cephConf };
  if (s3 === undefined) return {};
  return {
    s3_store_host: s3.endpoint,
    s3_store_bucket: s3.bucket,
    ...(s3.region !== undefined && { s3_store_region_name: s3.region }),
    s3_store_access_key: secretReference(s3.secretName, 'accessKey'),
    s3_store_secret_key: secretReference(s3.secretName, 'secretKey'),
  };
}

/** The cluster that images lie in; undefined when they lie elsewhere. */
const clusterOf = (context: Context<Glance>) => (usesCeph(context.spec) ? cephOf(context) : undefined);

/**
 * The images of a store are volumes of Glance's own project. The driver finds Cinder in the catalogue, and knows no endpoint but
 * the public one (glance_store 4.9, `get_cinderclient`).
 */
function volumes(context: Context<Glance>, { volumeType }: Store): Layer[string] {
  const login = client(context);
  return {
    cinder_store_auth_address: login['auth_url'] ?? null,
    cinder_store_user_name: login['username'] ?? null,
    cinder_store_password: login['password'] ?? null,
    cinder_store_user_domain_name: login['user_domain_name'] ?? null,
    cinder_store_project_name: login['project_name'] ?? null,
    cinder_store_project_domain_name: login['project_domain_name'] ?? null,
    cinder_os_region_name: context.region,
    ...(volumeType !== undefined && { cinder_volume_type: volumeType }),
    ...trustOfApis(context, 'cinder_ca_certificates_file'),
  };
}

const swiftAccounts = '/etc/glance/glance-swift.conf';

/** The section of that file. The location of each image names it: it never changes. */
const account = 'cloud';

/** The images of a store lie in one container of the account of Glance's own project, where it is an administrator. */
function swift(context: Context<Glance>, container: string): Layer[string] {
  return {
    swift_store_config_file: swiftAccounts,
    default_swift_reference: account,
    swift_store_container: container,
    swift_store_create_container_on_put: true,
    swift_store_endpoint_type: 'internalURL',
    swift_store_region: context.region,
    ...trustOfApis(context, 'swift_store_cacert'),
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
