import type { KubeObject, StoredObject } from '@openstack-operator/kube';
import { digest } from '../names/digest.ts';
import { annotations } from '../names/names.ts';
import { conditionOf } from './conditions.ts';

interface Template {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: unknown;
}

function templateOf(agent: KubeObject): Template {
  return (agent['spec'] as { template?: Template } | undefined)?.template ?? {};
}

const hashLabel = 'controller-revision-hash';

/**
 * Whether a pod is of another revision than the newest.
 * @param revisions the ControllerRevisions of the pod's DaemonSet; of none, no pod is
 */
export function ofOlderRevision(revisions: readonly StoredObject[]): (pod: StoredObject) => boolean {
  const numberOf = (one: StoredObject) => Number(one['revision']);
  const newest = revisions.reduce<StoredObject | undefined>(
    (best, one) => (best === undefined || numberOf(one) > numberOf(best) ? one : best),
    undefined,
  );
  const hash = newest?.metadata.labels?.[hashLabel];
  return (pod) => hash !== undefined && pod.metadata.labels?.[hashLabel] !== hash;
}

/**
 * Whether the operator replaces a pod of a node agent without being asked: it touches neither data path nor guests and
 * has something else to apply, or nobody accepts its credentials any more. A new script or image alone, as an upgrade of
 * the operator brings, waits as that of other agents.
 * @param agent a DaemonSet
 */
export function goesUnasked(agent: StoredObject, pod: StoredObject): boolean {
  const differs = () => variablesDigest(pod['spec']) !== variablesDigest(templateOf(agent).spec);
  return (isHarmless(agent) && differs()) || credentialsDiffer(agent, pod);
}

/** Whether an agent touches neither data path nor guests. */
export function isHarmless({ metadata }: StoredObject): boolean {
  return metadata.annotations?.[annotations.replacedUnasked] === 'true';
}

/** Whether a pod has read other credentials at its start than a new one would. */
export function credentialsDiffer(agent: StoredObject, pod: StoredObject): boolean {
  const digestOf = ({ metadata }: Template) => metadata?.annotations?.[annotations.credentials];
  return digestOf(pod) !== digestOf(templateOf(agent));
}

/** The variables of each container of a pod's spec: what the resource asks an agent for. */
export function variablesOf(spec: unknown): unknown {
  const { containers = [] } = (spec ?? {}) as { containers?: readonly { env?: unknown }[] };
  return containers.map(({ env = [] }) => env);
}

/** By the spec of a cached object: each of the thousands of pods of an agent is asked in every pass. */
const digests = new WeakMap<object, string>();

function variablesDigest(spec: unknown): string {
  const key = spec ?? {};
  const found = digests.get(key) ?? digest(variablesOf(spec));
  digests.set(key, found);
  return found;
}

/** The scheduler has looked at it, and no container of it has ever begun: it does not fit, or cannot start. */
export function neverRan(pod: StoredObject): boolean {
  if (conditionOf(pod, 'PodScheduled') === undefined) return false;
  const { initContainerStatuses = [], containerStatuses = [] } = (pod['status'] ?? {}) as Record<
    'initContainerStatuses' | 'containerStatuses',
    readonly { readonly state?: object; readonly lastState?: object }[] | undefined
  >;
  return [...initContainerStatuses, ...containerStatuses].every(
    ({ state = {}, lastState = {} }) => 'waiting' in state && Object.keys(lastState).length === 0,
  );
}
