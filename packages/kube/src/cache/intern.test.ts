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
