import { expect, test } from 'vitest';
import { readyCloud } from './cloud.ts';

test('a Ready cloud writes nothing but leases: 5 minutes and a full resync', async () => {
  const { cloud, operator } = await readyCloud();
  await cloud.clock.advance(60_000);
  const writes: string[] = [];
  operator.onWrite(({ method, path }) => {
    if (!path.includes('/leases/')) writes.push(`${method} ${path}`);
  });
  await cloud.clock.advance(300_000);
  operator.runtime.resync();
  await cloud.clock.advance(10_000);
  expect(writes).toEqual([]);
});
