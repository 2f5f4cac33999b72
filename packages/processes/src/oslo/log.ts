import type { Process } from '@openstack-operator/sandbox';
import { worded } from '../attempt.ts';
import { logTime } from '../program-support.ts';
import type { Config } from './config.ts';
import { osError, type PythonError } from './python-error.ts';

/** oslo.log: where a service's words go. */
export interface Log {
  debug(logger: string, text: string): void;
  info(logger: string, text: string): void;
  warning(logger: string, text: string): void;
  error(logger: string, text: string): void;
  /** An exception that was caught: the message and a traceback that ends in the exception. */
  exception(logger: string, text: string, error: PythonError): void;
  /** What the interpreter's last exception handler writes. */
  unhandled(product: string, error: PythonError): void;
}

/**
 * Sets up logging as the options say: `log_file`/`log_dir` (a directory that must be writable), `use_stderr`, standard
 * output otherwise.
 * @throws PythonError when the log file cannot be written
 */
export function setUpLog(process: Process, config: Config, program: string): Log {
  const level = config.boolean('DEFAULT', 'debug') ? 0 : 1;
  const directory = config.text('DEFAULT', 'log_dir');
  const file = config.optional('DEFAULT', 'log_file') ?? (directory ? `${program}.log` : '');
  const path = file.startsWith('/') || !directory ? file : `${directory.replace(/\/$/, '')}/${file}`;
  const sinks: ((text: string) => void)[] = [];
  if (path !== '') {
    worded(
      () => process.files.write(path, '', { append: true }),
      (error) => osError(error, path),
    );
    sinks.push((text) => process.files.write(path, text, { append: true }));
  }
  if (config.boolean('DEFAULT', 'use_stderr')) sinks.push((text) => process.stderr(text));
  if (sinks.length === 0) sinks.push((text) => process.stdout(text));
  return logTo(process, sinks, level);
}

/** A log on standard error, for programs without oslo.log. */
export function plainLog(process: Process): Log {
  return logTo(process, [(text) => process.stderr(text)], 1);
}

function logTo(process: Process, sinks: readonly ((text: string) => void)[], level: number): Log {
  const print = (text: string): void => {
    for (const sink of sinks) sink(text);
  };
  const prefix = (name: string, logger: string): string => `${logTime(process)} ${process.pid} ${name} ${logger}`;
  const write = (name: string, logger: string, text: string): void => print(`${prefix(name, logger)} [-] ${text}\n`);
  const traceback = (logger: string, error: PythonError): void => {
    // The last line of a formatted exception is empty.
    const lines = ['Traceback (most recent call last):', ...error.lastLine.split('\n'), ''];
    print(lines.map((line) => `${prefix('ERROR', logger)} ${line}\n`).join(''));
  };
  return {
    debug: (logger, text) => (level === 0 ? write('DEBUG', logger, text) : undefined),
    info: (logger, text) => write('INFO', logger, text),
    warning: (logger, text) => write('WARNING', logger, text),
    error: (logger, text) => write('ERROR', logger, text),
    exception: (logger, text, error) => {
      write('ERROR', logger, text);
      traceback(logger, error);
    },
    unhandled: (product, error) => {
      write('CRITICAL', product, `Unhandled error: ${error.lastLine}`);
      traceback(product, error);
    },
  };
}
