import { apiVersionOf, type KubeObject } from '@openstack-operator/kube';
import { kinds, nearest, rootNamed } from '@openstack-operator/openstack';
import { admissionOf, type Mistake } from './admission.ts';
import { isObject } from './is-object.ts';

/** A resource without its mistakes. */
export interface SoundPart {
  readonly object: KubeObject;
  /** The fields that it lacks for it, such as `spec.nova.virtType`: nothing that follows from them is known. */
  readonly without: readonly string[];
}

/**
 * What can be composed of a resource all the same: it as it would be stored, without the fields of the services of a cloud,
 * or those of its spec, that have mistakes.
 * @returns undefined where too little is left: a mistake in its metadata, or in the release, which all else goes by
 */
export function soundPart(resource: KubeObject, mistakes: readonly Mistake[]): SoundPart | undefined {
  const api = kinds.find(({ kind }) => kind === resource.kind);
  if (api === undefined || resource.apiVersion !== apiVersionOf(api)) return undefined;
  const services = rootNamed(resource)?.children.map(({ field }) => field) ?? [];
  const without = new Set<string>();
  for (const { field } of mistakes) {
    const [first, second, third] = field.split(/[.[]/u);
    if (first === 'metadata' || field === 'spec' || isRelease(second)) return undefined;
    if (first !== 'spec' || second === undefined) continue;
    if (services.includes(second) && third === undefined) return undefined;
    without.add(services.includes(second) ? `spec.${second}.${third}` : `spec.${second}`);
  }
  const sound = structuredClone(resource);
  for (const field of without) remove(sound, field.split('.'));
  const { object, mistakes: left } = admissionOf(api, sound);
  // What stands beside the spec and is not known is not stored. A rule about several fields may hold no more.
  return left.every(({ field }) => !/^(?:spec|metadata)\b/u.test(field))
    ? { object, without: [...without] }
    : undefined;
}

/** Whether a field of the spec is the release, misspelt or not. */
function isRelease(name: string | undefined): boolean {
  return name !== undefined && nearest(name, ['release']) !== undefined;
}

function remove(value: unknown, [name = '', ...rest]: readonly string[]): void {
  if (!isObject(value)) return;
  if (rest.length === 0) delete value[name];
  else remove(value[name], rest);
}

/** Fields of which something is wrong whatever stands in others: options, resources and labels. */
const alone = /^(?:config\b.*\]\.|resources\b|nodeSelector\b|components\b)/u;
/** So is a file of which the service knows nothing, where nothing of the service is left out that may bring it. */
const aloneInService = /^config\b/u;

/**
 * Whether what is said of a sound part may follow from what is left out of it: a network without a bridge from mistyped
 * bridges, a missing service from a mistyped `enabled`.
 */
export function mayFollow({ field, message }: Mistake, { object, without }: SoundPart): boolean {
  if (without.length === 0) return false;
  const service = rootNamed(object)?.children.find((child) => field.startsWith(`spec.${child.field}.`))?.field;
  const within = field.slice(service === undefined ? 'spec.'.length : `spec.${service}.`.length);
  const isWhole =
    service !== undefined &&
    !without.some((left) => left.split('.').length === 2 || left.startsWith(`spec.${service}.`));
  if (!alone.test(within) && !(isWhole && aloneInService.test(within))) return true;
  const words = [field, ...message.split(/[\s,;:]+/u)];
  return without.some((left) =>
    words.some((word) => word === left || word.startsWith(`${left}.`) || word.startsWith(`${left}[`)),
  );
}
