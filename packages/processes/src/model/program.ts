import { type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import { attempt } from '../attempt.ts';
import { type CommandLine, type OptionNames, parseCommandLine, UsageError } from '../command-line.ts';
import { type Config, type ConfigSources, loadConfig } from '../oslo/config.ts';
import { type Log, plainLog, setUpLog } from '../oslo/log.ts';
import { PythonError, SystemExit } from '../oslo/python-error.ts';
import type { ServiceContext } from '../oslo/service-context.ts';
import { nameOf, pause } from '../program-support.ts';

/** Whose program it is: names the directory of its files, and the user of its images. */
export type Project = Pick<ConfigSources, 'project' | 'options'>;

/** What a program has once it has read its command line, too. */
export interface CommandContext extends ServiceContext {
  readonly line: CommandLine;
}

/** A program that is built on oslo.config. */
export interface ServiceProgram {
  /** Milliseconds that its interpreter and its imports take. */
  readonly takes: number;
  /** Names of its options without and with a value, blanks between, besides those of every program. */
  readonly flags?: string;
  readonly values?: string;
  /** Whose default files are read (`<name>.conf`); the program's own when absent. */
  readonly files?: readonly string[];
  /** Takes words beside options: a program with subcommands. Others refuse them. */
  readonly operands?: true;
  /** What it does, and its exit status. @throws PythonError, SystemExit */
  run(context: CommandContext): Promise<number>;
}

/** Options that oslo.config and oslo.log give to every program. */
const common: OptionNames = {
  flags: 'debug d nodebug use-syslog nouse-syslog use-journal watch-log-file use-json version help h',
  values:
    'config-file config-dir log-config-append log-date-format log-file logfile log-dir logdir syslog-log-facility',
};

/**
 * The program: reads options and configuration, sets up its log, runs. What it throws ends it as in Python: `SystemExit`
 * with its status, everything else as `Unhandled error` with status 1.
 */
export function osloProgram(project: Project, program: ServiceProgram): Program {
  return async (process) => {
    let log: Log = plainLog(process);
    try {
      const context = contextOf(process, project, program);
      log = context.log;
      if (program.takes > 0) await pause(process, program.takes);
      return await program.run(context);
    } catch (error) {
      return endOf(process, log, project.project, error);
    }
  };
}

function readLine(process: Process, { flags = '', values = '', operands }: ServiceProgram): CommandLine {
  const name = nameOf(process);
  const refuse = (reason: string): never => {
    throw new SystemExit(2, `usage: ${name} [-h] [--config-dir DIR] [--config-file PATH]\n${name}: error: ${reason}`);
  };
  try {
    const line = parseCommandLine(process.argv.slice(1), {
      flags: `${common.flags} ${flags}`,
      values: `${common.values} ${values}`,
      abbreviations: true,
      noDashedValues: true,
    });
    return operands === true || line.operands.length === 0
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

function contextOf(process: Process, project: Project, program: ServiceProgram): CommandContext {
  const line = readLine(process, program);
  const name = nameOf(process);
  const files = line.values('config-file');
  const directories = line.values('config-dir');
  const sources = {
    ...project,
    programs: program.files ?? [name],
    ...(files.length > 0 && { files }),
    ...(directories.length > 0 && { directories }),
  };
  const config = attempt(
    PythonError,
    () => loadConfig(process, sources),
    ({ lastLine }): never => {
      // A file named on the command line is an argument of the parser; its errors are the parser's.
      throw new SystemExit(1, `Traceback (most recent call last):\n${lastLine}`);
    },
  );
  return { process, config, log: openLog(process, config, name), line };
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
function endOf(process: Process, log: Log, product: string, error: unknown): number {
  if (error instanceof SystemExit) {
    if (error.message !== '') process.stderr(`${error.message}\n`);
    return error.status;
  }
  const raised = error instanceof SystemError ? new PythonError('OSError', error.message) : error;
  if (!(raised instanceof PythonError)) throw error;
  log.unhandled(product, raised);
  return 1;
}
