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
 * Freezes a JSON value all the way down, and gives it back. Short strings in it become one with equal ones of other
 * values, mostly: the objects of a cluster say the same few hundred words again and again.
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
