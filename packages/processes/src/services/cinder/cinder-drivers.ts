import type { Process } from '@openstack-operator/sandbox';
import type { Config } from '../../oslo/config.ts';
import { PythonError } from '../../oslo/python-error.ts';

/** A driver of volumes, by its class: what it refuses when it is set up, and the pool that it has then. */
export type VolumeDriver = (process: Process, config: Config, section: string) => string;

const refused = (what: string): PythonError =>
  new PythonError(
    'cinder.exception.VolumeBackendAPIException',
    `Bad or unexpected response from the storage volume backend API: ${what}`,
  );

/** The class of an appliance that is outside of the cloud: it is there, if its address and its credentials are said. */
const appliance =
  (...needed: readonly string[]): VolumeDriver =>
  (_process, config, section) => {
    const missing = needed.find((option) => !config.text(section, option));
    if (missing !== undefined) throw refused(`${missing} is not set`);
    return config.text(section, 'volume_backend_name', section);
  };

/** The drivers that this Cinder knows. */
export const volumeDrivers: Readonly<Record<string, VolumeDriver>> = {
  'cinder.volume.drivers.rbd.RBDDriver': rbd,
  'cinder.volume.drivers.pure.PureISCSIDriver': appliance('san_ip', 'pure_api_token'),
  'cinder.volume.drivers.nfs.NfsDriver': appliance('nas_host', 'nas_share_path'),
  // No group of volumes is in any pod.
  'cinder.volume.drivers.lvm.LVMVolumeDriver': (_process, config, section) => {
    throw refused(`Volume Group ${config.text(section, 'volume_group')} does not exist`);
  },
};

/**
 * librados reads where monitors are and the user's key, from files of its cluster. The monitors, and the pool, are outside of
 * the cloud, and taken for what they should be.
 */
function rbd(process: Process, config: Config, section: string): string {
  const option = (name: string) => config.text(section, name);
  const cluster = option('rbd_cluster_name') || 'ceph';
  const conf = option('rbd_ceph_conf') || `/etc/ceph/${cluster}.conf`;
  const user = option('rbd_user') || 'admin';
  const read = (path: string): string => (process.files.exists(path) ? process.files.read(path) : '');
  if (!process.files.exists(conf)) throw refused('Error connecting to ceph cluster: error calling conf_read_file');
  const keyring = read(`/etc/ceph/${cluster}.client.${user}.keyring`);
  const key = new RegExp(`\\[client\\.${user}\\]\\s+key\\s*=\\s*(\\S+)`).exec(keyring)?.[1];
  const hasMonitors = /^\s*mon[_ ]host\s*=\s*\S/m.test(read(conf));
  if (key === undefined || !hasMonitors)
    throw refused('[errno 2] RADOS object not found (error connecting to the cluster)');
  // 12 bytes of a header, and 16 of the key.
  if (Buffer.from(key, 'base64').length !== 28)
    throw refused('[errno 22] RADOS invalid argument (error connecting to the cluster)');
  return option('rbd_pool');
}
