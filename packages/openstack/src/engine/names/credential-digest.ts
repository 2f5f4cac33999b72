import { digest } from './digest.ts';

/**
 * A digest that depends on Secrets, as it stands in annotations and in `status.jobs`:
 * `<key id>.<template>.<whole>`. `key id` names the key with which the Secrets were digested: texts of two keys cannot be
 * compared. `template` is the digest of all that is no secret, and depends on no key. Without a key id (`render`, and
 * operators that had one key for all clouds) the text is the digest of the whole alone.
 */
export function credentialDigest(
  keyId: string | undefined,
  { template, whole }: { readonly template: unknown; readonly whole: unknown },
): string {
  return keyId === undefined ? digest(whole) : `${keyId}.${digest(template)}.${digest(whole)}`;
}

/** The id of the key of a digest; undefined for one that names none. */
export function keyIdOf(text: string): string | undefined {
  return parts(text)?.[0];
}

/** The part of a digest that depends on no Secret; what is no such digest is given back as it is. */
export function templateOf<T>(value: T): T | string {
  return (typeof value === 'string' ? parts(value)?.[1] : undefined) ?? value;
}

function parts(text: string): readonly string[] | undefined {
  const found = /^([a-z0-5]{10})\.([a-z0-5]{10})\.[a-z0-5]{10}$/.exec(text);
  return found === null ? undefined : found.slice(1);
}
