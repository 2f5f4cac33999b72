import { expect, test } from 'vitest';
import { readBeginning, readText } from './text-stream.ts';

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

test('of a body that is too long the beginning is read, and no more', async () => {
  let chunks = 0;
  async function* body() {
    for (; chunks < 100; chunks++) yield Buffer.from('x'.repeat(10));
  }
  expect(await readBeginning(body(), 35)).toHaveLength(40);
  expect(chunks).toBe(3);
  chunks = 0;
  expect(await readBeginning(body(), 2000)).toHaveLength(1000);
});
