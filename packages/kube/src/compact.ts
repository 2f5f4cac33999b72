/** Longer strings are seldom twice there. */
const LONGEST = 64;
/** So many strings are remembered: what ten clouds say, in a few MiB. */
const MOST = 50_000;

const shared = new Map<string, string>();

/** The copy of a string that others use already. JSON.parse makes a new one for each value. */
function one(text: string): string {
  if (text.length > LONGEST) return text;
  const known = shared.get(text);
  if (known !== undefined) return known;
  // Begun anew, so that it does not hold what is long gone; what is stored keeps its copies.
  if (shared.size >= MOST) shared.clear();
  shared.set(text, text);
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
