import { hash } from 'node:crypto';
import type { Process } from '@openstack-operator/sandbox';
import { CephError, connectToCeph, monitorsIn } from '../../infrastructure/ceph.ts';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import type { Config } from '../../oslo/config.ts';
import { PythonError } from '../../oslo/python-error.ts';

/** A driver of shares, by its class. */
export interface ShareDriver {
  /** Values of `driver_handles_share_servers` that it can work with. */
  readonly servers: readonly boolean[];
  /** What it refuses when it is set up, and the pool that it has then. */
  readonly setUp: (process: Process, config: Config, section: string) => string;
  /** Where clients find a share. */
  readonly locate: (process: Process, config: Config, section: string, share: unknown) => string;
  /** Lets whom a rule names in; gives what they log in with, if the backend makes that. @throws PythonError for whom it cannot */
  readonly authorize: (config: Config, section: string, rule: Row) => string | undefined;
  /** What locations follow from: shares are looked after at a start where it is another than before (get_backend_info). */
  readonly info?: (config: Config, section: string) => string;
}

const unsupported = (type: unknown): PythonError =>
  new PythonError(
    'manila.exception.InvalidShareAccessType',
    `Invalid or unsupported share access type: ${String(type)}.`,
  );

/** What is outside of the cloud is there, if its address and its credentials are said. */
const appliance = (words: (option: string) => PythonError, ...needed: readonly string[]): ShareDriver => ({
  servers: [false, true],
  locate: (_process, config, section, share) => {
    const host = ['netapp_server_hostname', 'service_instance_name_or_id']
      .map((option) => config.optional(section, option))
      .find((one) => one !== undefined);
    return `${host ?? section}:/share_${String(share).replaceAll('-', '_')}`;
  },
  authorize: (_config, _section, { access_type: type }) => {
    if (!['ip', 'user'].includes(String(type))) throw unsupported(type);
    return undefined;
  },
  setUp: (_process, config, section) => {
    const missing = needed.find((option) => config.optional(section, option) === undefined);
    if (missing !== undefined) throw words(missing);
    return config.text(section, 'share_backend_name', section);
  },
});

/** The drivers that this Manila knows. */
export const shareDrivers: Readonly<Record<string, ShareDriver>> = {
  'manila.share.drivers.cephfs.driver.CephFSDriver': {
    servers: [false],
    setUp: cephfs,
    locate: (process, config, section, share) => {
      const addresses = monitorsIn(process.files.read(config.text(section, 'cephfs_conf_path'))).join();
      return `${addresses}:/volumes/_nogroup/${String(share)}/${digest(share).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/u, '$1-$2-$3-$4-$5')}`;
    },
    authorize,
    info: (config, section) =>
      ['cephfs_ensure_all_shares_salt', 'cephfs_filesystem_name']
        .map((option) => config.text(section, option, ''))
        .join(),
  },
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

/**
 * A user of Ceph, whom the cluster gives a key: another one than the service's, though what this is called is read of section
 * DEFAULT alone (manila.share.drivers.cephfs.driver.NativeProtocolHelper).
 */
function authorize(config: Config, section: string, { access_type: type, access_to: user }: Row): string {
  if (type !== 'cephx') throw unsupported(type);
  if (user === config.text('DEFAULT', 'cephfs_auth_id', 'manila'))
    throw new PythonError(
      'manila.exception.InvalidShareAccess',
      `Invalid access rule: Ceph authentication ID ${user} must be different than the one the Manila service uses.`,
    );
  return Buffer.from(digest([config.text(section, 'cephfs_filesystem_name', ''), user]).slice(0, 56), 'hex').toString(
    'base64',
  );
}

/** What Ceph makes by chance, of what it makes it for: 64 digits. */
const digest = (of: unknown): string => hash('sha256', JSON.stringify(of));
