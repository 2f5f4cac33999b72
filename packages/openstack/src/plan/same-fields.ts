import { amountOf } from '../engine/names/quantity.ts';

/**
 * Fields of built-in kinds that server-side apply replaces as a whole (`x-kubernetes-map-type: atomic`, and lists without a
 * merge key): what somebody adds to them is not beside what is stated, but changes it. A Service selects other pods, a
 * NetworkPolicy lets others in.
 */
const atomicFields: ReadonlySet<string> = new Set(
  'selector podSelector namespaceSelector labelSelector nodeSelector ingress egress'.split(' '),
);

/**
 * Whether every field that is stated is live as stated. What the server or others added beside does not count, but in
 * what is atomic; numbers of Kubernetes quantities are compared by value (`2048Mi` is stored as `2Gi`). Lists of objects are
 * matched by their merge keys, as server-side apply does; other lists are compared as a whole.
 */
export function sameFields(stated: unknown, live: unknown): boolean {
  const { apiVersion } = (stated ?? {}) as { readonly apiVersion?: unknown };
  return isSame(stated, live, typeof apiVersion === 'string' && isBuiltIn(apiVersion) ? atomicFields : none);
}

const none: ReadonlySet<string> = new Set();

/** Whether Kubernetes itself has the kind: its groups have no dot, but for that of network policies. */
function isBuiltIn(apiVersion: string): boolean {
  const group = apiVersion.slice(0, apiVersion.indexOf('/') + 1);
  return !group.includes('.') || group === 'networking.k8s.io/';
}

function isSame(stated: unknown, live: unknown, atomic: ReadonlySet<string>): boolean {
  if (stated === null || stated === undefined) return live === undefined || live === null;
  // An empty list is omitted where the server's type says so.
  if (Array.isArray(stated)) return sameLists(stated, Array.isArray(live) ? live : [], atomic);
  if (typeof stated === 'object') {
    if (typeof live !== 'object' || live === null || Array.isArray(live)) return isEmpty(stated) && live === undefined;
    const fields = live as Record<string, unknown>;
    return Object.entries(stated).every(([name, value]) =>
      atomic.has(name)
        ? JSON.stringify(asStored(value)) === JSON.stringify(asStored(fields[name]))
        : isSame(value, fields[name], atomic),
    );
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

function sameLists(stated: readonly unknown[], live: readonly unknown[], atomic: ReadonlySet<string>): boolean {
  if (stated.length === 0) return live.length === 0;
  const keys = mergeKeys.find((names) => stated.every((item) => names.every((name) => hasField(item, name))));
  if (keys === undefined) {
    return stated.length === live.length && stated.every((item, index) => isSame(item, live[index], atomic));
  }
  return stated.every((item) => live.some((other) => sameKey(keys, item, other) && isSame(item, other, atomic)));
}

/** What is atomic, as the server stores it, keys by name: without empty lists, with the protocol that ports have by default. */
function asStored(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(asStored);
  if (typeof value !== 'object' || value === null) return value ?? undefined;
  const isPort = 'port' in value && !('protocol' in value);
  const entries = Object.entries(value)
    .map(([name, one]) => [name, asStored(one)] as const)
    .filter(([, one]) => one !== undefined);
  const all = [...entries, ...(isPort ? [['protocol', 'TCP'] as const] : [])];
  return Object.fromEntries(all.sort(([one], [other]) => (one < other ? -1 : 1)));
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
