import { ControllerRevision, DaemonSet, Pod, type StoredObject } from '@openstack-operator/kube';
import { annotations, type Composition, conditionOf, kindOf } from '@openstack-operator/openstack';
import type { Pass } from './pass.ts';

/**
 * Replaces node agents of an older revision, one pod at a time, and the next only when every agent of the resource is
 * Ready again: DaemonSets of node agents are `OnDelete`, because a node loses its network or its consoles for a moment.
 * Only when the resource is annotated so. What serves nothing is replaced anyway: a pod of which no container ever ran,
 * and one with credentials that have been issued anew, which nobody accepts any more.
 */
export async function replaceNodeAgents(pass: Pass, composition: Composition): Promise<void> {
  const agents = composition.steps
    .flatMap(({ objects }) => objects)
    .flatMap((desired) => ('object' in desired ? [desired.object] : []))
    .filter((object) => kindOf(object) === DaemonSet)
    .flatMap(({ metadata: { namespace = '', name = '' } }) => pass.cache.get(DaemonSet, { namespace, name }) ?? []);
  const outdated = agents.flatMap((agent) => outdatedPods(pass, agent).map((pod) => ({ pod, agent })));
  const useless = outdated.filter(
    ({ pod, agent }) => neverRan(pod) || credentialsOf(pod) !== credentialsOf(templateOf(agent)),
  );
  const approved = pass.object.metadata.annotations?.[annotations.rollNodeAgents] === 'true';
  const next = approved && agents.every((agent) => isWhole(pass, agent)) ? outdated.slice(0, 1) : [];
  for (const { pod } of useless.length > 0 ? useless : next) {
    await pass.remove(pod);
    const note = `pod ${pod.metadata.name} of an older revision is replaced`;
    pass.event({ type: 'Normal', reason: 'PodReplaced', action: 'Replace', note });
  }
}

/** The pods that are not of the DaemonSet's newest revision, by node. */
function outdatedPods(pass: Pass, agent: StoredObject): StoredObject[] {
  if (!isObserved(agent)) return [];
  const revisions = pass.cache.byIndex(ControllerRevision, 'controller', agent.metadata.uid);
  const newest = revisions.reduce<(typeof revisions)[number] | undefined>(
    (best, one) => (best === undefined || one.revision > best.revision ? one : best),
    undefined,
  );
  const hash = newest?.metadata.labels?.[hashLabel];
  if (hash === undefined) return [];
  return pass.cache
    .byIndex(Pod, 'controller', agent.metadata.uid)
    .filter(({ metadata }) => metadata.labels?.[hashLabel] !== hash && metadata.deletionTimestamp === undefined)
    .sort((one, other) => (nodeOf(one) < nodeOf(other) ? -1 : 1));
}

const hashLabel = 'controller-revision-hash';

function nodeOf(pod: StoredObject): string {
  return (pod['spec'] as { nodeName?: string } | undefined)?.nodeName ?? '';
}

function isObserved({ metadata, status }: StoredObject): boolean {
  return ((status as DaemonSetStatus | undefined)?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

/** Every node has its pod, and each of them is Ready. From the pods: the status does not know yet of one just deleted. */
function isWhole(pass: Pass, agent: StoredObject): boolean {
  const { desiredNumberScheduled = 0 } = (agent['status'] ?? {}) as DaemonSetStatus;
  const pods = pass.cache.byIndex(Pod, 'controller', agent.metadata.uid);
  const ready = pods.filter((pod) => conditionOf(pod, 'Ready')?.status === 'True');
  return (
    isObserved(agent) &&
    ready.length >= desiredNumberScheduled &&
    pods.every(({ metadata }) => metadata.deletionTimestamp === undefined)
  );
}

interface DaemonSetStatus {
  readonly observedGeneration?: number;
  readonly desiredNumberScheduled?: number;
}

function templateOf(agent: StoredObject): Template {
  return ((agent['spec'] ?? {}) as { template?: Template }).template ?? {};
}

interface Template {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
}

/** Digest of the credentials that a pod, or a pod of a template, has read at its start. */
function credentialsOf({ metadata }: Template): string | undefined {
  return metadata?.annotations?.[annotations.credentials];
}

/** It has a node, and no container of it has ever begun. */
function neverRan(pod: StoredObject): boolean {
  if (conditionOf(pod, 'PodScheduled')?.status !== 'True') return false;
  const { initContainerStatuses = [], containerStatuses = [] } = (pod['status'] ?? {}) as Record<
    'initContainerStatuses' | 'containerStatuses',
    readonly { readonly state?: object; readonly lastState?: object }[] | undefined
  >;
  return [...initContainerStatuses, ...containerStatuses].every(
    ({ state = {}, lastState = {} }) => 'waiting' in state && Object.keys(lastState).length === 0,
  );
}
