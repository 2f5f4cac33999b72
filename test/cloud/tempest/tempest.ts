import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pythonPackages } from '../../../tools/python-packages.ts';
import type { Exclusions } from './exclusions.ts';

/** Tempest in a directory of its own. */
export interface Tempest {
  /** The ids of the tests that a regular expression chooses, without tags. @throws Error with tempest's words */
  idsOf(pattern: string): Promise<string[]>;
  /** Runs the tests of a list, so many at a time; hands on each line that it prints. Gives the exit code. */
  run(
    list: { pattern: string; exclusions: Exclusions; concurrency: number },
    line: (line: string) => void,
  ): Promise<number>;
}

/**
 * Installs tempest on first use, and gives it a directory with a configuration. What an earlier run left there is
 * removed.
 * @throws Error that says what to install
 */
export async function prepareTempest(directory: string, configuration: string): Promise<Tempest> {
  const packages = pythonPackages('tempest', join(import.meta.dirname, 'requirements.txt'));
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const file = (name: string, text: string) => writeFileSync(join(directory, name), text, { mode: 0o600 });
  file('tempest.conf', configuration);
  // What runs in one process, one after the other: the tests of a class, which share what they made.
  const repository = `test_path=${packages}/tempest/test_discover\ntop_dir=${packages}\ngroup_regex=([^\\.]*\\.)*\n`;
  file('.stestr.conf', `[DEFAULT]\n${repository}`);

  const start = (module: string, ...argv: readonly string[]) =>
    spawn('python3', ['-W', 'ignore', '-m', module, ...argv], {
      cwd: directory,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: directory,
        PYTHONPATH: packages,
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONUNBUFFERED: '1',
        PYTHONWARNINGS: 'ignore',
        TEMPEST_CONFIG_DIR: directory,
        TEMPEST_CONFIG: 'tempest.conf',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const listen = async (child: ReturnType<typeof start>, line: (line: string) => void) => {
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', line);
    return await new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve(code ?? 1));
    });
  };
  const command = 'tempest.cmd.main';
  const words: string[] = [];
  if ((await listen(start('stestr.cli', 'init'), (line) => words.push(line))) !== 0) throw new Error(words.join('\n'));
  return {
    async idsOf(pattern) {
      const lines: string[] = [];
      await listen(start(command, 'run', '--list-tests', '--regex', pattern), (line) => lines.push(line));
      const ids = lines.flatMap((line) => /^(tempest\.\S+?)(?:\[\S*\])?$/.exec(line)?.slice(1) ?? []);
      if (ids.length === 0) throw new Error(`tempest lists no test of ${pattern}:\n${lines.slice(-20).join('\n')}`);
      return ids;
    },
    async run({ pattern, exclusions, concurrency }, line) {
      file(
        'exclude',
        Object.keys(exclusions)
          .map((one) => `${one}\n`)
          .join(''),
      );
      const options = ['--regex', pattern, '--exclude-list', 'exclude', '--concurrency', String(concurrency)];
      return await listen(start(command, 'run', ...options), line);
    },
  };
}
