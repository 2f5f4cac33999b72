import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

// In a process of its own: a look at all that lives takes seconds where other tests' clouds lie about.
test('nothing stays of embedded clouds that are stopped in the middle of a rollout', () => {
  const program = join(import.meta.dirname, 'stopped-clouds.ts');
  const said = execFileSync(process.execPath, [program], { encoding: 'utf8', timeout: 100_000 });
  expect(said).toBe('0 of 3 clouds that were stopped are still in memory\n');
});
