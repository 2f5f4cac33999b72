/** Longer strings are seldom twice there. */
const LONGEST = 64;

/** The last string of each slot; a power of two of them. A fixed number, so that what is said once is not kept for ever. */
const slots = Array.from({ length: 8192 }, () => '');

/** The copy of a string that others use already, while its slot still has it. JSON.parse makes a new one for each value. */
function one(text: string): string {
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

/** Stands for what is nested deeper. */
const tooDeep = `(nested deeper than ${LEVELS} levels)`;

/**
 * Freezes a JSON value all the way down, and gives it back. Short strings in it become one with equal ones of other
 * values, mostly: the objects of a cluster say the same few hundred words again and again.
 *
 * Objects and lists below `levels` levels (default 64) become a string that says so, so that recursion over the value
 * is safe.
 */
export function compact<T>(value: T, levels = LEVELS): T {
  if (!isNested(value) || Object.isFrozen(value)) return value;
  const fields = value as Record<string, unknown>;
  for (const [name, child] of Object.entries(fields)) {
    if (typeof child === 'string') fields[name] = one(child);
    else if (levels === 0 && isNested(child)) fields[name] = tooDeep;
    else compact(child, levels - 1);
  }
  return Object.freeze(value);
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
