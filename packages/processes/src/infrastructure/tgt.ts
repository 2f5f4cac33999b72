import { type Listener, type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import { attempt, worded } from '../attempt.ts';
import { CommandError, commandWith, notModelled, pause, terminated } from '../program-support.ts';
import type { Recipe } from '../recipe.ts';
import { startTimes } from '../start-times.ts';
import { hasDevice } from './lvm.ts';
import { answering, ask } from './wire.ts';

/** Where tgtd is asked (TGT_IPC_NAMESPACE, with its control port). */
const socket = '/run/tgtd/socket.0';

const configuration = '/etc/tgt/targets.conf';

/** What tgtadm asks. */
type TgtRequest =
  | { readonly op: 'show' }
  | { readonly op: 'state'; readonly state: string }
  | { readonly op: 'new'; readonly target: string; readonly device: string }
  | { readonly op: 'delete'; readonly target: string };

/** What tgtd tells of itself. */
interface Shown {
  readonly state: string;
  readonly portals: readonly string[];
  readonly targets: readonly string[];
}

/** What an initiator asks: to log in to a target. */
export interface Login {
  readonly initiator: string;
  readonly target: string;
}

/** `tgtd`: serves devices of its container as targets, to initiators of iSCSI. What it is told is lost when it ends. */
const tgtd: Program = commandWith(
  { flags: 'f|foreground', values: 'iscsi C|control-port t|nr_iothreads d|debug' },
  async (process, line) => {
    const [, address = '', port = ''] = /^portal=\[?(.*?)\]?:(\d+)$/.exec(line.value('iscsi') ?? '') ?? [];
    if (port === '') notModelled(process, 'tgtd without a portal');
    if (!(await pause(process, startTimes.tgtd))) return 0;
    const targets = new Map<string, string>();
    let state = 'ready';
    const answer = (request: TgtRequest): Shown => {
      if (request.op === 'state') ({ state } = request);
      if (request.op === 'delete' && !targets.delete(request.target))
        throw new CommandError("tgtadm: can't find the target", 22);
      if (request.op === 'new') {
        const { target, device } = request;
        if (!hasDevice(process, device)) throw new CommandError(`tgtadm: invalid request\n(${device}: not found)`, 22);
        targets.set(target, device);
      }
      return { state, portals, targets: [...targets.keys()] };
    };
    const logIn = ({ target }: Login): string => {
      // It takes the connection, and closes it.
      if (state !== 'ready' || targets.size === 0) throw new SystemError('ECONNRESET', 'Connection reset by peer');
      if (!targets.has(target))
        throw new CommandError('login rejected: initiator error - target not found (02/03)', 19);
      return target;
    };
    const control = worded(
      () => process.network.listen(`unix:${socket}`, 'tgt', () => ({ receive: answering(answer) })),
      (error) => new CommandError(`tgtd: ipc_init(797) can't bind a socket, ${error.reason}`),
    );
    // It is for root alone, which those who ask become by sudo: programs here stay who they are.
    process.files.chmod(socket, 0o777);
    const portals: string[] = [];
    const listen = (host: string, at: number): Listener | undefined =>
      attempt(
        SystemError,
        () => {
          const listener = process.network.listen(at, 'iscsi', () => ({ receive: answering(logIn) }), { host });
          portals.push(`${host.includes(':') ? `[${host}]` : host}:${at}`);
          return listener;
        },
        ({ reason }) => {
          process.stderr(`tgtd: iscsi_tcp_init_portal(351) unable to bind server socket, ${reason}\n`);
          return undefined;
        },
      );
    // Where it cannot listen as it is told, it listens at all addresses, at its own port, and goes on (seen with 1.0.85).
    const portal = listen(address, Number(port)) ?? listen('0.0.0.0', 3260);
    await terminated(process);
    control.close();
    portal?.close();
    return 137;
  },
);

/** Asks tgtd. @throws CommandError */
async function askTgtd(process: Process, request: TgtRequest): Promise<Shown> {
  try {
    const connection = await process.network.connectUnix(socket, 'tgt');
    try {
      return await ask<Shown>(connection, request);
    } finally {
      connection.close();
    }
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw new CommandError(`tgtadm: failed to send request hdr to tgt daemon, ${error.reason}`, 107);
  }
}

/** `tgtadm`: what tgtd is, and whether it serves. */
const tgtadm: Program = commandWith(
  { values: 'lld op m|mode n|name v|value t|tid T|targetname l|lun b|backing-store' },
  async (process, line) => {
    const [op, mode] = [line.value('op'), line.value('mode')];
    if (op === 'update' && mode === 'sys' && line.value('name') === 'State') {
      await askTgtd(process, { op: 'state', state: line.value('value') ?? '' });
      return 0;
    }
    if (op !== 'show') notModelled(process, `--op ${op} --mode ${mode}`);
    const { state, portals, targets } = await askTgtd(process, { op: 'show' });
    if (mode === 'portal') process.stdout(portals.map((portal) => `Portal: ${portal},1\n`).join(''));
    else process.stdout(mode === 'sys' ? `System:\n    State: ${state}\n` : shown(targets));
    return 0;
  },
);

const shown = (targets: readonly string[]): string =>
  targets.map((target, index) => `Target ${index + 1}: ${target}\n        LUN: 1\n`).join('');

/** Targets that the configuration, with what it includes, states: name -> device. @throws CommandError */
function configured(process: Process): ReadonlyMap<string, string> {
  if (!process.files.exists(configuration))
    throw new CommandError(`Config file ${configuration} not found. Exiting...`, 2);
  const included = [...process.files.read(configuration).matchAll(/^include (.*)\/\*$/gm)].flatMap(
    ([, directory = '']) =>
      process.files.exists(directory)
        ? process.files.list(directory).map((name) => process.files.read(`${directory}/${name}`))
        : [],
  );
  return new Map(
    included.flatMap((text) =>
      [...text.matchAll(/<target (\S+)>\s+backing-store (\S+)/g)].map(
        ([, target = '', device = '']) => [target, device] as const,
      ),
    ),
  );
}

/** `tgt-admin`: makes targets of what is configured, by tgtadm; `--update` says nothing of one that is not. */
const tgtAdmin: Program = commandWith(
  { flags: 'e|execute s|show f|force ignore-errors', values: 'update delete c|conf' },
  async (process, line) => {
    const gone = line.value('delete');
    if (line.has('show')) process.stdout(shown((await askTgtd(process, { op: 'show' })).targets));
    else if (gone !== undefined) await askTgtd(process, { op: 'delete', target: gone });
    else
      for (const [target, device] of configured(process))
        if (line.has('execute') || line.value('update') === target)
          try {
            await askTgtd(process, { op: 'new', target, device });
          } catch (error) {
            if (!(error instanceof CommandError) || !line.has('ignore-errors')) throw error;
            process.stderr(`${error.message}\n`);
          }
    return 0;
  },
);

/** The commands by which tgtd is told. */
export const tgtCommands = { tgtadm, 'tgt-admin': tgtAdmin };

/** Its image. */
export const tgtRecipe: Recipe = {
  names: ['tgtd'],
  user: 'cinder',
  programs: { '/usr/sbin': { tgtd, ...tgtCommands } },
  files: { [configuration]: 'include /etc/tgt/conf.d/*.conf\n' },
};
