import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** A process of its own: other tests make Maps as well. `make test-leaks` goes on a hundred times as long. */
async function watched(stage: string, count: number): Promise<string> {
  const args = [`${import.meta.dirname}/main.ts`, '--stage', stage, '--count', String(count), '--samples', '3'];
  const { stdout } = await promisify(execFile)(process.execPath, args).catch((error: { stdout: string }) => error);
  return stdout;
}

test.concurrent('a controller remembers nothing of objects that are gone', async () => {
  expect(await watched('runtime', 300)).toContain('- nothing stays');
});

test.concurrent('the operator, its Kubernetes and its processes remember nothing of clouds that are gone', async () => {
  expect(await watched('identity', 400)).toContain('- nothing stays');
});
