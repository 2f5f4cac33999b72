import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { intern } from './intern.ts';

/** A value as it comes from a server: no two strings in it are one. */
const received = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const value = { list: ['name', { name: 'name', none: null, count: 1 }], long: 'x'.repeat(100) };

test('a value says afterwards what it said before, and is frozen all the way down', () => {
  const interned = intern(received(value)) as typeof value;
  expect(interned).toEqual(value);
  expect([interned, interned.list, interned.list[1]].every((part) => Object.isFrozen(part))).toBe(true);
});

test('what is frozen already, such as a part of another object, is left as it is', () => {
  const part = Object.freeze({ name: 'name' });
  expect(intern({ part }).part).toBe(part);
});

test('strings that share a slot stay what they are', () => {
  const texts = Array.from({ length: 120_000 }, (_, index) => `string ${index}`);
  expect(intern(received(texts))).toEqual(texts);
});

test('equal parts of two values are one; what is in another order, or large, is not', () => {
  const probe = { httpGet: { path: '/healthcheck', port: 5000 }, periodSeconds: 10, list: ['a', null, true] };
  const read = (value: unknown) => intern(received({ value })) as { value: object };
  expect(read(probe).value).toBe(read(probe).value);
  expect(read(['a', 'b']).value).toBe(read(['a', 'b']).value);
  const { httpGet, ...rest } = probe;
  const other = read({ ...rest, httpGet }).value;
  expect(Object.keys(other)).toEqual(['periodSeconds', 'list', 'httpGet']);
  expect(read({ 0: 'a', 1: 'b' }).value).not.toEqual(read(['a', 'b']).value);
  const large = Array.from({ length: 40 }, (_, index) => index);
  expect(read(large).value).not.toBe(read(large).value);
  const longKey = { ['k'.repeat(20_000)]: 'x' };
  expect(read(longKey).value).not.toBe(read(longKey).value);
  const secret = { key: 'x'.repeat(100) };
  expect(read(secret).value).not.toBe(read(secret).value);
});

test('parts that share a slot stay what they are', () => {
  const parts = Array.from({ length: 60_000 }, (_, index) => ({
    index,
    [`name ${index % 7}`]: [index % 3, `${index}`],
  }));
  expect(intern(received(parts))).toEqual(parts);
});

test('what is nested deeper than 64 levels becomes a text, so that every recursive reader has stack enough', () => {
  const nested = (depth: number, core: string) => `${'{"a":['.repeat(depth / 2)}${core}${']}'.repeat(depth / 2)}`;
  const kept = nested(64, '{"name":1}');
  expect(JSON.stringify(intern(JSON.parse(kept)))).toBe(kept);
  const cut = nested(64, '{"name":"(nested deeper than 64 levels)"}');
  for (const core of ['{}', '[]', nested(100_000, '1')]) {
    const value: unknown = intern(JSON.parse(nested(64, `{"name":${core}}`)));
    expect(JSON.stringify(value)).toBe(cut);
    expect(isDeepStrictEqual(value, structuredClone(value))).toBe(true);
  }
});
