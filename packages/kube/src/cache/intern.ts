/** Longer strings, such as scripts, have a pool of their own: it may hold 512 of them, of 16 KiB at most. */
const SHORT = 64;
/** Longer strings rarely repeat. */
const LONGEST = 16 * 1024;

/** A pool: the last string of each slot. Its size is a fixed power of two, so that rare strings are not kept for ever. */
const pool = (size: number) => Array.from({ length: size }, () => '');
const short = pool(16_384);
const long = pool(512);

/** The pooled copy of a string, while its slot still has it. JSON.parse makes a new string for each value. */
function pooled(text: string): string {
  if (text.length > LONGEST) return text;
  const slots = text.length > SHORT ? long : short;
  // Of a long string no more characters are looked at than a short one has.
  const step = Math.ceil(text.length / SHORT) || 1;
  let slot = text.length;
  for (let at = 0; at < text.length; at += step) slot = (Math.imul(slot, 31) + text.charCodeAt(at)) | 0;
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
 * Freezes a JSON value deeply, in place, and returns it. Strings are interned: objects of a cluster repeat the same few
 * hundred short ones, and what is made by one program the same long ones.
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
