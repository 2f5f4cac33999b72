import type { Process, Program } from '@openstack-operator/sandbox';
import { SystemError } from '@openstack-operator/sandbox';
import { nameOf, pause } from '../../program-support.ts';
import { SwiftError } from './swift-conf.ts';

/** A program of Swift: its first word is the file that it reads, `-v` sends its log to the console. */
export function swiftProgram(takes: number, run: (process: Process, path: string) => Promise<number>): Program {
  return async (process) => {
    const [, path, ...options] = process.argv;
    if (path === undefined || options.some((option) => !['-v', '--verbose'].includes(option))) {
      process.stderr(`Usage: ${nameOf(process)} CONFIG [options]\n\nError: missing config path argument\n`);
      return 1;
    }
    if (!(await pause(process, takes))) return 0;
    try {
      return await run(process, path);
    } catch (error) {
      if (!(error instanceof SwiftError) && !(error instanceof SystemError)) throw error;
      process.stderr(`${error.message}\n`);
      return 1;
    }
  };
}

/** A line of its log. */
export function said(process: Process, program: string, text: string): void {
  process.stdout(`${program}: ${text}\n`);
}
