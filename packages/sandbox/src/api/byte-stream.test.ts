import { expect, test } from 'vitest';
import { ByteStream } from './byte-stream.ts';

const decoder = new TextDecoder();

async function next(chunks: AsyncIterator<Uint8Array>): Promise<string | undefined> {
  const { value, done } = await chunks.next();
  return done === true ? undefined : decoder.decode(value);
}

test('what makes a long body is asked as far as it is read', async () => {
  const stream = new ByteStream();
  const made: number[] = [];
  for (const piece of [1, 2, 3, 4, 5]) {
    stream.write(() => {
      made.push(piece);
      return String(piece).repeat(30_000);
    });
  }
  const chunks = stream[Symbol.asyncIterator]();
  expect(made).toEqual([]);
  expect((await next(chunks))?.length).toBe(90_000);
  expect(made).toEqual([1, 2, 3]);
  stream.write('end');
  stream.close();
  expect((await next(chunks))?.slice(-4)).toBe('5end');
  expect(await next(chunks)).toBeUndefined();
});

test('a reader that waits gets what is written then, and an error after all that was written before it', async () => {
  const stream = new ByteStream();
  const chunks = stream[Symbol.asyncIterator]();
  const waiting = next(chunks);
  stream.write('a');
  stream.write('b');
  expect(await waiting).toBe('ab');
  stream.write('c');
  stream.close(new Error('broken'));
  stream.write('too late');
  expect(await next(chunks)).toBe('c');
  await expect(next(chunks)).rejects.toThrow('broken');
});

test('who stops to read ends it', async () => {
  const stream = new ByteStream();
  let ended = 0;
  stream.onEnd(() => ended++);
  stream.write('a');
  for await (const _ of stream) break;
  expect([stream.closed, ended]).toEqual([true, 1]);
});
