import { microTimestamp, sleep } from '@openstack-operator/kube';
import { type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import { type CommandLine, type OptionNames, parseCommandLine, UsageError } from './command-line.ts';

/** Takes the time that the real program takes. @returns false when SIGTERM came meanwhile */
export async function pause(process: Process, ms: number): Promise<boolean> {
  try {
    await sleep(process.clock, ms, process.signal);
    return true;
  } catch {
    return false;
  }
}

/** Resolves on SIGTERM. */
export function terminated({ signal }: Process): Promise<void> {
  return aborted(signal);
}

/** Resolves when a signal is aborted, or when it is already. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Handles a signal other than SIGTERM, whenever it comes. */
export function onSignal({ signals }: Process, name: 'USR1' | 'USR2', handle: () => void): void {
  signals.addEventListener(name, (event) => {
    event.preventDefault();
    handle();
  });
}

/** Sends a signal other than SIGTERM, and tells whether nobody handles it: then the program ends. */
export function isFatal(signals: EventTarget, name: string): boolean {
  return signals.dispatchEvent(new Event(name, { cancelable: true }));
}

/** The name that a program complains under. */
export function nameOf(process: Process): string {
  return (process.argv[0] ?? '').split('/').at(-1) ?? '';
}

/** `2026-01-02 03:04:05.678`, as logs show time. */
export function logTime(process: Process): string {
  return microTimestamp(process.clock).slice(0, 23).replace('T', ' ');
}

/** `2026-01-02T03:04:05.000000Z` of seconds since the epoch. */
export function isoTime(seconds: number): string {
  return microTimestamp({ now: () => seconds * 1000 });
}

/**
 * A short-lived command: what it throws (`CommandError`, `UsageError`, `SystemError`) becomes its message on standard
 * error and its exit code.
 */
export function command(run: (process: Process) => number | Promise<number>): Program {
  return async (process) => {
    try {
      return await run(process);
    } catch (error) {
      if (error instanceof CommandError) {
        process.stderr(`${error.message}\n`);
        return error.status;
      }
      if (error instanceof UsageError || error instanceof SystemError) {
        process.stderr(`${nameOf(process)}: ${error.message}\n`);
        return 1;
      }
      throw error;
    }
  };
}

/** A short-lived command that gets its options read. */
export function commandWith(
  names: OptionNames,
  run: (process: Process, line: CommandLine) => number | Promise<number>,
): Program {
  return command((process) => run(process, parseCommandLine(process.argv.slice(1), names)));
}

/** A command gives up with this message and exit status. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly status: number;

  constructor(message: string, status = 1) {
    super(message);
    this.status = status;
  }
}

/** Ends a command that was asked for something that this model does not know: never ignored. */
export function notModelled(process: Process, what: string): never {
  throw new CommandError(`${nameOf(process)}: this simulated ${nameOf(process)} does not know ${what}`, 2);
}

/** Bytes of the file system that a path lies on. @throws SystemError ENOENT */
export function fileSystemSize(process: Process, path: string): number {
  return process.files.capacity(path) ?? notModelled(process, `how large the file system of ${path} is`);
}

/** Makes a directory and those above it. @throws SystemError */
export function makeDirectories(process: Process, path: string, mode?: number): void {
  const { files } = process;
  let above = '';
  for (const name of path.split('/').filter((part) => part !== '')) {
    above += `/${name}`;
    if (!files.exists(above)) files.mkdir(above, mode === undefined ? {} : { mode });
    else if (!files.isDirectory(above)) throw new SystemError('ENOTDIR', `${above}: Not a directory`);
  }
}
