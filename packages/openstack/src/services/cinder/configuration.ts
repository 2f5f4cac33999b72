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
import { cephFiles, cephOf } from '../../infrastructure/ceph/client.ts';
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
      ...files(backend),
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
          DEFAULT: { default_volume_type: spec.defaultBackend ?? backendsOf(spec)[0]?.name ?? null },
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

const files = ({ ceph }: Backend): ConfigFiles => (ceph === undefined ? {} : cephFiles(ceph, 'cinder'));

/** Services and volumes are recorded by host: a pod's name would leave a service that is down for each pod that went. */
function common(context: Context<Cinder>, host: string, ...more: readonly Layer[]): Layer {
  const own = {
    DEFAULT: { host, state_path: '/var/lib/cinder' },
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
  const { name } = backend;
  const named = { volume_backend_name: name, backend_host: hostOf(context, backend) };
  return { DEFAULT: { enabled_backends: name }, [name]: { ...named, ...rbd(backend) } };
}

function rbd({ ceph, cephPoolName = '' }: Backend): Layer[string] {
  if (ceph === undefined) return {};
  const { cluster, conf, user } = cephOf(ceph, 'cinder');
  return {
    volume_driver: 'cinder.volume.drivers.rbd.RBDDriver',
    rbd_pool: cephPoolName,
    rbd_user: user,
    rbd_ceph_conf: conf,
    rbd_cluster_name: cluster,
  };
}

const ownedByCeph = {
  volume_driver: 'type',
  rbd_pool: 'cephPoolName',
  rbd_user: 'ceph.userName',
  rbd_ceph_conf: 'ceph',
  rbd_cluster_name: 'ceph.clusterName',
};

function layer({ name, type, config }: Backend): UserLayer {
  const path = `spec.backends[name=${name}]`;
  const fields = { volume_backend_name: 'name', backend_host: 'backendHost', ...(type === 'ceph' ? ownedByCeph : {}) };
  const owned = Object.entries(fields).map(([option, field]) => [option, `${path}.${field}`]);
  return { path: `${path}.config`, config, owned: { [name]: Object.fromEntries(owned) } };
}

type Backup = NonNullable<Cinder['spec']['backup']>;

/** Of the volumes that it copies it reads what their backends' users may. */
function backupFiles(context: Context<Cinder>, { config, ...backup }: Backup): ConfigFiles {
  const driver = { DEFAULT: { ...kept(backup), backup_workers: 1 } };
  const oslo = common(context, context.named('backup'), clients(context), driver);
  return {
    ...configured(oslo, { path: 'spec.backup.config', config }),
    ...Object.assign({}, ...backendsOf(context.spec).map(files)),
    ...(backup.ceph && cephFiles(backup.ceph, 'cinder-backup')),
  };
}

/** Where copies are kept. */
function kept({ type, ceph, cephPoolName = 'backups' }: Backup): Layer[string] {
  if (type === 'pvc') return { backup_driver: `${drivers}.posix.PosixBackupDriver`, backup_posix_path: backupPath };
  if (ceph === undefined) return {};
  const { conf, user } = cephOf(ceph, 'cinder-backup');
  const pool = { backup_ceph_conf: conf, backup_ceph_user: user, backup_ceph_pool: cephPoolName };
  return { backup_driver: `${drivers}.ceph.CephBackupDriver`, ...pool };
}

const drivers = 'cinder.backup.drivers';

/** Where the volume of copies is mounted. */
export const backupPath = '/var/lib/cinder/backup';

/** What is wrong with backends: drivers that nobody names, keys that one file cannot hold. */
export function backendProblems({ spec }: Context<Cinder>): string[] {
  const keyrings = new Map<string, string>();
  return backendsOf(spec).flatMap(({ name, type, config, ceph }) => {
    const at = `spec.backends[name=${name}]`;
    const keyring = ceph && `${cephOf(ceph, 'cinder').cluster}.client.${cephOf(ceph, 'cinder').user}`;
    const said = ceph && JSON.stringify([ceph.monitors, ceph.secretName]);
    const rival = keyring !== undefined && (keyrings.get(keyring) ?? said) !== said;
    if (keyring !== undefined && said !== undefined) keyrings.set(keyring, said);
    return [
      ...(type === 'custom' && config?.['cinder.conf']?.[name]?.['volume_driver'] === undefined
        ? [
            `${at}.config: type custom needs the option volume_driver of section ${name} of cinder.conf: the class of the driver`,
          ]
        : []),
      ...(rival
        ? [`${at}.ceph: another backend has other monitors or another Secret for ${keyring}; set clusterName`]
        : []),
    ];
  });
}
