import { createHash, createPrivateKey, createPublicKey, sign, X509Certificate } from 'node:crypto';
import { type Random, timestamp } from '@openstack-operator/kube';
import { backdated } from '@openstack-operator/openstack';
import { bits, explicit, implicit, integer, octets, oid, sequence, set, text, time, truth, valuesIn } from './der.ts';

/** What a certificate (X.509, RFC 5280) says. */
export interface CertificateRequest {
  readonly commonName: string;
  /** Its private key, of an elliptic curve, as PEM. */
  readonly key: string;
  /** Whether it may sign others. */
  readonly authority: boolean;
  /** Host names that it is for. */
  readonly dnsNames: readonly string[];
  /** How long it is valid from now. */
  readonly seconds: number;
  /** Who signs it, as PEM; default: itself. */
  readonly signer?: { readonly certificate: string; readonly key: string };
}

/**
 * Makes a certificate, as PEM, valid from five minutes ago. Written here, as Node.js reads certificates and makes none, and
 * libraries for it know no elliptic curves (node-forge) or bring fifteen packages (@peculiar/x509).
 * @param now milliseconds since the epoch
 */
export function certificate(request: CertificateRequest, { random, now }: { random: Random; now: number }): string {
  const { commonName, key, authority, dnsNames, seconds, signer } = request;
  const publicKey = publicKeyOf(key);
  const subject = sequence(set(sequence(oid(oids.commonName), text(commonName))));
  const serial = random.bytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const at = (milliseconds: number) => time(timestamp({ now: () => milliseconds }));
  const extensions = [
    extension(oids.basicConstraints, authority ? sequence(truth()) : sequence(), true),
    // digitalSignature, or keyCertSign and cRLSign.
    extension(oids.keyUsage, authority ? bits(Buffer.from([0x06]), 1) : bits(Buffer.from([0x80]), 7), true),
    ...(authority ? [] : [extension(oids.extendedKeyUsage, sequence(oid(oids.serverAuth), oid(oids.clientAuth)))]),
    ...(dnsNames.length === 0
      ? []
      : [extension(oids.subjectAltName, sequence(...dnsNames.map((name) => implicit(2, Buffer.from(name)))))]),
    extension(oids.subjectKeyIdentifier, octets(identifierOf(publicKey))),
    extension(
      oids.authorityKeyIdentifier,
      sequence(implicit(0, identifierOf(signer === undefined ? publicKey : publicKeyOf(signer.key)))),
    ),
  ];
  const algorithm = sequence(oid(oids.ecdsaWithSha256));
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    signer === undefined ? subject : subjectOf(signer.certificate),
    sequence(at(now - backdated), at(now + seconds * 1000)),
    subject,
    publicKey,
    explicit(3, sequence(...extensions)),
  );
  const signature = sign('sha256', body, { key: signer?.key ?? key, dsaEncoding: 'der' });
  return pem('CERTIFICATE', sequence(body, algorithm, bits(signature)));
}

const oids = {
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
} as const;

function extension(id: string, value: Uint8Array, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [truth()] : []), octets(value));
}

/** The public key as a certificate holds it (SubjectPublicKeyInfo). */
function publicKeyOf(key: string): Buffer {
  return createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' });
}

/** RFC 5280, 4.2.1.2 (1): the hash of the key itself, without the byte that says how many bits are unused. */
function identifierOf(publicKey: Buffer): Buffer {
  const [, key = Buffer.alloc(0)] = valuesIn(publicKey);
  return createHash('sha1').update(key.subarray(3)).digest();
}

/** The subject of a certificate, byte by byte: who is signed by it names it so. */
function subjectOf(certificate: string): Buffer {
  const [body = Buffer.alloc(0)] = valuesIn(new X509Certificate(certificate).raw);
  const [, , , , , subject = Buffer.alloc(0)] = valuesIn(body);
  return subject;
}

/** Bytes as text between lines that say what they are (RFC 7468). */
export function pem(label: string, bytes: Uint8Array, width = 64): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
