import { CephError, connectToCeph } from '../../infrastructure/ceph.ts';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { demandInitiator, exportVolume, isLvm, lvm } from './cinder-lvm.ts';
import { nfs } from './cinder-nfs.ts';

/** A driver of volumes, by its class: what it refuses when it is set up, and the pool that it has then. */
export type VolumeDriver = (context: ServiceContext, section: string) => string;

const refused = (what: string): PythonError =>
  new PythonError(
    'cinder.exception.VolumeBackendAPIException',
    `Bad or unexpected response from the storage volume backend API: ${what}`,
  );

/** The class of an appliance that is outside of the cloud: it is there, if its address and its credentials are said. */
const appliance =
  (...needed: readonly string[]): VolumeDriver =>
  ({ config }, section) => {
    const missing = needed.find((option) => !config.text(section, option));
    if (missing !== undefined) throw refused(`${missing} is not set`);
    return config.text(section, 'volume_backend_name', section);
  };

/** The drivers that this Cinder knows. */
export const volumeDrivers: Readonly<Record<string, VolumeDriver>> = {
  'cinder.volume.drivers.rbd.RBDDriver': rbd,
  'cinder.volume.drivers.pure.PureISCSIDriver': appliance('san_ip', 'pure_api_token'),
  'cinder.volume.drivers.nfs.NfsDriver': nfs,
  'cinder.volume.drivers.lvm.LVMVolumeDriver': lvm,
};

/** The cluster and the pool are outside of the cloud. */
function rbd({ process, config }: ServiceContext, section: string): string {
  const conf = config.text(section, 'rbd_ceph_conf');
  try {
    connectToCeph(process, { conf, user: config.text(section, 'rbd_user') || 'admin' });
  } catch (error) {
    if (!(error instanceof CephError)) throw error;
    throw refused(
      error.errno === 0
        ? `Error connecting to ceph cluster: ${error.message}`
        : `[errno ${error.errno}] ${error.message}`,
    );
  }
  return config.text(section, 'rbd_pool');
}

/**
 * How a host reaches a volume of a backend (`initialize_connection`); of others than RBD and LVM no more than what they are called.
 * @throws PythonError
 */
export async function connectionOf(
  context: ServiceContext,
  section: string,
  volume: string,
  connector: Row,
): Promise<Row> {
  const { process, config } = context;
  if (isLvm(context, section)) {
    demandInitiator(context, connector);
    return exportVolume(context, section, volume);
  }
  const driver = config.text(section, 'volume_driver');
  if (!driver.endsWith('.RBDDriver')) return { driver_volume_type: driver, name: `${section}/volume-${volume}` };
  const conf = process.files.read(config.text(section, 'rbd_ceph_conf'));
  return {
    driver_volume_type: 'rbd',
    name: `${config.text(section, 'rbd_pool')}/volume-${volume}`,
    auth_username: config.text(section, 'rbd_user'),
    hosts: /^\s*mon[_ ]host\s*=\s*(.+)/mu.exec(conf)?.[1] ?? '',
  };
}
