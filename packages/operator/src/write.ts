import { createHmac } from 'node:crypto';
import {
  controllerReference,
  ForeignObjectError,
  type KubeObject,
  PersistentVolumeClaim,
  parseTimestamp,
  Secret,
  type StoredObject,
  timestamp,
} from '@openstack-operator/kube';
import {
  annotations,
  type DesiredObject,
  digest,
  fieldManager,
  type KeyRotation,
  kindOf,
  ownValue,
  referencesIn,
  resolveReferences,
  retainedFor,
  retainedForLabel,
} from '@openstack-operator/openstack';
import { isAutoscaled, leavingReplicas, withoutReplicas } from './autoscalers.ts';
import { ContendedObjectError } from './contention.ts';
import type { DigestKey } from './digest-key.ts';
import { mustBeRecreated, recreate, withLiveSize } from './immutable-fields.ts';
import { keepJob } from './jobs.ts';
import { ownershipOf } from './ownership.ts';
import { type Pass, readLive } from './pass.ts';
import { sameFields } from './same-fields.ts';
import { decodeData, decodeValue, encodeData, generate, rotated } from './secret-values.ts';
import { replaceStuckPods } from './stuck-pods.ts';

/** What a write led to: milliseconds until it has to be looked at again by itself (a rotation, a retry), if any. */
export type Again = number | undefined;

/** Makes one object what its step wants. `finishedJobs`: Job name -> inputs of its last finished run. */
export async function write(
  pass: Pass,
  desired: DesiredObject,
  finishedJobs: Readonly<Record<string, string>>,
): Promise<Again> {
  if (desired.object.kind === 'Job') return await keepJob(pass, desired.object, finishedJobs);
  switch (desired.verb) {
    case 'apply':
      if (desired.object.kind === 'StatefulSet') await replaceStuckPods(pass, desired.object);
      await applyDifference(pass, noted(desired.object, digest(desired.object)), desired.retained === true);
      return undefined;
    case 'generate':
      return await generateSecret(pass, desired, finishedJobs);
    case 'resolve':
      await resolveSecret(pass, desired.object);
      return undefined;
  }
}

/** Applies an object unless it is ours and live as stated. @returns the object as it is now, unless it is going */
async function applyDifference(pass: Pass, stated: KubeObject, retained: boolean): Promise<StoredObject | undefined> {
  const { name = '', namespace = '' } = stated.metadata;
  const live = pass.cache.get(kindOf(stated), { name, namespace });
  const object = withLiveSize(stated, live);
  // Its end wakes the resource, and the next pass makes it anew.
  if (live?.metadata.deletionTimestamp !== undefined) return undefined;
  const ownership = ownershipOf(pass.object, retained);
  const controlled = retained || live?.metadata.ownerReferences?.some(({ uid }) => uid === pass.object.metadata.uid);
  const ours = live !== undefined && ownership.ours?.(live) === true;
  const autoscaled = live !== undefined && isAutoscaled(pass, object);
  if (ours && controlled === true && sameFields(autoscaled ? withoutReplicas(object) : object, live)) return live;
  if (ours && mustBeRecreated(object, live)) {
    await recreate(pass, object, live);
    return undefined;
  }
  const state = object.metadata.annotations?.[annotations.applied] ?? '';
  const wait = live === undefined ? 0 : pass.contention.wait(live, state, pass.clock.now());
  if (wait > 0) {
    // The cache holds no field managers.
    const current = await pass.client.get(kindOf(object), { name, namespace }, { signal: pass.signal });
    throw new ContendedObjectError(current, pass.clock, wait);
  }
  const outcome = await pass.apply(autoscaled ? await leavingReplicas(pass, object) : object, ownership);
  if (live !== undefined && outcome.metadata.resourceVersion !== live.metadata.resourceVersion)
    pass.contention.changed(live, state, pass.clock.now());
  return outcome;
}

type Generated = DesiredObject & { verb: 'generate' };

/** A Secret of generated values: made once, completed where a key is missing, rotated when that is due. */
async function generateSecret(
  pass: Pass,
  desired: Generated,
  finishedJobs: Readonly<Record<string, string>>,
): Promise<Again> {
  const { object, values, rotation, retained = false } = desired;
  const { name = '', namespace = '' } = object.metadata;
  const ownership = ownershipOf(pass.object, retained);
  const live = await readLive(pass, Secret, { name, namespace });
  if (live === undefined) {
    assertNothingLost(pass, desired, finishedJobs);
    const data = encodeData(mapValues(values, (generator) => generate(generator, pass.random)));
    await pass.create({ ...withAnnotation(object, annotations.rotatedAt, timestamp(pass.clock)), data }, ownership);
    return rotation === undefined ? undefined : rotation.intervalSeconds * 1000;
  }
  if (ownership.ours?.(live) !== true) throw new ForeignObjectError(live, pass.object);
  if (live.metadata.deletionTimestamp !== undefined) return undefined;
  const metadata = keptMetadata(pass, object, live, retained);
  const data = completed(pass, desired, decodeData(live['data']), finishedJobs);
  const due = rotation === undefined ? undefined : untilDue(pass, live, rotation);
  if (rotation === undefined || due === undefined || due > 0) {
    if (metadata !== live.metadata || data !== undefined)
      await replace(pass, { ...live, metadata }, data ?? decodeData(live['data']));
    return due;
  }
  const staged = generate({ type: 'fernetKey' }, pass.random);
  const keys = rotated(data ?? decodeData(live['data']), rotation.maxActiveKeys, staged);
  await replace(pass, withAnnotation({ ...live, metadata }, annotations.rotatedAt, timestamp(pass.clock)), keys);
  pass.event({
    type: 'Normal',
    reason: 'KeysRotated',
    action: 'Rotate',
    note: `Secret ${name}: the staged key signs from now on`,
  });
  return rotation.intervalSeconds * 1000;
}

/** Milliseconds until the keys are to be rotated; what says no time that can be read is rotated now. */
function untilDue({ clock }: Pass, { metadata }: StoredObject, { intervalSeconds }: KeyRotation): number {
  const since = parseTimestamp(metadata.annotations?.[annotations.rotatedAt] ?? metadata.creationTimestamp ?? '');
  return Number.isNaN(since) ? 0 : since + intervalSeconds * 1000 - clock.now();
}

/**
 * The metadata that a generated Secret is to have: whether it outlives its resource follows the deletion policy for as
 * long as both live, and what was adopted is marked as ours. The very same object when nothing differs.
 */
function keptMetadata(
  { object: owner }: Pass,
  { metadata: { labels: stated } }: KubeObject,
  live: StoredObject,
  retained: boolean,
): StoredObject['metadata'] {
  const { [retainedForLabel]: _retainedFor, ...others } = live.metadata.labels ?? {};
  const foreign = (live.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
  const labels = { ...others, ...stated };
  const ownerReferences = retained ? foreign : [...foreign, controllerReference(owner)];
  const same =
    digest(labels) === digest(live.metadata.labels ?? {}) &&
    digest(ownerReferences) === digest(live.metadata.ownerReferences ?? []);
  return same ? live.metadata : { ...live.metadata, labels, ownerReferences };
}

/** Key material was deleted while data that it protects exist: it is never made anew (production rule 20). */
class KeyMaterialMissingError extends Error {
  override readonly name = 'KeyMaterialMissingError';
}

function assertNothingLost(
  pass: Pass,
  { object, secretClass, guards }: Generated,
  finishedJobs: Readonly<Record<string, string>>,
  loss = 'is gone',
): void {
  if (secretClass !== 'keyMaterial' || guards === undefined) return;
  const { namespace = '', name = '' } = object.metadata;
  const exists =
    guards.kind === 'Job'
      ? finishedJobs[guards.name] !== undefined
      : pass.cache.get(PersistentVolumeClaim, { namespace, name: guards.name }) !== undefined;
  const former = exists ? undefined : retainedSecret(pass);
  if (!exists && former === undefined) return;
  const way =
    former === undefined
      ? ''
      : `. Secret ${former.metadata.name} is left of an earlier ${pass.object.kind} of this name: to do without them, delete that one as well`;
  throw new KeyMaterialMissingError(
    `Secret ${name} ${loss}, and with it ${guards.data}: restore the Secret from a backup; a new one could not read them${way}`,
  );
}

/** A Secret that an earlier resource of this name has left: all of them were made at once. */
function retainedSecret({ cache, object }: Pass): StoredObject | undefined {
  const { namespace = '', creationTimestamp = '' } = object.metadata;
  const labelSelector = { matchLabels: { [retainedForLabel]: retainedFor(object) } };
  const born = parseTimestamp(creationTimestamp);
  return cache
    .list(Secret, { namespace, labelSelector })
    .find(({ metadata }) => parseTimestamp(metadata.creationTimestamp ?? '') < born);
}

/**
 * With what somebody took out generated anew; undefined when nothing is missing. Numbers of a key repository come and
 * go by rotation, and are left alone as long as there is any.
 */
function completed(
  pass: Pass,
  desired: Generated,
  data: Readonly<Record<string, string>>,
  finishedJobs: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  const missing = Object.entries(desired.values).filter(([key]) => !(key in data));
  if (missing.length === 0 || (desired.rotation !== undefined && Object.keys(data).length > 0)) return undefined;
  assertNothingLost(pass, desired, finishedJobs, `has lost ${missing.map(([key]) => `key ${key}`).join(', ')}`);
  return { ...data, ...Object.fromEntries(missing.map(([key, generator]) => [key, generate(generator, pass.random)])) };
}

/** PUT under the resourceVersion: two operators cannot rotate at once. */
async function replace(
  pass: Pass,
  live: StoredObject<Secret>,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  await pass.client.replace(Secret, { ...live, data: encodeData(values) }, { fieldManager, signal: pass.signal });
}

/** Resolves a Secret of templates; it is written again when the template or a source changed, or somebody touched it. */
async function resolveSecret(pass: Pass, object: KubeObject): Promise<void> {
  const { namespace = '' } = object.metadata;
  const templates = object['stringData'] as Record<string, string>;
  const names = new Set(
    Object.values(templates)
      .flatMap(referencesIn)
      .map(({ secret }) => secret),
  );
  const sources = new Map<string, Readonly<Record<string, string>>>();
  for (const name of names) {
    const source = await readLive(pass, Secret, { namespace, name });
    if (source === undefined)
      throw new Error(`Secret ${namespace}/${name} does not exist, which Secret ${object.metadata.name} is made from`);
    sources.set(name, source.data ?? {});
  }
  // Only what is asked for is decoded: a Secret that users bring may have tens of thousands of other keys.
  const values = mapValues(templates, (text) =>
    resolveReferences(text, (secret, key) => {
      const value = ownValue(sources.get(secret), key);
      return value === undefined ? undefined : decodeValue(value);
    }),
  );
  const { stringData: _templates, ...rest } = object;
  const resolved = { ...rest, data: encodeData(values) };
  const outcome = await applyDifference(pass, noted(resolved, keyedDigest(pass.digestKey, resolved)), false);
  await dropOtherKeys(pass, outcome, values);
}

/**
 * Takes out what somebody else has put into a Secret of ours: each key is a variable of the pods, and server-side apply
 * leaves those that are not stated.
 */
async function dropOtherKeys(
  pass: Pass,
  live: StoredObject | undefined,
  stated: Readonly<Record<string, string>>,
): Promise<void> {
  const others = Object.keys(live?.['data'] ?? {}).filter((key) => !Object.hasOwn(stated, key));
  if (live === undefined || others.length === 0) return;
  const { namespace = '', name, uid, resourceVersion } = live.metadata;
  const data = Object.fromEntries(others.map((key) => [key, null]));
  const patch = { metadata: { uid, resourceVersion }, data };
  await pass.client.patch(Secret, { namespace, name }, 'merge', patch, { fieldManager, signal: pass.signal });
}

/** Digests of objects that were digested before: cached objects are frozen, and most stay the same from pass to pass. */
const known = new WeakMap<DigestKey, WeakMap<object, string>>();

/** Digest of a Secret's or ConfigMap's content that tells nothing about it. */
export function keyedDigest(key: DigestKey, object: KubeObject): string {
  const ofKey = known.get(key) ?? new WeakMap<object, string>();
  known.set(key, ofKey);
  let result = ofKey.get(object);
  if (result === undefined) {
    result = createHmac('sha256', key.bytes)
      .update(digest(object['data'] ?? {}))
      .digest('hex')
      .slice(0, 16);
    ofKey.set(object, result);
  }
  return result;
}

/** Remembers what was stated last: a field that is no longer stated makes a difference as well. */
function noted(object: KubeObject, stated: string): KubeObject {
  return withAnnotation(object, annotations.applied, stated);
}

function withAnnotation<T extends KubeObject>(object: T, name: string, value: string): T {
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [name]: value } },
  };
}

function mapValues<T, R>(record: Readonly<Record<string, T>>, map: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
