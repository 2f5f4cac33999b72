import type { Process } from '@openstack-operator/sandbox';
import { CephError, connectToCeph } from '../../infrastructure/ceph.ts';
import type { Config } from '../../oslo/config.ts';
import { PythonError } from '../../oslo/python-error.ts';

/** A driver of shares, by its class. */
export interface ShareDriver {
  /** Values of `driver_handles_share_servers` that it can work with. */
  readonly servers: readonly boolean[];
  /** What it refuses when it is set up, and the pool that it has then. */
  readonly setUp: (process: Process, config: Config, section: string) => string;
}

/** What is outside of the cloud is there, if its address and its credentials are said. */
const appliance = (words: (option: string) => PythonError, ...needed: readonly string[]): ShareDriver => ({
  servers: [false, true],
  setUp: (_process, config, section) => {
    const missing = needed.find((option) => config.optional(section, option) === undefined);
    if (missing !== undefined) throw words(missing);
    return config.text(section, 'share_backend_name', section);
  },
});

/** The drivers that this Manila knows. */
export const shareDrivers: Readonly<Record<string, ShareDriver>> = {
  'manila.share.drivers.cephfs.driver.CephFSDriver': { servers: [false], setUp: cephfs },
  'manila.share.drivers.netapp.common.NetAppDriver': appliance(
    (option) =>
      new PythonError(
        'manila.exception.InvalidInput',
        `Invalid input received: Configuration value ${option} is not set.`,
      ),
    'netapp_login',
    'netapp_password',
    'netapp_server_hostname',
  ),
  'manila.share.drivers.generic.GenericShareDriver': appliance(
    () => new PythonError('manila.exception.ServiceInstanceException', 'Service instance user is not specified.'),
    'service_instance_user',
  ),
};

/** The cluster and the filesystem are outside of the cloud. */
function cephfs(process: Process, config: Config, section: string): string {
  if (config.text(section, 'cephfs_protocol_helper_type', 'CEPHFS').toUpperCase() !== 'CEPHFS')
    throw new PythonError('NotImplementedError', 'this simulated Manila knows no NFS-Ganesha');
  try {
    connectToCeph(process, {
      conf: config.text(section, 'cephfs_conf_path'),
      user: config.text(section, 'cephfs_auth_id', 'manila'),
    });
  } catch (error) {
    if (!(error instanceof CephError)) throw error;
    // The first thing that it asks is the version; what librados said stands above, in the traceback of the cause.
    throw new PythonError(
      'manila.exception.ShareBackendException',
      'Share backend error: Error reading ceph version to set the default target. Please check your Ceph backend is reachable.',
      { cause: new PythonError('rados.Error', `[errno ${error.errno}] ${error.message}`) },
    );
  }
  return 'cephfs';
}
