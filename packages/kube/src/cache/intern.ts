/** Longer strings, such as scripts, have a pool of their own: it may hold 512 of them, of 16 KiB at most. */
const SHORT = 64;
/** Longer strings rarely repeat. */
const LONGEST = 16 * 1024;
/** Values inside an object or list that is shared, on all levels: more rarely repeat, and would be kept by their pool. */
const MOST = 32;

/**
 * Pools: the last one of each slot. Their sizes are fixed powers of two, so that what is rare is not kept for ever.
 */
const pool = <T>(size: number, empty: T): T[] => Array.from({ length: size }, () => empty);
const short = pool(16_384, '');
const long = pool(512, '');
const parts = pool<object | undefined>(8192, undefined);
const partHashes = new Int32Array(parts.length);

/** Of the value that was looked at last: its hash, and how many values it has; Infinity for what is not shared. */
let hash = 0;
let count = 0;

/** The pooled copy of a string, while its slot still has it. JSON.parse makes a new string for each value. */
function pooled(text: string): string {
  // Of a long string no more characters are looked at than a short one has.
  const step = Math.ceil(text.length / SHORT) || 1;
  hash = text.length;
  for (let at = 0; at < text.length; at += step) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  count = text.length > SHORT ? Number.POSITIVE_INFINITY : 1;
  if (text.length > LONGEST) return text;
  const slots = text.length > SHORT ? long : short;
  const slot = hash & (slots.length - 1);
  const known = slots[slot];
  if (known === text) return known;
  slots[slot] = text;
  return text;
}

/** The pooled copy of an object or list whose values are pooled themselves. */
function sharedPart(value: object): object {
  const slot = hash & (parts.length - 1);
  const known = parts[slot];
  if (known !== undefined && partHashes[slot] === hash && hasSameFields(known, value)) return known;
  parts[slot] = value;
  partHashes[slot] = hash;
  return value;
}

/** In the same order, so that both are the same JSON. */
function hasSameFields(one: object, other: object): boolean {
  const names = Object.keys(one);
  const others = Object.keys(other);
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === others.length &&
    names.every((name, at) => name === others[at] && Reflect.get(one, name) === Reflect.get(other, name))
  );
}

/**
 * Levels of a value that are kept. What Kubernetes and our kinds define has some 20; a field without a schema may have as
 * many as the API server reads (10,000), and a recursive reader has no stack for that.
 */
const LEVELS = 64;

/** Replaces what is nested deeper. */
const tooDeep = `(nested deeper than ${LEVELS} levels)`;

/**
 * Freezes a JSON value deeply, in place, and returns it, or an equal one from before: objects of a cluster repeat the same
 * few hundred short strings, and what is made by one program the same long strings, probes and resources.
 *
 * Objects and lists below `levels` levels (default 64) are replaced by a string that says so, so that recursion over the
 * value is safe.
 */
export function intern<T>(value: T, levels = LEVELS): T {
  return interned(value, levels) as T;
}

function interned(value: unknown, levels: number): unknown {
  if (typeof value === 'string') return pooled(value);
  if (!isNested(value)) {
    hash = Number(value) || 0;
    count = 1;
    return value;
  }
  if (Object.isFrozen(value)) {
    count = Number.POSITIVE_INFINITY;
    return value;
  }
  const fields = value as Record<string, unknown>;
  let all = Array.isArray(value) ? 1 : 0;
  let counted = 1;
  for (const name in fields) {
    const child = fields[name];
    const kept = interned(levels === 0 && isNested(child) ? tooDeep : child, levels - 1);
    // Equal strings may be two.
    if (kept !== child || typeof kept === 'string') fields[name] = kept;
    all = (Math.imul(all, 31) + hash + name.length) | 0;
    // A long key is not worth the place either: it would stay for as long as the pool does.
    counted += name.length > LONGEST ? Number.POSITIVE_INFINITY : count;
  }
  Object.freeze(value);
  hash = all;
  count = counted;
  return counted > MOST ? value : sharedPart(value);
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
