import {
  controllerReference,
  ForeignObjectError,
  isControlledBy,
  type KubeObject,
  parseTimestamp,
  Secret,
  type StoredObject,
} from '@openstack-operator/kube';
import { digest } from '../engine/names/digest.ts';
import { annotations, retainedForLabel } from '../engine/names/names.ts';
import { requestOf } from '../engine/status/conditions.ts';
import { eventOf } from '../engine/status/event-reasons.ts';
import { certificates } from '../engine/vocabulary/issued.ts';
import type { KeyRotation, Succession } from '../engine/vocabulary/step.ts';
import type { Rotation } from '../engine/vocabulary/surroundings.ts';
import { type Action, type GeneratedSecret, nothing, type Plan, soonest } from './action.ts';
import { withAnnotation } from './applied.ts';
import { inGeneration, planAuthority } from './authority.ts';
import { certificateExpiry, lackingSignature, withDependents } from './certificates.ts';
import { KeyMaterialMissingError, lostWith, retainedVolume } from './key-material.ts';
import type { Live } from './live.ts';
import { ownershipOf } from './ownership.ts';

/**
 * A Secret of generated values: made once, completed where a key is missing, rotated when that is due.
 * @param found the Secret, where the cache does not follow it (it has lost its labels)
 */
export function planGenerated(live: Live, stated: GeneratedSecret, step: string, found?: StoredObject): Plan {
  const { object, rotation, retained = false } = stated;
  const { name = '', namespace = '' } = object.metadata;
  const secret = found ?? live.cache.get(Secret, { name, namespace });
  const desired = secret === undefined ? stated : inGeneration(stated, secret);
  const interval = rotation === undefined ? {} : { requeueAfter: rotation.intervalSeconds * 1000 };
  const refuse = (error: Error): Plan => ({ actions: [{ verb: 'refuse', step, reason: 'Refused', error }] });
  const other = (of: string, key: string): string | undefined => {
    const { data = {} } = (live.cache.get(Secret, { name: of, namespace }) ?? {}) as { readonly data?: Data };
    return data[key] || undefined;
  };
  // Whose resource it is makes it, or makes it anew, and that tells of it.
  if (lackingSignature(desired.values, other) !== undefined) return nothing;
  if (secret === undefined) {
    const lost = lostWith(live, desired, 'is gone');
    return {
      actions: [
        {
          verb: 'create',
          step,
          reason: 'Missing',
          desired: afterKept(live, desired),
          ...(lost === undefined ? {} : { lost }),
        },
      ],
      ...interval,
    };
  }
  if (ownershipOf(live.resource, retained).ours?.(secret) !== true)
    return refuse(new ForeignObjectError(secret, live.resource));
  if (secret.metadata.deletionTimestamp !== undefined) return nothing;
  const absent = missingKeys(secret, desired);
  const { expiring, requeueAfter: renewal } = certificateExpiry(live.now, secret, desired.values, {
    other,
    replaced: desired.authority !== undefined,
  });
  const missing = [...new Set([...withDependents(absent, desired.values), ...expiring])];
  const gone = [...absent, ...unfilledKeys(live, secret, desired)];
  const lost =
    gone.length === 0 ? undefined : lostWith(live, desired, `has lost ${gone.map((key) => `key ${key}`).join(', ')}`);
  if (lost !== undefined) return refuse(new KeyMaterialMissingError(lost));
  const metadata = keptMetadata(live, stated, secret);
  const rotated = planSuccession(live, desired, secret, step);
  if (rotated !== undefined) return rotated;
  const rotationDue = untilDue(live.now, secret, rotation);
  const rotate = rotationDue !== undefined && rotationDue <= 0;
  const due = rotationDue ?? renewal ?? laterDue(live.now, secret, desired.succession);
  if (!rotate && metadata === secret.metadata && missing.length === 0) {
    const replaced = planAuthority(stated, secret, { observed: live, step });
    const requeueAfter = soonest([due, replaced?.requeueAfter]);
    return { actions: replaced?.actions ?? [], ...(requeueAfter === undefined ? {} : { requeueAfter }) };
  }
  const reason = rotate || expiring.length > 0 ? 'RotationDue' : missing.length > 0 ? 'Missing' : 'Differs';
  const event = eventOf('KeysRotated', `Secret ${name}: the staged key signs from now on`);
  const update: Action = {
    verb: 'update',
    step,
    reason,
    desired,
    live: secret,
    metadata,
    missing,
    rotate,
    ...(rotate ? { event } : {}),
  };
  return { actions: [update], ...(rotate || due === undefined ? interval : { requeueAfter: due }) };
}

type Data = Readonly<Record<string, string>>;

/** What is made in place of a Secret that is lost follows the password that is kept: whoever still uses that is let in. */
function afterKept(live: Live, desired: GeneratedSecret): GeneratedSecret {
  const { succession } = desired;
  if (succession === undefined) return desired;
  const { kept } = keptIn(live, desired, succession);
  return kept > (succession.completed ?? 0) ? { ...desired, succession: { ...succession, completed: kept } } : desired;
}

/** The Secret that keeps the password before: its generation, 0 for none. What somebody else has put there keeps none. */
function keptIn(live: Live, { object }: GeneratedSecret, { previous: name }: Succession) {
  const previous = live.cache.get(Secret, { name, namespace: object.metadata.namespace ?? '' });
  if (previous === undefined) return { kept: 0 };
  const isForeign = ownershipOf(live.resource, false).ours?.(previous) !== true;
  return isForeign ? { previous, foreign: previous, kept: 0 } : { previous, kept: rotationOf(previous).generation };
}

/** The next act of the rotation of a password; undefined when there is none to be done. */
function planSuccession(live: Live, desired: GeneratedSecret, secret: StoredObject, step: string): Plan | undefined {
  const { succession } = desired;
  if (succession === undefined) return undefined;
  const { previous: name, asked, completed } = succession;
  const object = { ...desired.object, metadata: { ...desired.object.metadata, name } };
  const { previous, foreign, kept } = keptIn(live, desired, succession);
  const { generation } = rotationOf(secret);
  const there = previous === undefined ? {} : { live: previous };
  const act = (action: Extract<Action, { verb: 'copy' | 'update' }>): Plan => ({ actions: [action] });
  const forget = act({ verb: 'copy', step, reason: 'NotWanted', object, ...there });
  // Pods may use it.
  if (kept !== 0 && kept === generation - 1) return kept + 1 === completed ? forget : undefined;
  const isAsked = asked !== undefined && asked !== secret.metadata.annotations?.[annotations.rotatedFor];
  const until = untilDue(live.now, secret, succession);
  if (!isAsked && (until === undefined || until > 0)) return kept === 0 ? undefined : forget;
  // It stands in the way of a rotation alone.
  if (foreign !== undefined)
    return {
      actions: [{ verb: 'refuse', step, reason: 'Refused', error: new ForeignObjectError(foreign, live.resource) }],
    };
  const isCopied = kept === generation && digest(previous?.['data'] ?? {}) === digest(secret['data'] ?? {});
  if (!isCopied) {
    const numbered = withAnnotation(object, annotations.generation, `${generation}`);
    return act({ verb: 'copy', step, reason: 'RotationDue', object: numbered, from: secret, ...there });
  }
  const numbered = withAnnotation(secret, annotations.generation, `${generation + 1}`);
  const { metadata } = asked === undefined ? numbered : withAnnotation(numbered, annotations.rotatedFor, asked);
  const event = eventOf(
    'KeysRotated',
    `Secret ${secret.metadata.name}: another password was generated; the one before is accepted until no pod uses it any more`,
  );
  const missing = Object.keys(desired.values);
  return act({
    verb: 'update',
    step,
    reason: 'RotationDue',
    desired,
    live: secret,
    metadata,
    missing,
    rotate: true,
    event,
  });
}

/** Which of its passwords a Secret holds: no data, none. What is no number says nothing. */
export function rotationOf(secret: KubeObject): Rotation {
  const request = requestOf(secret, annotations.rotatedFor);
  const number = Number(secret.metadata.annotations?.[annotations.generation]);
  const isEmpty = Object.keys(secret['data'] ?? {}).length === 0;
  return {
    generation: isEmpty ? 0 : Number.isSafeInteger(number) && number > 0 ? number : 1,
    ...(request === undefined ? {} : { request }),
  };
}

/**
 * Keys that somebody took out, or emptied. Numbers of a key repository come and go by rotation, and are left alone as long as there
 * is any.
 */
function missingKeys(secret: StoredObject, { values, rotation }: GeneratedSecret): string[] {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  if (rotation !== undefined && Object.values(data).some((value) => value !== '')) return [];
  return Object.keys(values).filter((key) => (data[key] ?? '') === '');
}

/** Keys that a Job has filled in, of this resource or of an earlier one, and that are not there any more. */
function unfilledKeys(live: Live, secret: StoredObject, { filled = [], filledBy, guards }: GeneratedSecret): string[] {
  if (guards === undefined) return [];
  const finished = live.finishedJobs[guards.name];
  if (finished === undefined && retainedVolume(live, guards) === undefined) return [];
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  const further = filledBy !== undefined && filledBy.inputs === finished ? filledBy.keys : [];
  return [...filled, ...further].filter((key) => (data[key] ?? '') === '');
}

type Every = Pick<KeyRotation | Succession, 'intervalSeconds'>;

/**
 * Milliseconds since the epoch at which the keys of a Secret are to be rotated because of their age, if ever; of what says no time
 * that can be read, long ago.
 */
export function rotationDueAt({ metadata }: KubeObject, { intervalSeconds }: Every = {}): number | undefined {
  if (intervalSeconds === undefined) return undefined;
  const since = parseTimestamp(metadata.annotations?.[annotations.rotatedAt] ?? metadata.creationTimestamp ?? '');
  return Number.isNaN(since) ? 0 : since + intervalSeconds * 1000;
}

/** Milliseconds until then. */
function untilDue(now: number, secret: StoredObject, every: Every | undefined): number | undefined {
  const at = rotationDueAt(secret, every);
  return at === undefined ? undefined : at - now;
}

/** The same; undefined when it is due, and the rotation before lasts. */
function laterDue(now: number, secret: StoredObject, every: Every | undefined): number | undefined {
  const until = untilDue(now, secret, every);
  return until !== undefined && until > 0 ? until : undefined;
}

/**
 * The metadata that a generated Secret is to have: whether it outlives its resource follows the deletion policy for as
 * long as both live, and what was adopted is marked as ours. The very same object when nothing differs.
 */
function keptMetadata(
  { cache, resource }: Live,
  { object, issued, retained = false }: GeneratedSecret,
  { metadata }: StoredObject,
): StoredObject['metadata'] {
  const { [retainedForLabel]: _retainedFor, ...others } = metadata.labels ?? {};
  const found =
    issued === undefined || retained || !cache.has(certificates.kind)
      ? undefined
      : cache.get(certificates.kind, metadata);
  const certificate = found !== undefined && isControlledBy(found, resource) ? found : undefined;
  const owners = [
    ...(certificate === undefined ? [] : [signedFor(certificate)]),
    ...(retained ? [] : [controllerReference(resource)]),
  ];
  // A Certificate that is gone, with its kind perhaps, is none that the garbage collector could look up.
  const foreign = (metadata.ownerReferences ?? []).filter(
    ({ uid, kind, name }) =>
      uid !== resource.metadata.uid && !(kind === certificates.kind.kind && name === metadata.name),
  );
  const labels = { ...others, ...object.metadata.labels };
  const ownerReferences = [...foreign, ...owners];
  const same =
    digest(labels) === digest(metadata.labels ?? {}) &&
    digest(ownerReferences) === digest(metadata.ownerReferences ?? []);
  return same ? metadata : { ...metadata, labels, ownerReferences };
}

/**
 * The garbage collector deletes the Secret after its Certificate: cert-manager would fill another one for a Certificate that is
 * still there.
 */
function signedFor({ apiVersion, kind, metadata: { name, uid } }: StoredObject) {
  return { apiVersion, kind, name, uid };
}
