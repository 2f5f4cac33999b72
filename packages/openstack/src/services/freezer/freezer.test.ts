import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Context } from '../../engine/vocabulary/context.ts';
import { freezer } from './freezer.ts';
import type { Freezer } from './kind.ts';

/** Runs the migration with a program in the place of `freezer-manage`, which has its own words and its log. */
function migrated(program: string) {
  const directory = mkdtempSync(join(tmpdir(), 'freezer-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'freezer-manage'), `#!/bin/sh\n${program}\n`);
  chmodSync(join(directory, 'freezer-manage'), 0o755);
  const [command = '', ...args] = freezer.migrate?.({} as Context<Freezer>).sync ?? [];
  const env = { PATH: `${directory}:${process.env['PATH']}` };
  const { status, stderr } = spawnSync(command, args, { env, encoding: 'utf8' });
  return { status, stderr };
}

test('a migration that failed is told, although the program ends with status 0', () => {
  expect(migrated('echo migrated >&2')).toEqual({ status: 0, stderr: 'migrated\n' });
  expect(migrated('echo "(1045, Access denied)"')).toEqual({ status: 1, stderr: '(1045, Access denied)\n' });
  expect(migrated('exit 3').status).toBe(3);
});
