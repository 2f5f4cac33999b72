import { ConfigMap, PersistentVolumeClaim, parseTimestamp, Secret, type StoredObject } from '@openstack-operator/kube';
import { lastingSuffix, retainedFor, retainedForLabel } from '../engine/names/names.ts';
import type { DataGuard } from '../engine/vocabulary/step.ts';
import type { GeneratedSecret } from './action.ts';
import type { Live } from './live.ts';

/** Key material was deleted while data that it protects exist: it is never made anew (production rule 20). */
export class KeyMaterialMissingError extends Error {
  override readonly name = 'KeyMaterialMissingError';
  readonly code = 'KEY_MATERIAL_MISSING';
}

/**
 * What is lost with key material whose Secret is gone, or has lost keys, in words; undefined when it may be generated.
 * @param loss what has become of the Secret, such as `is gone`
 */
export function lostWith(
  live: Live,
  { object, secretClass, guards, filled }: GeneratedSecret,
  loss: string,
): string | undefined {
  if (secretClass !== 'keyMaterial' || guards === undefined) return undefined;
  const { namespace = '', name = '' } = object.metadata;
  const exists =
    guards.kind === 'Job'
      ? live.finishedJobs[guards.name] !== undefined
      : live.cache.get(PersistentVolumeClaim, { namespace, name: guards.name }) !== undefined;
  // What a Job fills may be younger than the rest: without a volume nothing that is left says that there was any.
  const isUntold = filled !== undefined && guards.volume === undefined;
  const former =
    exists || isUntold ? undefined : (retainedVolume(live, guards) ?? retainedSecret(live) ?? retainedMemory(live));
  if (!exists && former === undefined) return undefined;
  const way =
    former === undefined
      ? ''
      : `. ${former.kind} ${former.metadata.name} is left of an earlier ${live.resource.kind} of this name: to do without them, delete ${former.kind === 'PersistentVolumeClaim' ? 'its volume claims' : 'that one'} as well`;
  return `Secret ${name} ${loss}, and with it ${guards.data}: restore the Secret from a backup; a new one could not read them${way}`;
}

/** A volume claim that an earlier resource of this name has left, with data of a Secret that a Job fills. */
export function retainedVolume({ cache, resource }: Live, { volume }: DataGuard): StoredObject | undefined {
  const { namespace = '', creationTimestamp = '' } = resource.metadata;
  const claim = volume === undefined ? undefined : cache.get(PersistentVolumeClaim, { namespace, name: volume });
  const isOlder = parseTimestamp(claim?.metadata.creationTimestamp ?? '') < parseTimestamp(creationTimestamp);
  return isOlder ? claim : undefined;
}

/** A Secret that an earlier resource of this name has left: all of them were made at once. */
function retainedSecret({ cache, resource }: Live): StoredObject | undefined {
  const { namespace = '', creationTimestamp = '' } = resource.metadata;
  const labelSelector = { matchLabels: { [retainedForLabel]: retainedFor(resource) } };
  const born = parseTimestamp(creationTimestamp);
  return cache
    .list(Secret, { namespace, labelSelector })
    .find(({ metadata }) => parseTimestamp(metadata.creationTimestamp ?? '') < born);
}

/** What an earlier resource of this name has left of what its data are found by. */
function retainedMemory({ cache, resource }: Live): StoredObject | undefined {
  const { name, namespace = '', creationTimestamp = '' } = resource.metadata;
  const memory = cache.get(ConfigMap, { namespace, name: `${name}-${lastingSuffix}` });
  const isOlder = parseTimestamp(memory?.metadata.creationTimestamp ?? '') < parseTimestamp(creationTimestamp);
  return isOlder ? memory : undefined;
}
