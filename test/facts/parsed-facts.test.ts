import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

test('facts are parsed when somebody sets options, not before', async () => {
  const worker = new Worker(new URL('./count-parses.ts', import.meta.url));
  const [[without = -1, withOptions = 0]] = (await once(worker, 'message')) as [number[]];
  expect(without).toBe(0);
  expect(withOptions).toBeGreaterThan(0);
});
