import { amountOf } from '../engine/names/quantity.ts';

/**
 * Whether every field that is stated is live as stated. What the server or others added beside does not count; numbers
 * of Kubernetes quantities are compared by value (`2048Mi` is stored as `2Gi`). Lists of objects are matched by their
 * merge keys, as server-side apply does; other lists are compared as a whole.
 */
export function sameFields(stated: unknown, live: unknown): boolean {
  if (stated === null || stated === undefined) return live === undefined || live === null;
  // An empty list is omitted where the server's type says so.
  if (Array.isArray(stated)) return sameLists(stated, Array.isArray(live) ? live : []);
  if (typeof stated === 'object') {
    if (typeof live !== 'object' || live === null || Array.isArray(live)) return isEmpty(stated) && live === undefined;
    const fields = live as Record<string, unknown>;
    return Object.entries(stated).every(([name, value]) => sameFields(value, fields[name]));
  }
  if (stated === live) return true;
  // The server drops zero values that its types omit when empty.
  if (live === undefined) return stated === '' || stated === false || stated === 0;
  return isScalar(stated) && isScalar(live) && sameQuantities(String(stated), String(live));
}

/** Keys by which server-side apply merges lists of objects (the OpenAPI schema's `x-kubernetes-list-map-keys`). */
const mergeKeys = [
  ['mountPath'],
  ['containerPort', 'protocol'],
  ['port', 'protocol'],
  ['uid'],
  ['name'],
  ['type'],
  ['topologyKey', 'whenUnsatisfiable'],
];

function sameLists(stated: readonly unknown[], live: readonly unknown[]): boolean {
  if (stated.length === 0) return live.length === 0;
  const keys = mergeKeys.find((names) => stated.every((item) => names.every((name) => hasField(item, name))));
  if (keys === undefined) {
    return stated.length === live.length && stated.every((item, index) => sameFields(item, live[index]));
  }
  return stated.every((item) => live.some((other) => sameKey(keys, item, other) && sameFields(item, other)));
}

function sameKey(keys: readonly string[], a: unknown, b: unknown): boolean {
  return keys.every(
    (key) => hasField(b, key) && (a as Record<string, unknown>)[key] === (b as Record<string, unknown>)[key],
  );
}

function hasField(item: unknown, name: string): boolean {
  return typeof item === 'object' && item !== null && name in item;
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

function sameQuantities(a: string, b: string): boolean {
  const left = amountOf(a);
  return left !== undefined && left === amountOf(b);
}
