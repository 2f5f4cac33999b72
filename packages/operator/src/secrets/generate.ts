import { isDeepStrictEqual } from 'node:util';
import { isApiError, type KubeObject, Secret, type StoredObject, timestamp } from '@openstack-operator/kube';
import {
  type Action,
  annotations,
  fieldManager,
  KeyMaterialMissingError,
  ownershipOf,
  signersOf,
  withAnnotation,
} from '@openstack-operator/openstack';
import { type ComposeContext, readLive } from '../context.ts';
import { decodeData, decodeValue, encodeData, fernetKey, generateValues, rotated, type Sources } from './values.ts';

/**
 * Makes a Secret of generated values.
 * @returns the Secret that is there already, which the cache does not follow; undefined when one was made
 * @throws KeyMaterialMissingError when there is none, and nobody may make it anew
 */
export async function createSecret(
  context: ComposeContext,
  { desired, lost }: Extract<Action, { verb: 'create' }>,
): Promise<StoredObject | undefined> {
  const { object, values, retained = false, succession, authority } = desired;
  const { name = '', namespace = '' } = object.metadata;
  if (lost !== undefined) {
    try {
      return await context.client.get(Secret, { namespace, name }, { signal: context.signal });
    } catch (error) {
      if (isApiError(error, 404)) throw new KeyMaterialMissingError(lost);
      throw error;
    }
  }
  const data = encodeData(generateValues(values, {}, await sourcesOf(context, desired)));
  const { completed } = succession ?? {};
  const { asked } = succession ?? authority ?? {};
  // What is new need not be rotated, and is none of the generations that were.
  const fresh = asked === undefined ? object : withAnnotation(object, annotations.rotatedFor, asked);
  const next = completed === undefined ? fresh : withAnnotation(fresh, annotations.generation, `${completed + 1}`);
  const secret = { ...withAnnotation(next, annotations.rotatedAt, timestamp(context.clock)), data };
  const outcome = await context.create(secret, ownershipOf(context.object, retained));
  return isDeepStrictEqual(outcome['data'], data) ? undefined : outcome;
}

/** Generates the keys that a Secret lacks, and rotates it when that is due: two operators cannot do so at once. */
export async function updateSecret(
  context: ComposeContext,
  { desired, live, metadata, missing, rotate, bundle }: Extract<Action, { verb: 'update' }>,
): Promise<void> {
  const before = decodeData(live['data']);
  const kept = Object.entries(before).filter(([key]) => !missing.includes(key));
  const generated = Object.entries(desired.values).filter(([key]) => missing.includes(key));
  const data = generateValues(
    Object.fromEntries(generated),
    Object.fromEntries(kept),
    await sourcesOf(context, desired),
  );
  if (bundle !== undefined) data[bundle.key] = bundle.of.map((key) => data[key]).join('') + bundle.more;
  const { rotation } = desired;
  if (!rotate) return await replace(context, { ...live, metadata }, data);
  const keys = rotation === undefined ? data : rotated(data, rotation.maxActiveKeys, fernetKey(context.random));
  await replace(context, withAnnotation({ ...live, metadata }, annotations.rotatedAt, timestamp(context.clock)), keys);
}

/** Makes a Secret hold what another one holds, or nothing: two operators cannot do so at once. */
export async function copySecret(
  context: ComposeContext,
  { object, from, live }: Extract<Action, { verb: 'copy' }>,
): Promise<void> {
  const data = from?.['data'] ?? {};
  if (live === undefined) {
    await context.create({ ...object, data }, ownershipOf(context.object, false));
    return;
  }
  const { [annotations.generation]: _before, ...others } = live.metadata.annotations ?? {};
  const kept = { ...others, ...object.metadata.annotations };
  const stated = { ...live, metadata: { ...live.metadata, annotations: kept }, data };
  await context.client.replace<KubeObject>(Secret, stated, { fieldManager, signal: context.signal });
}

/** What the values of a Secret are made from, with what other Secrets have of it. */
async function sourcesOf(context: ComposeContext, desired: Extract<Action, { verb: 'create' }>['desired']) {
  const others = new Map<string, Record<string, string>>();
  for (const name of signersOf(desired.values)) {
    const { namespace = '' } = desired.object.metadata;
    others.set(name, decodeData((await readLive(context, Secret, { namespace, name }))?.['data']));
  }
  const other: Sources['other'] = (secret, key) => {
    const value = others.get(secret)?.[key];
    if (value === undefined)
      throw new Error(`Secret ${secret} has no key ${key}, which Secret ${desired.object.metadata.name} is made from`);
    return value;
  };
  return { random: context.random, now: context.clock.now(), other };
}

/** PUT under the resourceVersion. What stays keeps its bytes: files that a Job has made, such as rings, are no texts. */
async function replace(
  { client, signal }: ComposeContext,
  live: StoredObject,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const before = (live['data'] ?? {}) as Readonly<Record<string, string>>;
  const stays = Object.entries(before).filter(([key, bytes]) => values[key] === decodeValue(bytes));
  const data = { ...encodeData(values), ...Object.fromEntries(stays) };
  await client.replace<KubeObject>(Secret, { ...live, data }, { fieldManager, signal });
}
