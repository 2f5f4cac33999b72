import type { Secret, StoredObject } from '@openstack-operator/kube';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ComposeContext } from '../context.ts';
import { mostOfMessage, redactor } from './redact.ts';
import { encodeData } from './values.ts';

/** What redacts in a namespace with one Secret. */
function redactorOf(data: Readonly<Record<string, string>>): (text: string) => string {
  const secret = { data: encodeData(data) } as unknown as StoredObject<Secret>;
  return redactor({
    cache: { list: () => [secret] },
    object: { metadata: { namespace: 'ns' } },
  } as unknown as ComposeContext);
}

const redactorOfValues = (values: readonly string[]) =>
  redactorOf(Object.fromEntries(values.map((value, i) => [`key-${i}`, value])));

test.each<[string, Record<string, string>, string, string]>([
  ['a value', { password: 'hunter2.invalid' }, 'is hunter2.invalid, twice hunter2.invalid', 'is *, twice *'],
  ['a value in a URL', { password: 'pass word/1' }, 'a://b:pass%20word%2F1@c', 'a://b:*@c'],
  ['marks that only some encode', { password: "Pa!ss(w)or'd*1" }, 'a://b:Pa%21ss%28w%29or%27d%2A1@c', 'a://b:*@c'],
  ['a value with a newline at its end', { password: 'hunter2.invalid\n' }, "'hunter2.invalid\n', a", "'*\n', a"],
  ['no name of a user', { username: 'keystone-user' }, 'user keystone-user', 'user keystone-user'],
  [
    'no name of an administrator of a domain',
    { domain_admin: 'heat_domain_admin' },
    'heat_domain_admin',
    'heat_domain_admin',
  ],
  ['no short value', { password: 'keystone'.slice(1) }, 'in keystone', 'in keystone'],
  ['no file', { conf: '[DEFAULT]\nx=1' }, '[DEFAULT]\nx=1', '[DEFAULT]\nx=1'],
  ['a value within another one', { a: 'abcdefgh', b: 'xxabcdefghxx' }, '1xxabcdefghxx2abcdefgh3', '1*2*3'],
  ['values that overlap', { a: '12345678', b: '56789abc' }, 'x123456789abcy', 'x*y'],
  ['values side by side', { a: '12345678', b: 'abcdefgh' }, 'x12345678abcdefghy', 'x*y'],
  ['of a long value the rest of the text', { a: `${'a'.repeat(2000)}b` }, `x${'a'.repeat(2000)}bc`, 'x*'],
  ['a value that looks like what is put in its place', { a: 'redacted' }, 'redacted.redacted', '*.*'],
  ['what is cut within a character', { a: `x${'\u{1f511}'.repeat(600)}` }, `x${'\u{1f511}'.repeat(600)}`, '*'],
])('redacts %s', (_title, data, text, expected) => {
  expect(redactorOf(data)(text)).toBe(expected.replaceAll('*', '[redacted]'));
});

describe('a text that is too long', () => {
  const value = 'hunter2.invalid';
  test.each([0, 1, 7, 14, 15])('is cut, and says nothing of a value that begins %i characters before the cut', (n) => {
    const text = `${'-'.repeat(mostOfMessage - n)}${value} and more`;
    const result = redactorOf({ password: value })(text);
    expect(result.length).toBeLessThanOrEqual(mostOfMessage);
    expect(result.replace(/\[?[redact]*\]?$/, '')).toBe('-'.repeat(mostOfMessage - n));
  });
});

test('no value is left, whatever the values and the text are', () => {
  const letters = fc.string({ unit: fc.constantFrom('x', 'y'), minLength: 8, maxLength: 12 });
  fc.assert(
    fc.property(
      fc.array(letters, { maxLength: 12 }),
      fc.array(fc.oneof(letters, fc.constant('-'), fc.nat(11))),
      (values, parts) => {
        const text = parts.map((part) => (typeof part === 'number' ? (values[part] ?? '') : part)).join('');
        const result = redactorOfValues(values)(text);
        expect(values.filter((value) => result.includes(value))).toEqual([]);
        if (values.every((value) => !text.includes(value))) expect(result).toBe(text);
      },
    ),
  );
});

describe('a namespace with very many values holds up nobody', () => {
  const name = Array.from({ length: 28 }, () => 'redacted').join('.');
  const text = `spec.databaseRef.name: MariaDB ${name} does not exist in namespace ns`;
  const alike = Array.from({ length: 9000 }, (_, i) => `${'a'.repeat(500)}${i}`);
  const withheld = /^this message is withheld: the Secrets of namespace ns have more values/;
  test.each<[string, string[], string, RegExp]>([
    ['4,000 times one value', Array.from({ length: 4000 }, () => 'redacted'), text, /MariaDB \[redacted\]\./],
    ['9,000 times one value', Array.from({ length: 9000 }, () => 'redacted'), text, /MariaDB \[redacted\]\./],
    ['40,000 times one value', Array.from({ length: 40_000 }, () => 'redacted'), text, withheld],
    ['40,000 values', Array.from({ length: 40_000 }, (_, i) => `redacted-${i}`), text, withheld],
    ['9,000 values that begin alike', alike, 'a'.repeat(mostOfMessage), withheld],
    [
      '9,000 values of newlines',
      Array.from({ length: 9000 }, () => `${'\n'.repeat(1535)}x`),
      text,
      /MariaDB redacted\./,
    ],
    ['9,000 values that are not meant', alike, 'b'.repeat(100 * mostOfMessage), /^b+$/],
  ])('%s', (_title, values, message, expected) => {
    const redact = redactorOfValues(values);
    const before = process.threadCpuUsage();
    const result = redact(message);
    const { user, system } = process.threadCpuUsage(before);
    expect(result).toMatch(expected);
    expect(result.length).toBeLessThanOrEqual(mostOfMessage);
    expect((user + system) / 1000).toBeLessThan(250);
  });
});
