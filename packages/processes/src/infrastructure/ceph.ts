import { hash } from 'node:crypto';
import type { Process, Program } from '@openstack-operator/sandbox';
import { CommandError, commandWith, pause } from '../program-support.ts';

/** Whom librados logs in as, and where it reads that from. */
export interface CephClient {
  /** Default `/etc/ceph/<cluster>.conf`. */
  readonly conf?: string;
  /** Without `client.`. */
  readonly user: string;
}

/** librados could not connect: its words are those of the error. */
export class CephError extends Error {
  override readonly name = 'CephError';
  readonly errno: number;

  constructor(errno: number, message: string) {
    super(message);
    this.errno = errno;
  }
}

/**
 * librados reads where monitors are and the user's key, from files. The monitors, and the pools, are outside of the cloud,
 * and taken for what they should be.
 * @throws CephError
 */
export function connectToCeph(process: Process, { conf, user }: CephClient): void {
  const path = conf || '/etc/ceph/ceph.conf';
  const read = (path: string): string => (process.files.exists(path) ? process.files.read(path) : '');
  if (!process.files.exists(path)) throw new CephError(0, 'error calling conf_read_file');
  const keyring = read(`/etc/ceph/ceph.client.${user}.keyring`);
  const key = new RegExp(`\\[client\\.${user}\\]\\s+key\\s*=\\s*(\\S+)`).exec(keyring)?.[1];
  const hasMonitors = /^\s*mon[_ ]host\s*=\s*\S/m.test(read(path));
  if (key === undefined || !hasMonitors)
    throw new CephError(2, 'RADOS object not found (error connecting to the cluster)');
  // 12 bytes of a header, and 16 of the key.
  if (Buffer.from(key, 'base64').length !== 28)
    throw new CephError(22, 'RADOS invalid argument (error connecting to the cluster)');
}

/** Id of a cluster (`ceph fsid`): monitors whose addresses have the first three numbers in common are of the same one. */
function fsidAt(conf: string): string {
  const [, network = ''] = /^\s*mon[_ ]host\s*=\s*\[?(?:v[12]:)?(\d+\.\d+\.\d+)\./m.exec(conf) ?? [];
  const digits = hash('sha256', network);
  return [0, 8, 12, 16, 20].map((start, index) => digits.slice(start, [8, 12, 16, 20, 32][index])).join('-');
}

/** What takes a command of a client, in milliseconds: guessed. */
const takes = 100;

const client = (program: string): Program =>
  commandWith({ flags: 'c', values: 'id|user n|name p|pool conf keyring connect-timeout' }, async (process, line) => {
    if (!(await pause(process, takes))) return 143;
    const conf = line.value('conf');
    try {
      connectToCeph(process, { user: line.value('id') ?? 'admin', ...(conf === undefined ? {} : { conf }) });
    } catch (error) {
      if (!(error instanceof CephError)) throw error;
      throw new CommandError(`${program}: couldn't connect to cluster: ${error.message}`);
    }
    if (program === 'ceph' && line.operands[0] === 'fsid')
      process.stdout(`${fsidAt(process.files.read(conf ?? '/etc/ceph/ceph.conf'))}\n`);
    return 0;
  });

/** `ceph`, `rados` and `rbd`: they can all that the cluster lets their user do, and print nothing but its id. */
export const cephClients = { ceph: client('ceph'), rados: client('rados'), rbd: client('rbd') };
