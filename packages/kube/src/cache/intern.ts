/** Longer strings rarely repeat. */
const LONGEST = 64;

/** The pool: the last string of each slot. Its size is a fixed power of two, so that rare strings are not kept for ever. */
const slots = Array.from({ length: 8192 }, () => '');

/** The pooled copy of a string, while its slot still has it. JSON.parse makes a new string for each value. */
function pooled(text: string): string {
  if (text.length > LONGEST) return text;
  let slot = 0;
  for (let at = 0; at < text.length; at++) slot = (Math.imul(slot, 31) + text.charCodeAt(at)) | 0;
  slot &= slots.length - 1;
  const known = slots[slot];
  if (known === text) return known;
  slots[slot] = text;
  return text;
}

/**
 * Levels of a value that are kept. What Kubernetes and our kinds define has some 20; a field without a schema may have as
 * many as the API server reads (10,000), and a recursive reader has no stack for that.
 */
const LEVELS = 64;

/** Replaces what is nested deeper. */
const tooDeep = `(nested deeper than ${LEVELS} levels)`;

/**
 * Freezes a JSON value deeply, in place, and returns it. Short strings are interned: objects of a cluster repeat the
 * same few hundred strings.
 *
 * Objects and lists below `levels` levels (default 64) are replaced by a string that says so, so that recursion over the
 * value is safe.
 */
export function intern<T>(value: T, levels = LEVELS): T {
  if (!isNested(value) || Object.isFrozen(value)) return value;
  const fields = value as Record<string, unknown>;
  for (const name in fields) {
    const child = fields[name];
    if (typeof child === 'string') fields[name] = pooled(child);
    else if (levels === 0 && isNested(child)) fields[name] = tooDeep;
    else intern(child, levels - 1);
  }
  return Object.freeze(value);
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
