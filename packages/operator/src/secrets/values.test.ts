import { seededRandom } from '@openstack-operator/kube';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeData, encodeData, generate, rotated } from './values.ts';

test('passwords hold nothing that a URL, an ini file or SQL would change', () => {
  expect(generate({ type: 'password', length: 32 }, seededRandom(1))).toMatch(/^[A-Za-z0-9]{32}$/);
});

test('fernet keys are 32 bytes of padded base64url', () => {
  const key = generate({ type: 'fernetKey' }, seededRandom(1));
  expect(key).toMatch(/^[A-Za-z0-9_-]{43}=$/);
  expect(Buffer.from(key, 'base64url')).toHaveLength(32);
});

test('data survives encoding', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.string({ unit: 'grapheme' })), (values) => {
      expect(decodeData(encodeData(values))).toEqual({ ...values });
    }),
  );
});

describe('a rotation', () => {
  test('makes the staged key the primary one, stages a new one, and drops the oldest', () => {
    expect(rotated({ '0': 'staged', '1': 'old', '2': 'primary' }, 3, 'new')).toEqual({
      '0': 'new',
      '2': 'primary',
      '3': 'staged',
    });
  });

  test('never loses the key that signs, and keeps to the limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 12 }), fc.integer({ min: 1, max: 40 }), (limit, rounds) => {
        let keys: Record<string, string> = { '0': 'k0', '1': 'k1' };
        for (let round = 0; round < rounds; round++) {
          const primary = keys[String(Math.max(...Object.keys(keys).map(Number)))] ?? '';
          const staged = keys['0'];
          keys = rotated(keys, limit, `n${round}`);
          expect(Object.values(keys)).toContain(primary);
          expect(keys[String(Math.max(...Object.keys(keys).map(Number)))]).toBe(staged);
          expect(Object.keys(keys).length).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });
});
