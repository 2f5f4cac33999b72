import { expect, test } from 'vitest';
import { readText } from './text-stream.ts';

test('a body that is longer than asked for is left at the chunk that goes beyond', async () => {
  let chunks = 0;
  async function* body() {
    for (; chunks < 100; chunks++) yield Buffer.from('x'.repeat(10));
  }
  expect(await readText(body(), 1000)).toHaveLength(1000);
  chunks = 0;
  await expect(readText(body(), 35)).rejects.toThrow('the answer has more than 35 bytes, and is not read');
  expect(chunks).toBe(3);
});
