import { alphanumeric, type Random } from '@openstack-operator/kube';
import type { Generator } from '@openstack-operator/openstack';
import { certificate } from './certificate.ts';
import { privateKey } from './private-key.ts';
import { sshPrivateKey, sshPublicKey } from './ssh-key.ts';

/** What values are made from. */
export interface Sources {
  readonly random: Random;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** A value of another Secret. @throws Error when there is none */
  readonly other?: (secret: string, key: string) => string;
}

/**
 * Makes the values of a Secret that are not `known`, each after those that it is made from.
 * @returns all values, the known ones included
 * @throws Error when a value is made from one that the Secret does not have
 */
export function generateValues(
  generators: Readonly<Record<string, Generator>>,
  known: Readonly<Record<string, string>>,
  sources: Sources,
): Record<string, string> {
  const values = { ...known };
  const value = (key: string): string => {
    const generator = generators[key];
    if (values[key] === undefined && generator === undefined) throw new Error(`the Secret has no value ${key}`);
    return (values[key] ??= generate(generator as Generator, sources, value));
  };
  for (const key of Object.keys(generators)) value(key);
  return values;
}

/** Makes one value; `value` gives others of the same Secret. */
function generate(generator: Generator, { random, now, other }: Sources, value: (key: string) => string): string {
  switch (generator.type) {
    case 'password':
      return alphanumeric(random, generator.length);
    case 'fernetKey':
      return fernetKey(random);
    case 'privateKey':
      return privateKey(random);
    case 'certificate': {
      const { key, commonName, seconds, authority = false, dnsNames = [], signedBy } = generator;
      const { secret } = signedBy ?? {};
      const signing = (name: string) => (secret === undefined ? value(name) : (other?.(secret, name) ?? ''));
      const signer = signedBy && { certificate: signing(signedBy.certificate), key: signing(signedBy.key) };
      const request = { commonName, key: value(key), authority, dnsNames, seconds, ...(signer && { signer }) };
      return certificate(request, { random, now });
    }
    case 'sshPrivateKey':
      return sshPrivateKey(random);
    case 'sshPublicKey': {
      const line = sshPublicKey(value(generator.key), generator.comment);
      return generator.hosts === undefined ? line : `${generator.hosts} ${line}`;
    }
    case 'cephKey':
      return cephKey({ random, now });
    case 'rndcKey': {
      const secret = Buffer.from(random.bytes(32)).toString('base64');
      return `key "${generator.name}" {\n  algorithm hmac-sha256;\n  secret "${secret}";\n};\n`;
    }
    case 'literal':
      return generator.value;
  }
}

/** A key of Fernet, in its alphabet: base64url with padding (cryptography.fernet). */
export function fernetKey(random: Random): string {
  return Buffer.from(random.bytes(32)).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}

/**
 * A key of Ceph (CryptoKey::encode): kind 1 (AES), seconds and nanoseconds of its time, length, 16 bytes, little-endian; in
 * base64.
 */
function cephKey({ random, now }: Sources): string {
  const header = Buffer.alloc(12);
  header.writeUInt16LE(1, 0);
  header.writeUInt32LE(Math.floor(now / 1000), 2);
  header.writeUInt16LE(16, 10);
  return Buffer.concat([header, random.bytes(16)]).toString('base64');
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
  // What is empty is no key, whoever emptied it; and of other numbers than its own Keystone makes none.
  const numbers = Object.entries(keys)
    .filter(([name, key]) => /^(?:0|[1-9]\d{0,8})$/.test(name) && key !== '')
    .map(([name]) => Number(name))
    .sort((a, b) => a - b);
  const primary = Math.max(...numbers, 0) + 1;
  const secondary = numbers.filter((number) => number !== 0);
  const kept = secondary.slice(Math.max(0, secondary.length - Math.max(maxActiveKeys - 2, 0)));
  const result: Record<string, string> = { '0': staged };
  for (const number of kept) result[String(number)] = keys[String(number)] ?? '';
  result[String(primary)] = keys['0'] || staged;
  return result;
}

/** The record with each value mapped. */
export function mapValues<T, R>(record: Readonly<Record<string, T>>, map: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
