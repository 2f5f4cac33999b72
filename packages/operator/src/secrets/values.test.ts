import { createPrivateKey, X509Certificate } from 'node:crypto';
import { parseTimestamp, seededRandom } from '@openstack-operator/kube';
import type { Generator } from '@openstack-operator/openstack';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeData, encodeData, generateValues, rotated } from './values.ts';

const sources = { random: seededRandom(1), now: parseTimestamp('2026-01-01T00:00:00Z') };
const made = (generator: Generator) => generateValues({ value: generator }, {}, sources)['value'] ?? '';

test('passwords hold nothing that a URL, an ini file or SQL would change', () => {
  expect(made({ type: 'password', length: 32 })).toMatch(/^[A-Za-z0-9]{32}$/);
});

test('fernet keys are 32 bytes of padded base64url', () => {
  const key = made({ type: 'fernetKey' });
  expect(key).toMatch(/^[A-Za-z0-9_-]{43}=$/);
  expect(Buffer.from(key, 'base64url')).toHaveLength(32);
});

test('an authority signs certificates of servers, whatever the order of the values', () => {
  const values = generateValues(
    {
      'tls.crt': {
        type: 'certificate',
        key: 'tls.key',
        commonName: 'server',
        seconds: 90 * 86_400,
        dnsNames: ['a.example.org', 'b'],
        signedBy: { certificate: 'ca.crt', key: 'ca.key' },
      },
      'tls.key': { type: 'privateKey' },
      'ca.crt': {
        type: 'certificate',
        key: 'ca.key',
        commonName: 'An authority',
        seconds: 36_500 * 86_400,
        authority: true,
      },
      'ca.key': { type: 'privateKey' },
    },
    {},
    sources,
  );
  const [server, authority] = ['tls.crt', 'ca.crt'].map((key) => new X509Certificate(values[key] ?? '')) as [
    X509Certificate,
    X509Certificate,
  ];
  expect(authority.ca).toBe(true);
  expect(server.ca).toBe(false);
  expect(authority.verify(authority.publicKey)).toBe(true);
  expect(server.verify(authority.publicKey)).toBe(true);
  expect(server.checkIssued(authority)).toBe(true);
  expect(server.checkPrivateKey(createPrivateKey(values['tls.key'] ?? ''))).toBe(true);
  expect(server.checkHost('a.example.org')).toBe('a.example.org');
  expect(server.validFromDate.getTime()).toBe(sources.now - 300_000);
  expect(server.validToDate.getTime()).toBe(sources.now + 90 * 86_400_000);
  expect(authority.validToDate.getUTCFullYear()).toBe(2125);
});

test('an SSH key has the public key that belongs to it', () => {
  const { id, pub, known } = generateValues(
    {
      id: { type: 'sshPrivateKey' },
      pub: { type: 'sshPublicKey', key: 'id', comment: 'octavia' },
      known: { type: 'sshPublicKey', key: 'id', comment: 'octavia', hosts: '*' },
    },
    {},
    sources,
  );
  const content = Buffer.from((id ?? '').split('\n').slice(1, -2).join(''), 'base64');
  const blob = Buffer.from(pub?.split(' ')[1] ?? '', 'base64');
  expect(pub).toMatch(/^ssh-ed25519 [A-Za-z0-9+/]+=* octavia\n$/);
  expect(known).toBe(`* ${pub}`);
  expect(content.indexOf(blob)).toBeGreaterThan(0);
  // The private part is a multiple of 8 bytes, padded with 1, 2, 3, ...
  expect((content.length - content.indexOf(blob) - blob.length - 4) % 8).toBe(0);
  expect(content.subarray(content.length - 3)).toEqual(Buffer.from([3, 4, 5]));
});

test('a key of rndc is a statement of its configuration', () => {
  expect(made({ type: 'rndcKey', name: 'designate' })).toMatch(
    /^key "designate" \{\n {2}algorithm hmac-sha256;\n {2}secret "[A-Za-z0-9+/]{43}=";\n\};\n$/,
  );
});

test('a key of Ceph has the form of those that Ceph makes', () => {
  const key = Buffer.from(made({ type: 'cephKey' }), 'base64');
  expect([key.readUInt16LE(0), key.readUInt32LE(2), key.readUInt32LE(6), key.readUInt16LE(10)]).toEqual([
    1,
    Math.floor(sources.now / 1000),
    0,
    16,
  ]);
  expect(key.length).toBe(28);
});

test('what is known is kept; what it is made from must be there', () => {
  const generators = { crt: { type: 'certificate', key: 'key', commonName: 'x', seconds: 86_400 } } as const;
  expect(generateValues(generators, { crt: 'kept', more: 'too' }, sources)).toEqual({ crt: 'kept', more: 'too' });
  expect(() => generateValues(generators, {}, sources)).toThrow('the Secret has no value key');
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

  test('takes no key from what somebody emptied, or gave a number that Keystone does not make', () => {
    expect(rotated({ '0': '', '1': 'old', '007': 'x', '9999999999999999999999': 'y', '2': '' }, 3, 'new')).toEqual({
      '0': 'new',
      '1': 'old',
      '2': 'new',
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
