import { createHash } from 'node:crypto';

/**
 * A short, stable digest of any JSON value: keys are sorted first, `undefined` fields do not count.
 * 10 characters of [a-z0-9]: enough to tell the contents of one object apart, short enough for a name.
 */
export function digest(value: unknown): string {
  const hash = createHash('sha256').update(canonical(value)).digest();
  let text = '';
  for (const byte of hash.subarray(0, 10)) text += 'abcdefghijklmnopqrstuvwxyz012345'[byte & 31];
  return text;
}

/** JSON with sorted keys and without undefined fields. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  );
}
