import { type Process, SystemError } from '@openstack-operator/sandbox';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import type { Login } from '../../infrastructure/tgt.ts';
import { ask } from '../../infrastructure/wire.ts';
import { PythonError } from '../../oslo/python-error.ts';
import { CommandError } from '../../program-support.ts';

const file = '/etc/iscsi/initiatorname.iscsi';

/** What a host is to targets of iSCSI: nothing where nobody has given it a name (os_brick.initiator.connectors.iscsi). */
export function initiatorOf({ files }: Process): Row {
  const [, initiator] = /^InitiatorName=(\S+)$/m.exec(files.exists(file) ? files.read(file) : '') ?? [];
  return initiator === undefined ? {} : { initiator };
}

/** Logs in to the target of a volume that is reached by iSCSI; others are reached by the hypervisor. @throws PythonError */
export async function logIn(process: Process, info: Row): Promise<void> {
  if (info['driver_volume_type'] !== 'iscsi') return;
  const { initiator } = initiatorOf(process);
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(String(info['target_portal'])) ?? [];
  try {
    const connection = await process.network.connect(host, Number(port), 'iscsi');
    try {
      const login: Login = { initiator: String(initiator), target: String(info['name']) };
      await ask(connection, login);
    } finally {
      connection.close();
    }
  } catch (error) {
    if (!(error instanceof SystemError || error instanceof CommandError)) throw error;
    throw new PythonError(
      'os_brick.exception.FailedISCSITargetPortalLogin',
      `Unable to login to iSCSI Target Portal: ${error.message}`,
    );
  }
}
