import {
  authtoken,
  client,
  coordination,
  database,
  logging,
  messaging,
  proxied,
  sections,
} from '../../engine/configuration/sections.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { ConfigFiles, UserLayer } from '../../engine/vocabulary/service.ts';
import { cephConf, cephFiles, cephOf } from '../../infrastructure/ceph/address.ts';
import type { CephUser } from '../../infrastructure/ceph/kind.ts';
import type { Layer } from '../../oslo/layers.ts';
import type { Backend, Cinder } from './kind.ts';

/** The backends; none while a control plane has disabled the service and does not name any. */
export const backendsOf = ({ backends = [] }: Partial<Cinder['spec']>): readonly Backend[] => backends;

/** Each process has a file of its own, so that a change of one backend stops no other. */
export function configSets(context: Context<Cinder>): Record<string, ConfigFiles> {
  const { spec, named } = context;
  const volumes = backendsOf(spec).map((backend): [string, ConfigFiles] => [
    `volume-${backend.name}`,
    {
      ...configured(
        common(context, hostOf(context, backend), clients(context), volume(context, backend)),
        layer(backend),
      ),
      ...(backend.type === 'ceph' ? keyrings(context, 'cinder') : {}),
    },
  ]);
  return {
    main: configured(
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
    scheduler: configured(common(context, named('scheduler'))),
    ...Object.fromEntries(volumes),
    ...(spec.backup && { backup: backupFiles(context, spec.backup) }),
  };
}

const configured = (oslo: Layer, more?: UserLayer): ConfigFiles => ({
  '/etc/cinder/cinder.conf': { oslo, ...(more && { more: [more] }) },
});

function keyrings(context: Context<Cinder>, ...users: readonly CephUser[]): ConfigFiles {
  const ceph = cephOf(context);
  return ceph === undefined ? {} : cephFiles(ceph, ...users);
}

/** Services and volumes are recorded by host: a pod's name would leave a service that is down for each pod that went. */
function common(context: Context<Cinder>, host: string, ...more: readonly Layer[]): Layer {
  const { availabilityZone: zone } = context.spec;
  const own = {
    DEFAULT: {
      host,
      state_path: '/var/lib/cinder',
      ...(zone === undefined ? {} : { storage_availability_zone: zone }),
    },
    oslo_concurrency: { lock_path: '/var/lib/cinder/tmp' },
  };
  return sections(logging, database(context, 'cinder'), messaging(context), own, ...more);
}

/** Of all but the scheduler, which works with no volume: it locks nothing, and asks neither Nova nor Glance. */
function clients(context: Context<Cinder>): Layer {
  const login = client(context);
  const { region_name: _region, ...unregional } = login;
  return sections(coordination(context), {
    DEFAULT: { glance_catalog_info: 'image::internalURL' },
    nova: { ...login, interface: 'internal' },
    // Its section knows no region.
    service_user: { send_service_user_token: true, ...unregional },
  });
}

const hostOf = ({ name }: Context<Cinder>, { backendHost = name }: Backend): string => backendHost;

/** One backend alone: its section has its name, and what users say of it stands over it. */
function volume(context: Context<Cinder>, backend: Backend): Layer {
  const { name, availabilityZone: zone } = backend;
  const named = {
    volume_backend_name: name,
    backend_host: hostOf(context, backend),
    ...(zone === undefined ? {} : { backend_availability_zone: zone }),
  };
  return { DEFAULT: { enabled_backends: name }, [name]: { ...named, ...rbd(context, backend) } };
}

function rbd(context: Context<Cinder>, { type, cephPoolName = '' }: Backend): Layer[string] {
  const ceph = cephOf(context);
  if (type !== 'ceph' || ceph === undefined) return {};
  return {
    volume_driver: 'cinder.volume.drivers.rbd.RBDDriver',
    rbd_pool: cephPoolName,
    rbd_user: ceph.user('cinder'),
    rbd_ceph_conf: cephConf,
    rbd_secret_uuid: ceph.secretUuid('cinder'),
  };
}

const ownedByBackend = {
  volume_backend_name: 'name',
  backend_host: 'backendHost',
  backend_availability_zone: 'availabilityZone',
};
const ownedByPool = { volume_driver: 'type', rbd_pool: 'cephPoolName' };
const ownedByCluster = {
  rbd_user: 'spec.users of the CephStorage',
  rbd_ceph_conf: 'spec.external of the CephStorage',
  rbd_cluster_name: 'spec.cephStorageRef',
  rbd_secret_uuid: 'nothing: libvirt knows the key by it',
};

function layer({ name, type, config }: Backend): UserLayer {
  const path = `spec.backends[name=${name}]`;
  const fields = Object.entries({ ...ownedByBackend, ...(type === 'ceph' ? ownedByPool : {}) });
  const owned = {
    ...Object.fromEntries(fields.map(([option, field]) => [option, `${path}.${field}`])),
    ...(type === 'ceph' ? ownedByCluster : {}),
  };
  return { path: `${path}.config`, config, owned: { [name]: owned } };
}

type Backup = NonNullable<Cinder['spec']['backup']>;

/** Of the volumes that it copies it reads what their backends' user may. */
function backupFiles(context: Context<Cinder>, { config, ...backup }: Backup): ConfigFiles {
  const driver = { DEFAULT: { ...kept(context, backup), backup_workers: 1 } };
  const oslo = common(context, context.named('backup'), clients(context), driver);
  const inCeph = backendsOf(context.spec).some(({ type }) => type === 'ceph');
  const users = [...(inCeph ? ['cinder' as const] : []), ...(backup.type === 'ceph' ? ['cinderBackup' as const] : [])];
  return {
    ...configured(oslo, { path: 'spec.backup.config', config, owned: ownedByBackup(backup.type) }),
    ...(users.length === 0 ? {} : keyrings(context, ...users)),
  };
}

/** What users cannot set of a driver that the type names. */
function ownedByBackup(type: Backup['type']): NonNullable<UserLayer['owned']> {
  if (type === 'custom') return {};
  const ceph = { backup_ceph_pool: 'spec.backup.cephPoolName', backup_ceph_user: 'spec.users of the CephStorage' };
  return { DEFAULT: { backup_driver: 'spec.backup.type', ...(type === 'ceph' ? ceph : {}) } };
}

/** Where copies are kept. */
function kept(context: Context<Cinder>, { type, cephPoolName = 'backups' }: Backup): Layer[string] {
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

const drivers = 'cinder.backup.drivers';

/** Where the volume of copies is mounted. */
export const backupPath = '/var/lib/cinder/backup';
