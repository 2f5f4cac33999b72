import { type KubeObject, Secret, type StoredObject } from '@openstack-operator/kube';
import {
  fieldManager,
  isLiveAs,
  noted,
  ownershipOf,
  ownValue,
  referencesIn,
  resolveReferences,
} from '@openstack-operator/openstack';
import { apply } from '../apply.ts';
import { type ComposeContext, readLive } from '../context.ts';
import { keyedDigest } from './keyed-digest.ts';
import { decodeValue, encodeData, mapValues } from './values.ts';

type Data = Readonly<Record<string, string>>;

/**
 * What a Secret of templates was found resolved with: the live Secret, the key of digests, and the Secrets that fill it.
 * While these are the same, it need not be filled again to be compared.
 */
const resolved = new WeakMap<KubeObject, readonly unknown[]>();

/** Whether a Secret of templates is live as the Secrets in the cache fill them, and has no other key. */
export function isResolved(context: ComposeContext, object: KubeObject): boolean {
  const { namespace = '', name = '' } = object.metadata;
  const live = context.cache.get(Secret, { namespace, name });
  if (live === undefined || live.metadata.deletionTimestamp !== undefined) return false;
  if (ownershipOf(context.object, false).ours?.(live) !== true) return false;
  const sources = new Map<string, StoredObject>();
  for (const name of sourcesOf(object)) {
    const source = context.cache.get(Secret, { namespace, name });
    if (source === undefined) return false;
    sources.set(name, source);
  }
  const inputs = [live, context.digestKey, ...sources.values()];
  const before = resolved.get(object);
  if (before?.length === inputs.length && before.every((one, at) => one === inputs[at])) return true;
  const filled = fill(object, sources);
  const isLive = isLiveAs(withDigest(context, filled), live, context.object, false);
  if (!isLive || othersIn(live, filled).length > 0) return false;
  resolved.set(object, inputs);
  return true;
}

/**
 * Fills the templates of a Secret, and applies it unless it is live so. Keys that somebody else has put into it are taken
 * out: each is a variable of the pods, and server-side apply leaves those that are not stated.
 * @throws Error when a Secret does not exist that a template refers to, or has no such key
 */
export async function resolveSecret(context: ComposeContext, object: KubeObject): Promise<void> {
  const { namespace = '', name = '' } = object.metadata;
  // Its end enqueues the resource, and it is made anew then.
  const cached = context.cache.get(Secret, { namespace, name });
  if (cached?.metadata.deletionTimestamp !== undefined) return;
  const sources = new Map<string, StoredObject>();
  for (const name of sourcesOf(object)) {
    const source = await readLive(context, Secret, { namespace, name });
    if (source === undefined)
      throw new Error(`Secret ${namespace}/${name} does not exist, which Secret ${object.metadata.name} is made from`);
    sources.set(name, source);
  }
  const filled = fill(object, sources);
  const live = await apply(context, { object: withDigest(context, filled), live: cached });
  const others = othersIn(live, filled);
  if (others.length === 0) return;
  const { uid, resourceVersion } = live.metadata;
  const data = Object.fromEntries(others.map((key) => [key, null]));
  const patch = { metadata: { uid, resourceVersion }, data };
  await context.client.patch(Secret, { namespace, name }, 'merge', patch, { fieldManager, signal: context.signal });
}

function templatesOf(object: KubeObject): Data {
  return object['stringData'] as Data;
}

/** Names of the Secrets that templates refer to. */
function sourcesOf(object: KubeObject): ReadonlySet<string> {
  return new Set(
    Object.values(templatesOf(object))
      .flatMap(referencesIn)
      .map(({ secret }) => secret),
  );
}

/** Only what is asked for is decoded: a Secret that users bring may have tens of thousands of other keys. */
function fill(object: KubeObject, sources: ReadonlyMap<string, StoredObject>): KubeObject {
  const values = mapValues(templatesOf(object), (text) =>
    resolveReferences(text, (secret, key) => {
      const value = ownValue(sources.get(secret)?.['data'] as Data | undefined, key);
      return value === undefined ? undefined : decodeValue(value);
    }),
  );
  const { stringData: _templates, ...rest } = object;
  return { ...rest, data: encodeData(values) };
}

function withDigest(context: ComposeContext, filled: KubeObject): KubeObject {
  return noted(filled, keyedDigest(context.digestKey, filled));
}

/** Keys of a live Secret that are not stated. */
function othersIn(live: StoredObject, filled: KubeObject): string[] {
  const stated = filled['data'] as Data;
  return Object.keys((live['data'] ?? {}) as Data).filter((key) => !Object.hasOwn(stated, key));
}
