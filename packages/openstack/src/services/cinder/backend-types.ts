import { defined } from '../../engine/names/defined.ts';
import type { ConfigFiles } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { cephClientFiles, cephConf, cephOf } from '../../infrastructure/ceph/address.ts';
import type { Layer } from '../../oslo/layers.ts';
import type { Backend, Cinder } from './kind.ts';
import { lvmOptions, targetFiles } from './lvm.ts';

/** What a type of backends is. */
interface BackendType {
  /** Options of a backend's section that follow from its fields. */
  readonly options: (context: Context<Cinder>, backend: Backend) => Layer[string];
  /** Files that its process reads, beside cinder.conf. */
  readonly files: (context: Context<Cinder>, backend: Backend) => ConfigFiles;
  /** Options that users cannot set in its section: the field of the backend, or the place, to set instead. */
  readonly owned: {
    readonly fields: Readonly<Record<string, string>>;
    readonly elsewhere?: Readonly<Record<string, string>>;
  };
}

const sharesFile = '/etc/cinder/nfs_shares';

/** The types of backends, by `type`. */
export const backendTypes: Readonly<Record<Backend['type'], BackendType>> = {
  custom: { options: () => ({}), files: () => ({}), owned: { fields: {} } },
  ceph: {
    options: rbd,
    files: (context) => cephClientFiles(context, 'cinder'),
    owned: {
      fields: { volume_driver: 'type', rbd_pool: 'cephPoolName' },
      elsewhere: {
        rbd_user: 'spec.users of the CephStorage',
        rbd_ceph_conf: 'spec.external of the CephStorage',
        rbd_cluster_name: 'spec.cephStorageRef',
        rbd_secret_uuid: 'nothing: libvirt knows the key by it',
      },
    },
  },
  nfs: {
    options: (_context, { nfs }) => nfsOptions(nfs),
    files: (_context, { nfs }) => ({ [sharesFile]: `${nfs?.shares.join('\n')}\n` }),
    owned: {
      fields: {
        volume_driver: 'type',
        nfs_shares_config: 'nfs.shares',
        // With these two it reads no list of shares.
        nas_host: 'nfs.shares',
        nas_share_path: 'nfs.shares',
        nfs_mount_options: 'nfs.mountOptions',
        nas_mount_options: 'nfs.mountOptions',
        nfs_qcow2_volumes: 'nfs.qcow2',
        nfs_snapshot_support: 'nfs.snapshots',
        nas_secure_file_operations: 'nfs.secureFiles',
        nas_secure_file_permissions: 'nfs.secureFiles',
      },
    },
  },
  lvm: {
    options: (_context, backend) => lvmOptions(backend),
    files: () => targetFiles,
    owned: {
      fields: {
        volume_driver: 'type',
        volume_group: 'lvmVolumeGroup',
        lvm_type: 'lvmThin',
        target_ip_address: 'lvmAddress',
        target_port: 'lvmPort',
      },
      elsewhere: {
        target_helper: 'nothing: tgtd serves them',
        volumes_dir: 'nothing: tgtd looks there',
      },
    },
  },
};

function rbd(context: Context<Cinder>, { cephPoolName = '' }: Backend): Layer[string] {
  const ceph = cephOf(context);
  if (ceph === undefined) return {};
  return {
    volume_driver: 'cinder.volume.drivers.rbd.RBDDriver',
    rbd_pool: cephPoolName,
    rbd_user: ceph.user('cinder'),
    rbd_ceph_conf: cephConf,
    rbd_secret_uuid: ceph.secretUuid('cinder'),
  };
}

function nfsOptions({ mountOptions, qcow2, snapshots, secureFiles }: Partial<Backend['nfs'] & object> = {}) {
  // The driver compares them as texts (cinder.volume.drivers.nfs).
  const secure = secureFiles === undefined ? undefined : String(secureFiles);
  return defined({
    volume_driver: 'cinder.volume.drivers.nfs.NfsDriver',
    nfs_shares_config: sharesFile,
    nfs_mount_options: mountOptions,
    nfs_qcow2_volumes: qcow2,
    nfs_snapshot_support: snapshots,
    nas_secure_file_operations: secure,
    nas_secure_file_permissions: secure,
  }) as Layer[string];
}
