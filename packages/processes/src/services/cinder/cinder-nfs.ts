import { SystemError } from '@openstack-operator/sandbox';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { backendOption } from './cinder-backend.ts';

const refused = (what: string): PythonError => new PythonError('cinder.exception.NfsException', what);

/**
 * Sets up the driver of NFS (cinder.volume.drivers.nfs.NfsDriver, do_setup): it mounts its shares, whose servers are outside of the
 * cloud. One share is enough.
 * @returns its pool
 * @throws PythonError
 */
export function nfs(context: ServiceContext, section: string): string {
  const { process, config, log } = context;
  const shares = sharesOf(context, section);
  if (!process.mayHave('SETUID'))
    throw new PythonError(
      'oslo_concurrency.processutils.ProcessExecutionError',
      "Unexpected error while running command.\nCommand: sudo cinder-rootwrap /etc/cinder/rootwrap.conf mount.nfs\nExit code: 1\nStdout: ''\nStderr: 'sudo: The \"no new privileges\" flag is set, which prevents sudo from running as root.'",
    );
  const mounted = shares.filter((share) => {
    const why = unmountable(context, share);
    if (why !== undefined)
      log.error(
        'cinder.volume.drivers.remotefs',
        `Exception during mounting NFS mount failed for share ${share}. Error - ${why}`,
      );
    return why === undefined;
  });
  if (mounted.length === 0) throw new PythonError('cinder.exception.NfsNoSharesMounted', 'No mounted NFS shares found');
  // On shares without volumes `auto` is true.
  const isSecure = backendOption(config, section, 'nas_secure_file_operations') !== 'false';
  if (isSecure && config.boolean(section, 'nfs_snapshot_support'))
    throw new PythonError(
      'cinder.exception.VolumeDriverException',
      "Snapshots are not supported with nas_secure_file_operations enabled ('true' or 'auto'). Please set it to 'false' if you intend to  have it enabled.",
    );
  return config.text(section, 'volume_backend_name', 'Generic_NFS');
}

/** The one of two options, or those of a file, without its comments and what is no share. @throws PythonError */
function sharesOf({ process, config, log }: ServiceContext, section: string): readonly string[] {
  const [host, path] = [config.text(section, 'nas_host'), config.text(section, 'nas_share_path')];
  if (host && path) return [`${host}:${path}`];
  const file = backendOption(config, section, 'nfs_shares_config');
  if (!file) throw refused("There's no NFS config file configured (nfs_shares_config)");
  if (!process.files.exists(file)) throw refused(`NFS config file at ${file} doesn't exist`);
  return process.files
    .read(file)
    .split('\n')
    .flatMap((line) => {
      const [share = ''] = line.split(' ');
      if (share.trim() === '' || line.startsWith('#')) return [];
      if (/.+:\/.+/.test(share)) return [share];
      log.error(
        'cinder.volume.drivers.remotefs',
        `Share ${share} ignored due to invalid format. Must be of form address:/export.`,
      );
      return [];
    });
}

/** What mount.nfs says of a share that it cannot mount. */
function unmountable({ process }: ServiceContext, share: string): string | undefined {
  if (!process.mayHave('SYS_ADMIN')) return 'mount.nfs: Operation not permitted';
  const host = share.slice(0, share.indexOf(':/')).replace(/^\[(.*)\]$/, '$1');
  if (/^[\d.]+$|:/.test(host)) return undefined;
  try {
    process.network.lookup(host);
    return undefined;
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return `mount.nfs: Failed to resolve server ${host}: Name or service not known`;
  }
}
