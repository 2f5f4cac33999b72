import { X509Certificate } from 'node:crypto';
import type { StoredObject } from '@openstack-operator/kube';
import type { Generator } from '../engine/vocabulary/step.ts';

type Generators = Readonly<Record<string, Generator>>;

/** Timers of Node.js end before 25 days. */
const longestWait = 20 * 86_400_000;

/** The keys of a Secret whose certificates are to be made anew by now, and the milliseconds until there is one. */
export function certificateExpiry(
  now: number,
  secret: StoredObject,
  generators: Generators,
): { readonly expiring: readonly string[]; readonly requeueAfter?: number } {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  const waits = Object.entries(generators).flatMap(([key, generator]): [string, number][] => {
    const text = data[key];
    return generator.type === 'certificate' && text !== undefined ? [[key, renewalOf(text) - now]] : [];
  });
  const expiring = waits.filter(([, wait]) => wait <= 0).map(([key]) => key);
  const soonest = Math.min(...waits.map(([, wait]) => wait), longestWait);
  return { expiring, ...(waits.length === 0 ? {} : { requeueAfter: soonest }) };
}

/** When two thirds of a certificate's time are over, in milliseconds since the epoch; at once for what is none. */
function renewalOf(data: string): number {
  try {
    const { validFromDate, validToDate } = new X509Certificate(Buffer.from(data, 'base64'));
    const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
    return from + ((to - from) * 2) / 3;
  } catch {
    return 0;
  }
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
  return [generator.key, ...(generator.signedBy === undefined ? [] : [generator.signedBy.key])];
}
