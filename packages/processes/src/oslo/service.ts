import type { Process, Program } from '@openstack-operator/sandbox';
import { SystemError } from '@openstack-operator/sandbox';
import { type CommandLine, type OptionNames, parseCommandLine, UsageError } from '../command-line.ts';
import { nameOf } from '../program-support.ts';
import { type Config, loadConfig } from './config.ts';
import { type Log, plainLog, setUpLog } from './log.ts';
import { PythonError, SystemExit } from './python-error.ts';

/** What every OpenStack program has once it has read its command line and configuration. */
export interface ServiceContext {
  readonly process: Process;
  readonly config: Config;
  readonly log: Log;
  readonly line: CommandLine;
}

/** Options that oslo.config and oslo.log give to every program. */
const common: OptionNames = {
  flags: [
    'debug',
    'd',
    'nodebug',
    'use-syslog',
    'nouse-syslog',
    'use-journal',
    'watch-log-file',
    'use-json',
    'version',
    'help',
    'h',
  ],
  values: [
    'config-file',
    'config-dir',
    'log-config-append',
    'log-date-format',
    'log-file',
    'logfile',
    'log-dir',
    'logdir',
    'syslog-log-facility',
  ],
};

/**
 * A program built on oslo.config: reads options and configuration, sets up its log, runs. What it throws ends it as in
 * Python: `SystemExit` with its status, everything else as `Unhandled error` with status 1.
 */
export function osloProgram(options: {
  project: string;
  /** Name of the product in the last log line; the project when absent. */
  product?: string;
  names?: OptionNames;
  /** Takes words beside options: a program with subcommands. Others refuse them. */
  subcommands?: boolean;
  /** Whose default files are read (`<name>.conf`); the program's own when absent. */
  programs?: readonly string[];
  run: (context: ServiceContext) => Promise<number>;
}): Program {
  return async (process) => {
    const { project, product = project, names = {}, subcommands = false } = options;
    let log: Log = plainLog(process);
    try {
      const line = readLine(process, names, subcommands);
      const context = contextOf(process, project, line, options.programs);
      log = context.log;
      return await options.run(context);
    } catch (error) {
      return endOf(process, log, product, error);
    }
  };
}

function readLine(process: Process, names: OptionNames, subcommands: boolean): CommandLine {
  const name = nameOf(process);
  const refuse = (reason: string): never => {
    throw new SystemExit(2, `usage: ${name} [-h] [--config-dir DIR] [--config-file PATH]\n${name}: error: ${reason}`);
  };
  try {
    const line = parseCommandLine(process.argv.slice(1), {
      flags: [...(common.flags ?? []), ...(names.flags ?? [])],
      values: [...(common.values ?? []), ...(names.values ?? [])],
      abbreviations: true,
      noDashedValues: true,
    });
    return subcommands || line.operands.length === 0
      ? line
      : refuse(`unrecognized arguments: ${line.operands.join(' ')}`);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return refuse(
      error.reason === 'value'
        ? `argument ${error.option}: expected one argument`
        : `unrecognized arguments: ${error.option}`,
    );
  }
}

function contextOf(process: Process, project: string, line: CommandLine, programs?: readonly string[]): ServiceContext {
  const program = nameOf(process);
  const files = line.values('config-file');
  const directories = line.values('config-dir');
  let config: Config;
  try {
    config = loadConfig(process, {
      project,
      programs: programs ?? [program],
      ...(files.length > 0 && { files }),
      ...(directories.length > 0 && { directories }),
    });
  } catch (error) {
    // A file named on the command line is an argument of the parser; its errors are the parser's.
    if (error instanceof PythonError) throw new SystemExit(1, `Traceback (most recent call last):\n${error.lastLine}`);
    throw error;
  }
  return { process, config, log: openLog(process, config, program), line };
}

/** `debug` is an option of the command line too: its errors are the parser's. */
function openLog(process: Process, config: Config, program: string): Log {
  try {
    return setUpLog(process, config, program);
  } catch (error) {
    if (!(error instanceof PythonError) || !error.message.startsWith('Value for option debug ')) throw error;
    throw new SystemExit(1, `argument --debug: Invalid Boolean value: ${/'([^']*)'$/.exec(error.message)?.[1]}`);
  }
}

/** How a program ends that threw: its last words and its exit status. */
export function endOf(process: Process, log: Log, product: string, error: unknown): number {
  if (error instanceof SystemExit) {
    if (error.message !== '') process.stderr(`${error.message}\n`);
    return error.status;
  }
  if (error instanceof PythonError) {
    log.unhandled(product, error);
    return 1;
  }
  if (error instanceof SystemError) {
    log.unhandled(product, new PythonError('OSError', error.message));
    return 1;
  }
  throw error;
}
