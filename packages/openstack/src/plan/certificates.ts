import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { StoredObject } from '@openstack-operator/kube';
import type { CertificateGenerator, Generator } from '../engine/vocabulary/step.ts';

type Generators = Readonly<Record<string, Generator>>;

/** How long before it is made a certificate is valid, in milliseconds: clocks differ. */
export const backdated = 5 * 60_000;

/** Timers of Node.js end before 25 days. */
export const longestWait = 20 * 86_400_000;

/** A value of another Secret, as its `data` has it; undefined where there is none. */
export type ValueOf = (secret: string, key: string) => string | undefined;

/** Names of the other Secrets whose keys sign certificates of a Secret. */
export function signersOf(generators: Generators): string[] {
  return signaturesIn(generators).map(({ secret }) => secret);
}

function signaturesIn(generators: Generators): Required<NonNullable<CertificateGenerator['signedBy']>>[] {
  return Object.values(generators).flatMap((generator) => {
    const signedBy = generator.type === 'certificate' ? generator.signedBy : undefined;
    return signedBy?.secret === undefined ? [] : [{ ...signedBy, secret: signedBy.secret }];
  });
}

/** What another Secret lacks that is to sign certificates of a Secret: a certificate, or the private key that belongs to it. */
export function lackingSignature(generators: Generators, other: ValueOf): string | undefined {
  const lacking = signaturesIn(generators).find(({ secret, certificate, key }) => {
    try {
      const signing = createPrivateKey(Buffer.from(other(secret, key) ?? '', 'base64'));
      return read(other(secret, certificate) ?? '')?.checkPrivateKey(signing) !== true;
    } catch {
      return true;
    }
  });
  return (
    lacking &&
    `Secret ${lacking.secret} has no ${lacking.certificate} with the private key that belongs to it (${lacking.key})`
  );
}

/**
 * The keys of a Secret whose certificates are to be made anew by now, and the milliseconds until there is one.
 * @param replaced its authority is replaced before it is too old
 */
export function certificateExpiry(
  now: number,
  secret: StoredObject,
  generators: Generators,
  { other, replaced }: { readonly other: ValueOf; readonly replaced: boolean },
): { readonly expiring: readonly string[]; readonly requeueAfter?: number } {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  const waits = Object.entries(generators).flatMap(([key, generator]): [string, number][] => {
    const text = data[key];
    if (generator.type !== 'certificate' || text === undefined) return [];
    if (replaced && generator.authority === true && read(text) !== undefined) return [];
    return [[key, isAsStated(text, generator, other) ? renewalOf(text, generator.seconds) - now : 0]];
  });
  const expiring = waits.filter(([, wait]) => wait <= 0).map(([key]) => key);
  const soonest = Math.min(...waits.map(([, wait]) => wait), longestWait);
  return { expiring, ...(waits.length === 0 ? {} : { requeueAfter: soonest }) };
}

/** Whether a certificate is for the host names that it is to be for, and signed by whom of another Secret it is to be. */
function isAsStated(data: string, { dnsNames, signedBy }: CertificateGenerator, other: ValueOf): boolean {
  const certificate = read(data);
  if (certificate === undefined) return false;
  if (dnsNames !== undefined && certificate.subjectAltName !== dnsNames.map((name) => `DNS:${name}`).join(', '))
    return false;
  if (signedBy?.secret === undefined) return true;
  const authority = read(other(signedBy.secret, signedBy.certificate) ?? '');
  return authority !== undefined && certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

/** The certificate that a value of a Secret is; undefined for what is none. */
function read(data: string): X509Certificate | undefined {
  try {
    return new X509Certificate(Buffer.from(data, 'base64'));
  } catch {
    return undefined;
  }
}

/**
 * When two thirds of a certificate's time are over, in milliseconds since the epoch; at once for what is none.
 * @param seconds how long it is to be valid: one of a longer time is made anew when two thirds of this one are over
 */
export function renewalOf(data: string, seconds: number): number {
  const certificate = read(data);
  if (certificate === undefined) return 0;
  const [made, to] = [certificate.validFromDate.getTime() + backdated, certificate.validToDate.getTime()];
  return made + (Math.min(to - made, seconds * 1000) * 2) / 3;
}

/** The keys, and those whose values are made from theirs. */
export function withDependents(keys: readonly string[], generators: Generators): string[] {
  const all = new Set(keys);
  let before = -1;
  while (before !== all.size) {
    before = all.size;
    for (const [key, generator] of Object.entries(generators))
      if (sourcesOf(generator).some((source) => all.has(source))) all.add(key);
  }
  return [...all];
}

/** The private keys that a value is made from: another certificate of the same private key changes nothing. */
function sourcesOf(generator: Generator): string[] {
  if (generator.type === 'sshPublicKey') return [generator.key];
  if (generator.type !== 'certificate') return [];
  const { key, signedBy } = generator;
  return [key, ...(signedBy === undefined || signedBy.secret !== undefined ? [] : [signedBy.key])];
}
