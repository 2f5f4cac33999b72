import { attempt } from '../../attempt.ts';
import { deviceOf, volumeGroups } from '../../infrastructure/lvm.ts';
import { type Row, rowsOf, type Schema } from '../../infrastructure/mysql-protocol.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { CommandError } from '../../program-support.ts';
import { backendOption } from './cinder-backend.ts';
import { saveVolume } from './cinder-store.ts';
import type { Work } from './cinder-tasks.ts';

const driver = 'cinder.volume.drivers.lvm.LVMVolumeDriver';

/** Whether a backend has logical volumes. */
export const isLvm = ({ config }: ServiceContext, section: string): boolean =>
  backendOption(config, section, 'volume_driver') === driver;

/**
 * Sets up the driver of LVM (cinder.volume.drivers.lvm.LVMVolumeDriver, check_for_setup_error), which runs lvm2 by sudo.
 * @returns its pool
 * @throws PythonError
 */
export function lvm(context: ServiceContext, section: string): string {
  const { process, config } = context;
  const helper = backendOption(config, section, 'target_helper');
  if (helper !== 'tgtadm') throw new PythonError('NotImplementedError', `no model knows the target helper ${helper}`);
  if (!process.mayHave('SETUID'))
    throw failed('sudo cinder-rootwrap /etc/cinder/rootwrap.conf env LC_ALL=C vgs', 'sudo: unable to become root');
  const group = backendOption(config, section, 'volume_group');
  const groups = attempt(
    CommandError,
    () => volumeGroups(process),
    ({ message }): never => {
      throw failed('env LC_ALL=C vgs', message);
    },
  );
  if (!groups.includes(group))
    throw new PythonError(
      'cinder.exception.VolumeBackendAPIException',
      `Bad or unexpected response from the storage volume backend API: Volume Group ${group} does not exist`,
    );
  return config.text(section, 'volume_backend_name', 'LVM');
}

const failed = (command: string, stderr: string): PythonError =>
  new PythonError(
    'oslo_concurrency.processutils.ProcessExecutionError',
    `Unexpected error while running command.\nCommand: ${command}\nStderr: '${stderr}'`,
  );

const fileOf = (volume: string): string => `/var/lib/cinder/volumes/volume-${volume}`;
const targetOf = (volume: string): string => `iqn.2010-10.org.openstack:volume-${volume}`;

/** Runs a command of tgt, and gives what it prints. @throws PythonError */
async function tgtAdmin({ process }: ServiceContext, ...words: string[]): Promise<string> {
  let [said, complained] = ['', ''];
  const status = await process.run(['tgt-admin', ...words], {
    stdout: (text) => void (said += text),
    stderr: (text) => void (complained += text),
  });
  if (status !== 0) throw failed(`tgt-admin ${words.join(' ')}`, complained);
  return said;
}

/** It serves initiators alone (cinder.volume.targets.iscsi, validate_connector). @throws PythonError */
export function demandInitiator({ log }: ServiceContext, connector: Row): void {
  if (connector['initiator'] !== undefined) return;
  log.error('cinder.volume.targets.iscsi', 'The volume driver requires the iSCSI initiator name in the connector.');
  throw new PythonError(
    'cinder.exception.InvalidConnectorException',
    "Connector doesn't have required information: initiator",
  );
}

/**
 * Has tgtd serve a volume (cinder.volume.targets.tgt, create_iscsi_target): by a file, which its configuration includes.
 * @returns how a host reaches it
 * @throws PythonError
 */
export async function exportVolume(context: ServiceContext, section: string, volume: string): Promise<Row> {
  const { process, config } = context;
  const target = targetOf(volume);
  const device = deviceOf(backendOption(config, section, 'volume_group'), `volume-${volume}`);
  process.files.write(fileOf(volume), `<target ${target}>\n    backing-store ${device}\n    driver iscsi\n</target>\n`);
  await tgtAdmin(context, '--update', target);
  if (!(await tgtAdmin(context, '--show')).includes(target))
    throw new PythonError('cinder.exception.NotFound', 'Resource could not be found.');
  const address = backendOption(config, section, 'target_ip_address');
  return {
    driver_volume_type: 'iscsi',
    name: target,
    target_portal: `${address}:${backendOption(config, section, 'target_port')}`,
  };
}

/** The last host is gone: nobody is served any more. */
export async function withdraw({ context, backend, database }: Work, volume: string): Promise<void> {
  const { files } = context.process;
  const hosts = await database.transaction('SELECT', (schema) =>
    rowsOf(schema, 'volume_attachment', { volume_id: volume }).filter((row) => row['attach_status'] !== 'reserved'),
  );
  if (!isLvm(context, backend) || hosts.length > 1 || !files.exists(fileOf(volume))) return;
  await tgtAdmin(context, '--force', '--delete', targetOf(volume));
  files.remove(fileOf(volume));
}

/** Attached volumes are served again when the process starts; one that is not is in error (cinder.volume.manager, init_host). */
export async function serveAgain({ context, backend, host, database }: Work): Promise<void> {
  if (!isLvm(context, backend)) return;
  const own = (schema: Schema) =>
    rowsOf(schema, 'volumes', { status: 'in-use' }).filter((row) => String(row['host']).startsWith(`${host}#`));
  for (const { id } of await database.transaction('SELECT', own))
    try {
      await exportVolume(context, backend, String(id));
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      context.log.exception('cinder.volume.manager', 'Failed to re-export volume, setting to ERROR.', error);
      await database.transaction('UPDATE', (schema) => saveVolume(schema, String(id), { status: 'error' }));
    }
}
