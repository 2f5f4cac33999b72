import type { Process, Program } from '@openstack-operator/sandbox';
import { SystemError } from '@openstack-operator/sandbox';
import { notModelled, terminated } from '../../program-support.ts';
import type { readConf } from './swift-conf.ts';
import { type SwiftRecord, SwiftStore } from './swift-records.ts';
import type { RingName } from './swift-ring.ts';

/** What rsync is asked to write: a file of a module. */
export interface RsyncFile {
  readonly module: string;
  readonly device: string;
  readonly partition: number;
  readonly hash: string;
  readonly record: SwiftRecord;
  readonly policy: number;
}

/** What rsync is asked to list: a folder of a module. */
interface RsyncListing {
  readonly module: string;
  readonly folder: string;
}

/** Names of a folder; undefined where there is none. */
function listing({ files }: Process, folder: string): readonly string[] | undefined {
  return files.exists(folder) ? files.list(folder) : undefined;
}

/** `rsync`: as a daemon, or with one URL that ends in `/`, as a client that lists what is there. */
export const rsync: Program = async (process) => {
  if (process.argv.includes('--daemon')) return await daemon(process);
  const [, url = '', ...rest] = process.argv;
  const [, host = '', port = '873', module = '', folder = ''] =
    /^rsync:\/\/([^:/]+)(?::(\d+))?\/(\w+)\/(.*)\/$/u.exec(url) ?? [];
  if (module === '' || rest.length > 0) return notModelled(process, process.argv.slice(1).join(' '));
  try {
    const connection = await process.network.connect(host, Number(port), 'rsync');
    const answer = (await connection.call({ module, folder } satisfies RsyncListing)) as
      | readonly string[]
      | string
      | undefined;
    connection.close();
    if (typeof answer === 'string') {
      process.stderr(`${answer}\nrsync error: error starting client-server protocol (code 5) at main.c(1850)\n`);
      return 5;
    }
    if (answer === undefined) {
      process.stderr(`rsync: [sender] change_dir "${folder}" (in ${module}) failed: No such file or directory (2)\n`);
      return 23;
    }
    for (const name of ['.', ...answer]) process.stdout(`drwxr-xr-x          4,096 2026/01/02 03:04:05 ${name}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    process.stderr(`rsync: failed to connect to ${host}: ${error.reason}\n`);
    return 10;
  }
};

/** `rsync --daemon`: writes what replicators send, and lists folders, below the path of a module. */
const daemon: Program = async (process) => {
  const value = (name: string) => process.argv.find((word) => word.startsWith(`--${name}=`))?.split('=')[1];
  const path = value('config') ?? '/etc/rsyncd.conf';
  let modules: ReturnType<typeof readConf>;
  try {
    // Options before the first module are of all.
    const text = process.files.read(path).replace(/^(?:(?!\[).*\n)*/u, '');
    modules = new Map(
      text
        .split(/^\[/mu)
        .slice(1)
        .map((one) => {
          const [name = '', ...lines] = one.split('\n');
          return [name.replace(']', ''), Object.fromEntries(lines.map((line) => line.split(' = ')))] as const;
        }),
    );
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    process.stderr(`Unknown option or missing file: ${error.message}\n`);
    return 1;
  }
  try {
    process.network.listen(Number(value('port') ?? 873), 'rsync', () => ({
      receive: (message) => {
        const asked = message as RsyncFile | RsyncListing;
        const options = modules.get(asked.module);
        if (options === undefined) return Promise.resolve(`@ERROR: Unknown module '${asked.module}'`);
        if ('folder' in asked) return Promise.resolve(listing(process, `${options['path']}/${asked.folder}`));
        const { module, record, policy, ...place } = asked;
        if (options['read only'] !== 'no') return Promise.resolve('ERROR: module is read only');
        new SwiftStore(process, options['path'] ?? '', module as RingName, policy).merge(place, record);
        return Promise.resolve('');
      },
    }));
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    process.stderr(`rsync: [Receiver] bind() failed: ${error.reason}\n`);
    return 10;
  }
  await terminated(process);
  return 20;
};
