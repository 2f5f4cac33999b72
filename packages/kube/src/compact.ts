/** Longer strings are seldom twice there. */
const LONGEST = 64;

/** The last string of each slot, a power of two of them: what is seldom said makes room for what is said often. */
const slots = Array.from({ length: 8192 }, () => '');

/** The copy of a string that others use already. JSON.parse makes a new one for each value. */
function one(text: string): string {
  const { length } = text;
  if (length > LONGEST) return text;
  let slot = length;
  for (const at of [0, length >> 2, length >> 1, length - (length >> 2), length - 1]) {
    slot = (slot * 31 + text.charCodeAt(at)) | 0;
  }
  slot &= slots.length - 1;
  const known = slots[slot];
  if (known === text) return known;
  slots[slot] = text;
  return text;
}

/**
 * Freezes a JSON value all the way down, and gives it back. Equal short strings in it become one with those of all other
 * values: half of the strings of a cache of Kubernetes objects are copies.
 */
export function compact<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  const fields = value as Record<string, unknown>;
  for (const [name, child] of Object.entries(fields)) {
    if (typeof child === 'string') fields[name] = one(child);
    else compact(child);
  }
  return Object.freeze(value);
}
