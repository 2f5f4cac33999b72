import { alphanumeric, type Random } from '@openstack-operator/kube';
import type { Generator } from '@openstack-operator/openstack';

/** Makes one value of a Secret. */
export function generate(generator: Generator, random: Random): string {
  switch (generator.type) {
    case 'password':
      return alphanumeric(random, generator.length);
    case 'fernetKey':
      // The standard alphabet of Fernet keys is base64url with padding (cryptography.fernet).
      return Buffer.from(random.bytes(32)).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
    case 'literal':
      return generator.value;
  }
}

/** `data` of a Secret from texts. */
export function encodeData(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
}

/** The text of one value of a Secret's `data`. */
export function decodeValue(value: string): string {
  return Buffer.from(value, 'base64').toString();
}

/** Texts from the `data` of a Secret. */
export function decodeData(data: unknown): Record<string, string> {
  const entries = Object.entries((data ?? {}) as Record<string, string>);
  return Object.fromEntries(entries.map(([key, value]) => [key, decodeValue(value)]));
}

/**
 * One rotation of a key repository, as `keystone-manage fernet_rotate` does it (keystone/common/fernet_utils.py): the
 * staged key 0 becomes the new primary, a new key is staged, the oldest ones beyond `maxActiveKeys` go.
 */
export function rotated(
  keys: Readonly<Record<string, string>>,
  maxActiveKeys: number,
  staged: string,
): Record<string, string> {
  const numbers = Object.keys(keys)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
  const primary = Math.max(...numbers, 0) + 1;
  const secondary = numbers.filter((number) => number !== 0);
  const kept = secondary.slice(Math.max(0, secondary.length - Math.max(maxActiveKeys - 2, 0)));
  const result: Record<string, string> = { '0': staged };
  for (const number of kept) result[String(number)] = keys[String(number)] ?? '';
  result[String(primary)] = keys['0'] ?? staged;
  return result;
}

/** The record with each value mapped. */
export function mapValues<T, R>(record: Readonly<Record<string, T>>, map: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
