import {
  authtoken,
  client,
  coordination,
  messaging,
  proxied,
  sections,
  trustOfApis,
} from '../../engine/configuration/sections.ts';
import type { ConfigFiles, UserLayer } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { cephClientFiles, cephConf, cephOf } from '../../infrastructure/ceph/address.ts';
import type { CephPool } from '../../infrastructure/ceph/kind.ts';
import type { Layer } from '../../oslo/layers.ts';
import { type BackendCounting, lastingBackends, servedBackends } from '../backend-memory.ts';
import {
  type BackendWords,
  backendLayer,
  backendSection,
  backendSets,
  backendsOf,
  fileOf,
  hostOf,
  common as shared,
} from '../backends.ts';
import { backendTypes } from './backend-types.ts';
import { driverMistake, presentName } from './drivers.ts';
import { imageCache, ownedByCache } from './image-cache.ts';
import type { Backend, Cinder } from './kind.ts';
import { groupOf, isLvm, lvmBackends, portalOf, targetFiles } from './lvm.ts';

/** How Cinder words its backends. */
export const words: BackendWords = {
  project: 'cinder',
  component: 'volume',
  beside: 'target',
  driver: 'volume_driver',
  label: 'volume_backend_name',
};

/** How volumes of a backend are counted, and new ones kept away from it. */
export const counting: BackendCounting = {
  // Of a backend's name Cinder finds those of all its pools, and does not show where they lie (cinder.db.sqlalchemy.api).
  counts: [{ of: 'volumes', lists: ['/volumes?all_tenants=1&limit=1000&host={host}'] }],
  scheduling: { path: '/os-services', disable: 'disable-log-reason' },
};

/** What volumes are recorded under and where they lie, and where copies do. */
export function lasting(context: Context<Cinder>): Record<string, string> {
  const { backup } = context.spec;
  const copies = backup && `${backup.type}${backup.type === 'ceph' ? ` ${backup.cephPoolName ?? copiesPool}` : ''}`;
  return {
    ...lastingBackends(words, context, (backend) => ({
      type: backend.type,
      place: isLvm(backend) ? groupOf(backend) : backend.cephPoolName,
      fields: isLvm(backend) ? portalOf(backend) : driverOf(context, backend),
    })),
    ...(copies === undefined ? {} : { 'spec.backup': copies }),
  };
}

/** The driver of a custom backend, by its option. One that is refused, or no name of a class, is not remembered: it is to be corrected. */
function driverOf({ spec }: Context<Cinder>, { name, type, config }: Backend): Readonly<Record<string, string>> {
  const driver = config?.['cinder.conf']?.[name]?.['volume_driver'];
  if (type !== 'custom' || typeof driver !== 'string' || driver.length > 253) return {};
  const isRefused = spec.unknownOptions !== 'Allow' && driverMistake('volume_driver', driver) !== undefined;
  return isRefused ? {} : { [`config["cinder.conf"].${name}.volume_driver`]: presentName(driver) };
}

/** Whether volumes or copies of them lie in Ceph. */
export const usesCeph = (spec: Partial<Cinder['spec']>): boolean =>
  spec.backup?.type === 'ceph' || backendsOf(spec).some(({ type }) => type === 'ceph');

/** Whether volumes lie in Ceph: in backends that are stated, or in others that are remembered. */
export function keepsVolumesInCeph(
  spec: Partial<Cinder['spec']>,
  remembered: Readonly<Record<string, unknown>>,
): boolean {
  return [...backendsOf(spec), ...Object.values(remembered)].some(isInCeph);
}

/** Whether a backend, stated or remembered, is in Ceph. */
export const isInCeph = (backend: unknown): boolean => (backend as Partial<Backend> | null)?.type === 'ceph';

/** Pools of a spec, as a CephStorage lists them. */
export function poolsOf(spec: Partial<Cinder['spec']>): CephPool[] {
  const volumes = backendsOf(spec).flatMap(({ type, cephPoolName }): CephPool[] =>
    type === 'ceph' && cephPoolName !== undefined ? [{ name: cephPoolName, purpose: 'cinder-volumes' }] : [],
  );
  const copies: CephPool[] =
    spec.backup?.type === 'ceph' ? [{ name: spec.backup.cephPoolName ?? copiesPool, purpose: 'cinder-backups' }] : [];
  return [...volumes, ...copies];
}

const copiesPool = 'backups';

/** Each process has a file of its own, so that a change of one backend stops no other. */
export function configSets(context: Context<Cinder>): Record<string, ConfigFiles> {
  const { spec, named } = context;
  const volumes = backendSets(words, servedBackends(context), (backend) => ({
    ...fileOf(
      words,
      common(context, hostOf(context, backend), clients(context), volume(context, backend)),
      layer(backend),
    ),
    ...backendTypes[backend.type].files(context, backend),
  }));
  return {
    main: fileOf(
      words,
      common(
        context,
        named('api'),
        clients(context),
        proxied,
        authtoken(context),
        messaging(context, { pthreadHeartbeat: true }),
        {
          DEFAULT: {
            default_volume_type: spec.defaultVolumeType ?? spec.defaultBackend ?? backendsOf(spec)[0]?.name ?? null,
          },
        },
      ),
    ),
    scheduler: fileOf(words, common(context, named('scheduler'))),
    ...volumes,
    ...(lvmBackends(spec).length === 0 ? {} : { target: targetFiles }),
    ...(spec.backup && { backup: backupFiles(context, spec.backup) }),
  };
}

/** What all of its files say. */
function common(context: Context<Cinder>, host: string, ...more: readonly Layer[]): Layer {
  const { availabilityZone: zone } = context.spec;
  return shared(
    words,
    context,
    host,
    zone === undefined ? {} : { DEFAULT: { storage_availability_zone: zone } },
    ...more,
  );
}

/** Of all but the scheduler, which works with no volume: it locks nothing, and asks neither Nova nor Glance. */
function clients(context: Context<Cinder>): Layer {
  const login = client(context);
  const { region_name: _region, ...unregional } = login;
  return sections(coordination(context), {
    DEFAULT: {
      glance_catalog_info: 'image::internalURL',
      ...trustOfApis(context, 'glance_ca_certificates_file'),
    },
    nova: { ...login, interface: 'internal' },
    // Its section knows no region.
    service_user: { send_service_user_token: true, ...unregional },
  });
}

function volume(context: Context<Cinder>, backend: Backend): Layer {
  const { availabilityZone: zone } = backend;
  const cache = imageCache(context, backend);
  const options = {
    backend_host: hostOf(context, backend),
    ...(zone === undefined ? {} : { backend_availability_zone: zone }),
    ...backendTypes[backend.type].options(context, backend),
    ...cache.section,
  };
  return {
    DEFAULT: { enabled_backends: backend.name, ...cache.process },
    ...backendSection(words, backend, options),
  };
}

function layer(backend: Backend): UserLayer {
  const { fields, elsewhere = {} } = backendTypes[backend.type].owned;
  return backendLayer(words, backend, {
    fields: {
      backend_host: 'backendHost',
      backend_availability_zone: 'availabilityZone',
      ...fields,
      ...ownedByCache(backend),
    },
    elsewhere,
  });
}

type Backup = NonNullable<Cinder['spec']['backup']>;

/** Of the volumes that it copies it reads what their backends' user may. */
function backupFiles(context: Context<Cinder>, { config, ...backup }: Backup): ConfigFiles {
  const driver = { DEFAULT: { ...kept(context, backup), ...trustOfSwift(context, config), backup_workers: 1 } };
  const oslo = common(context, context.named('backup'), clients(context), driver);
  const inCeph = servedBackends(context).some(({ type }) => type === 'ceph');
  const users = [...(inCeph ? ['cinder' as const] : []), ...(backup.type === 'ceph' ? ['cinderBackup' as const] : [])];
  return {
    ...fileOf(words, oslo, { path: 'spec.backup.config', config, owned: ownedByBackup(backup.type) }),
    ...(users.length === 0 ? {} : cephClientFiles(context, ...users)),
  };
}

/** What users cannot set of a driver that the type names. */
function ownedByBackup(type: Backup['type']): NonNullable<UserLayer['owned']> {
  if (type === 'custom') return {};
  const ceph = { backup_ceph_pool: 'spec.backup.cephPoolName', backup_ceph_user: 'spec.users of the CephStorage' };
  return { DEFAULT: { backup_driver: 'spec.backup.type', ...(type === 'ceph' ? ceph : {}) } };
}

/** Where copies are kept. */
function kept(context: Context<Cinder>, { type, cephPoolName = copiesPool }: Backup): Layer[string] {
  if (type === 'pvc') return { backup_driver: `${drivers}.posix.PosixBackupDriver`, backup_posix_path: backupPath };
  const ceph = cephOf(context);
  if (type !== 'ceph' || ceph === undefined) return {};
  const where = {
    backup_ceph_conf: cephConf,
    backup_ceph_user: ceph.user('cinderBackup'),
    backup_ceph_pool: cephPoolName,
  };
  return { backup_driver: `${drivers}.ceph.CephBackupDriver`, ...where };
}

/** By what the driver verifies the Swift of this cloud. One that is named by its address has an authority of its own. */
function trustOfSwift(context: Context<Cinder>, config: Backup['config']): Layer[string] {
  const { backup_driver, backup_swift_url, backup_swift_auth_url } = {
    ...context.spec.config?.['cinder.conf']?.['DEFAULT'],
    ...config?.['cinder.conf']?.['DEFAULT'],
  };
  return backup_driver === `${drivers}.swift.SwiftBackupDriver` && (backup_swift_url ?? backup_swift_auth_url) == null
    ? trustOfApis(context, 'backup_swift_ca_cert_file')
    : {};
}

const drivers = 'cinder.backup.drivers';

/** Where the volume of copies is mounted. */
export const backupPath = '/var/lib/cinder/backup';
