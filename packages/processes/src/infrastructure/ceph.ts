import { hash } from 'node:crypto';
import { type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import type { CommandLine } from '../command-line.ts';
import { CommandError, commandWith, pause, terminated } from '../program-support.ts';
import { type CephAnswer, type CephRequest, monitorPort } from './ceph-monitor.ts';
import { ask } from './wire.ts';

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
 * @returns the key
 * @throws CephError
 */
export function connectToCeph(process: Process, { conf, user }: CephClient): string {
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
  return key;
}

/** Id of a cluster (`ceph fsid`): monitors whose addresses have the first three numbers in common are of the same one. */
function fsidAt(conf: string): string {
  const [, network = ''] = /^\s*mon[_ ]host\s*=\s*\[?(?:v[12]:)?(\d+\.\d+\.\d+)\./m.exec(conf) ?? [];
  const digits = hash('sha256', network);
  return [0, 8, 12, 16, 20].map((start, index) => digits.slice(start, [8, 12, 16, 20, 32][index])).join('-');
}

/** What takes a command of a client, in milliseconds: guessed. */
const takes = 100;

/** The first monitor, where it is named: one by its address is outside of the cloud. */
export const monitorIn = (conf: string): string | undefined =>
  /^\s*mon[_ ]host\s*=\s*\[?(?:v[12]:)?(?!v[12]:)([a-z][a-z0-9.-]*)/m.exec(conf)?.[1];

/** Addresses of monitors as `ceph mon dump` has them: those of the first protocol. */
export function monitorsIn(conf: string): string[] {
  const [, hosts = ''] = /^\s*mon[_ ]host\s*=\s*(.+)/m.exec(conf) ?? [];
  const bare = hosts.replaceAll(/\[[^\]]*?v1:([^,\]/]+)[^\]]*\]/g, '$1');
  return bare
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map((host) => (/:\d+$/.test(host) ? host : `${host}:${monitorPort}`));
}

/** How long a client looks for monitors (client_mount_timeout), in milliseconds. */
const hunts = 300_000;

/** Asks a monitor. @throws CommandError */
export async function askMonitor(process: Process, monitor: string, request: CephRequest): Promise<CephAnswer> {
  try {
    const connection = await process.network.connect(monitor, monitorPort, 'ceph');
    try {
      return await ask<CephAnswer>(connection, request);
    } finally {
      connection.close();
    }
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    if (!(await pause(process, hunts))) return { code: 143, said: '' };
    throw new CommandError('[errno 110] RADOS timed out (error connecting to the cluster)');
  }
}

function requestOf(
  process: Process,
  program: CephRequest['program'],
  line: CommandLine,
): Omit<CephRequest, 'user' | 'key'> {
  const [pool, size, format] = ['pool', 'size', 'format'].map((name) => line.value(name));
  const input = line.value('in-file') ?? (line.operands[0] === 'put' ? line.operands[2] : undefined);
  return {
    program,
    operands: line.operands,
    ...(line.has('yes-i-really-mean-it') ? { isMeant: true } : {}),
    ...(pool === undefined ? {} : { pool }),
    ...(size === undefined ? {} : { size }),
    ...(format === undefined ? {} : { format }),
    ...(input === undefined ? {} : { input: process.files.read(input) }),
  };
}

const options = {
  flags: 'c yes-i-really-mean-it',
  values: 'id|user n|name p|pool conf keyring connect-timeout i|in-file size f|format',
};

const client = (program: 'ceph' | 'rados' | 'rbd'): Program =>
  commandWith(options, async (process, line) => {
    if (!(await pause(process, takes))) return 143;
    const conf = line.value('conf');
    const user = line.value('id') ?? 'admin';
    let key: string;
    try {
      key = connectToCeph(process, { user, ...(conf === undefined ? {} : { conf }) });
    } catch (error) {
      if (!(error instanceof CephError)) throw error;
      throw new CommandError(`${program}: couldn't connect to cluster: ${error.message}`);
    }
    const text = process.files.read(conf ?? '/etc/ceph/ceph.conf');
    const monitor = monitorIn(text);
    if (monitor !== undefined) {
      const { code, said, waits } = await askMonitor(process, monitor, {
        user,
        key,
        ...requestOf(process, program, line),
      });
      if (waits) await terminated(process);
      if (said !== '' && code === 0) process.stdout(`${said}\n`);
      if (said !== '' && code !== 0) process.stderr(`${said}\n`);
      return code;
    }
    if (program === 'ceph' && line.operands[0] === 'fsid') process.stdout(`${fsidAt(text)}\n`);
    if (program === 'ceph' && line.operands[0] === 'health') process.stdout('HEALTH_OK\n');
    return 0;
  });

/**
 * `ceph`, `rados` and `rbd`. Of monitors outside of the cloud they can all that their user asks for, and print nothing but
 * the cluster's id and that it is well; monitors in the cluster, which have names, are asked.
 */
export const cephClients = { ceph: client('ceph'), rados: client('rados'), rbd: client('rbd') };
