import { abortScope, microTimestamp } from '@openstack-operator/kube';
import type { Process, Program } from '@openstack-operator/sandbox';
import {
  aborted,
  CommandError,
  command,
  commandWith,
  isFatal,
  notModelled,
  pause,
  terminated,
} from '../program-support.ts';
import { fileCommands } from './file-commands.ts';
import { bash, sh } from './shell.ts';
import { evaluateTest } from './test-expression.ts';
import { textCommands } from './text-commands.ts';

function duration(process: Process, text: string): number {
  const match = /^(\d+(?:\.\d+)?|\.\d+)([smhd]?)$/.exec(text);
  if (text === 'infinity') return 2 ** 31;
  if (match === null) throw new CommandError(`${process.argv[0]}: invalid time interval '${text}'`);
  return Number(match[1]) * 1000 * { '': 1, s: 1, m: 60, h: 3600, d: 86_400 }[match[2] as '' | 's' | 'm' | 'h' | 'd'];
}

const sleep = command(async (process) => {
  const operands = process.argv.slice(1);
  if (operands.length === 0) throw new CommandError('sleep: missing operand');
  const finished = await pause(
    process,
    operands.reduce((sum, text) => sum + duration(process, text), 0),
  );
  return finished ? 0 : 143;
});

const test: Program = command((process) => {
  const operands = process.argv.slice(1);
  if (process.argv[0] === '[' && operands.pop() !== ']') throw new CommandError('[: missing ‘]’', 2);
  try {
    return evaluateTest(process, process.env['PWD'] ?? '/', operands);
  } catch (error) {
    throw new CommandError(`${process.argv[0]}: ${(error as Error).message}`, 2);
  }
});

/** Runs another program in this one's place: it gets the signals. */
async function start(
  process: Process,
  argv: readonly string[],
  {
    environment = process.env,
    notFound,
    signal = process.signal,
    signals = process.signals,
  }: { environment?: Process['env']; notFound?: () => CommandError } & Partial<
    Pick<Process, 'signal' | 'signals'>
  > = {},
): Promise<number> {
  let silent = true;
  const status = await process.run(argv, {
    env: environment,
    signal,
    signals,
    ...(process.stdin !== undefined && { stdin: process.stdin }),
    stdout: (text) => {
      silent = false;
      process.stdout(text);
    },
    stderr: (text) => {
      silent = false;
      process.stderr(text);
    },
  });
  // A program that ended with it has said why.
  if (status === 127 && silent) {
    throw notFound?.() ?? new CommandError(`${process.argv[0]}: ${argv[0]}: No such file or directory`, 127);
  }
  return status;
}

/** `dumb-init --rewrite 15:10`: SIGTERM arrives as SIGUSR1. */
function rewritten(process: Process, rule: string): Pick<Process, 'signal' | 'signals'> {
  if (rule !== '15:10') notModelled(process, `--rewrite ${rule}`);
  const ended = new AbortController();
  const signals = new EventTarget();
  void terminated(process).then(() => {
    if (isFatal(signals, 'USR1')) ended.abort();
  });
  return { signal: ended.signal, signals };
}

/** Shells, coreutils and small tools: every image has them. */
export const baseCommands: Readonly<Record<string, Program>> = {
  ...fileCommands,
  ...textCommands,
  sh,
  dash: sh,
  bash,
  sleep,
  test,
  '[': test,
  true: command(() => 0),
  false: command(() => 1),
  id: commandWith({ flags: 'u g G n' }, (process, line) => {
    if (line.operands.length > 0 || line.has('n')) notModelled(process, 'user names');
    if (line.has('u')) process.stdout(`${process.uid}\n`);
    else if (line.has('g')) process.stdout(`${process.gid}\n`);
    else if (line.has('G')) process.stdout(`${[process.gid, ...process.groups].join(' ')}\n`);
    else process.stdout(`uid=${process.uid} gid=${process.gid} groups=${[process.gid, ...process.groups].join(',')}\n`);
    return 0;
  }),
  hostname: commandWith({ flags: 's f i I' }, (process, line) => {
    if (line.has('i') || line.has('I')) process.stdout(`${process.pod.ip}\n`);
    else if (line.has('s')) process.stdout(`${process.pod.hostname.split('.')[0]}\n`);
    else process.stdout(`${process.pod.hostname}\n`);
    return 0;
  }),
  date: commandWith({ flags: 'u', values: 'I d|date' }, (process, line) => {
    const given = line.value('date');
    const [, days] = /^(\d+) days? ago$/.exec(given ?? '') ?? [];
    if (given !== undefined && days === undefined) notModelled(process, given);
    const moment = process.clock.now() - Number(days ?? 0) * 86_400_000;
    const now = microTimestamp({ now: () => moment });
    const format = line.operands[0];
    if (format === undefined) process.stdout(`${now.slice(0, 19)}Z\n`);
    else if (!format.startsWith('+')) notModelled(process, format);
    else {
      const [Y, m, d, H, M, S] = now.split(/[-T:.]/);
      const whole = { F: now.slice(0, 10), T: now.slice(11, 19), s: String(Math.floor(moment / 1000)), '%': '%' };
      const fields: Record<string, string | undefined> = { Y, m, d, H, M, S, ...whole };
      const fill = (all: string, letter: string) => fields[letter] ?? notModelled(process, all);
      process.stdout(`${format.slice(1).replaceAll(/%(.)/g, fill)}\n`);
    }
    return 0;
  }),
  env: commandWith({ flags: 'i', values: 'u', stopAtOperand: true }, (process, line) => {
    const environment: Record<string, string> = line.has('i') ? {} : { ...process.env };
    for (const name of line.values('u')) delete environment[name];
    const rest = [...line.operands];
    while (rest[0] !== undefined && /^[^=]+=/.test(rest[0])) {
      const [name = '', ...value] = (rest.shift() as string).split('=');
      environment[name] = value.join('=');
    }
    if (rest.length > 0) return start(process, rest, { environment });
    for (const [name, value] of Object.entries(environment)) process.stdout(`${name}=${value}\n`);
    return 0;
  }),
  'dumb-init': commandWith(
    {
      flags: 'single-child c v verbose',
      values: 'rewrite|r',
      stopAtOperand: true,
    },
    (process, line) => {
      const [program = ''] = line.operands;
      if (program === '') throw new CommandError('Usage: dumb-init [option] program [args]');
      return start(process, line.operands, {
        ...(line.has('rewrite') && rewritten(process, line.value('rewrite') ?? '')),
        notFound: () => new CommandError(`[dumb-init] ${program}: No such file or directory`, 2),
      });
    },
  ),
  /** sudo resets the environment: OS_* variables do not get through without -E. */
  sudo: commandWith({ flags: 'E n H', values: 'u', stopAtOperand: true }, (process, line) => {
    if (line.value('u') !== undefined) notModelled(process, '-u');
    if (process.uid !== 0 && !process.privileged) {
      throw new CommandError('sudo: The "no new privileges" flag is set, which prevents sudo from running as root.');
    }
    const kept = Object.entries(process.env).filter(
      ([name]) => line.has('E') || ['PATH', 'HOME', 'TERM', 'LANG'].includes(name),
    );
    return start(process, line.operands, { environment: Object.fromEntries(kept) });
  }),
  timeout: commandWith(
    {
      flags: 'foreground v',
      values: 's k',
      stopAtOperand: true,
    },
    async (process, line) => {
      const [limit = '', ...argv] = line.operands;
      let late = false;
      const reason = () => {
        late = true;
        return new Error(`${limit} are over`);
      };
      const deadline = { clock: process.clock, ms: duration(process, limit), reason };
      using scope = abortScope({ parents: [process.signal], deadline });
      // What a signal finds in a system call, such as a connection being opened, it ends there.
      const ended = aborted(scope.signal).then(() => 143);
      const status = await Promise.race([process.run(argv, { signal: scope.signal }), ended]);
      return late ? 124 : status;
    },
  ),
};
