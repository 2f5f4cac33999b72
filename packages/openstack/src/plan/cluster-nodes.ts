import type { CacheReader, Kind, StoredObject } from '@openstack-operator/kube';
import { roots } from '../control-plane/root.ts';
import { annotations, cleaningLabel, cloudLabel, cloudOf, nodeGroupLabel } from '../engine/names/names.ts';
import { conditionOf } from '../engine/status/conditions.ts';
import { recordedIn } from '../engine/status/recorded-nodes.ts';
import type { NodeClaim, Toleration } from '../engine/vocabulary/step.ts';
import { services } from '../services/index.ts';

/** Index of nodes by the cloud that has claimed them; '' for none. */
export const nodesByCloud = 'cloud';

/** Index of the resources that claim nodes by the names of those in their status. */
export const recordedNodes = 'recorded-nodes';

/** Kinds that claim nodes: the roots of clouds, and services that do it where there is none. */
export const claimants: readonly Kind[] = [
  ...roots.map(({ kind }) => kind),
  ...services.filter(({ claims }) => claims !== undefined).map(({ kind }) => kind),
];

/** Phase, in a resource's status, of a node that was claimed and has lost its labels, with its Node object or without. */
export const lostNode = 'Lost';

/** Whether a node that was claimed has no cloud, and none has let it go. One that is gone is such a node. */
export function isNobodys(node: StoredObject | undefined): boolean {
  const { labels, annotations: notes } = node?.metadata ?? {};
  return labels?.[cloudLabel] === undefined && notes?.[annotations.releasedFrom] === undefined;
}

/**
 * Whether a cloud's status names a node that has neither its labels nor was released: somebody deleted the Node object,
 * and the kubelet registered anew. What runs and lies there is that cloud's.
 */
export function isRecorded(cache: CacheReader, node: StoredObject, by: (resource: StoredObject) => boolean): boolean {
  const { name, annotations: notes } = node.metadata;
  if (notes?.[annotations.releasedFrom] !== undefined) return false;
  return claimants.some((kind) => cache.has(kind) && cache.byIndex(kind, recordedNodes, name).some(by));
}

/** Whether a node that lost its labels, see `isRecorded`, was of a claim. */
export function isLostBy(cache: CacheReader, node: StoredObject, { labels }: NodeClaim): boolean {
  return isRecorded(cache, node, (resource) => {
    const group = recordedIn(resource['status']).find(({ name }) => name === node.metadata.name)?.group;
    return cloudOf(resource) === labels[cloudLabel] && group !== undefined && group === labels[nodeGroupLabel];
  });
}

/**
 * Whether a node is free for a claim: Ready, schedulable, with the labels that are asked for, and nobody's, or of its
 * cloud where it shares nodes; one that is being cleaned is free for the claim that it is cleaned for, one that lost its labels for the claim that it was of.
 */
export function isEligible(cache: CacheReader, node: StoredObject, claim: NodeClaim): boolean {
  const { selector, tolerations = [], cleaning } = claim;
  const { unschedulable, taints = [] } = (node['spec'] ?? {}) as { unschedulable?: boolean; taints?: readonly Taint[] };
  const { labels = {} } = node.metadata;
  const free =
    labels[cloudLabel] === undefined
      ? labels[cleaningLabel] === undefined || hasLabels(node, cleaning.labels)
      : isShared(labels, claim);
  if (!free || unschedulable === true) return false;
  const tolerated = taints.every(
    (taint) => taint.effect === 'PreferNoSchedule' || tolerations.some((toleration) => tolerates(toleration, taint)),
  );
  const ready = conditionOf(node, 'Ready')?.status === 'True';
  if (!tolerated || !ready) return false;
  if (isLostBy(cache, node, claim)) return true;
  const cloud = claim.labels[cloudLabel];
  return hasLabels(node, selector) && !isRecorded(cache, node, (resource) => cloudOf(resource) !== cloud);
}

/** Whether a claim may have a node together with others of its cloud. */
function isShared(labels: Readonly<Record<string, string>>, { labels: claimed, apartFrom }: NodeClaim): boolean {
  return (
    labels[cloudLabel] === claimed[cloudLabel] && apartFrom !== undefined && !apartFrom.some((label) => label in labels)
  );
}

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

/** Whether a taint is put up with (core/v1, `Toleration.ToleratesTaint`); one for a while is none: guests stay. */
function tolerates(
  { key, operator = 'Equal', value = '', effect, tolerationSeconds }: Toleration,
  taint: Taint,
): boolean {
  return (
    tolerationSeconds === undefined &&
    (effect === undefined || effect === taint.effect) &&
    (key === undefined || key === '' ? operator === 'Exists' : key === taint.key) &&
    (operator === 'Exists' || value === (taint.value ?? ''))
  );
}

/** Whether a node has all these labels. */
export function hasLabels(node: StoredObject, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([name, value]) => node.metadata.labels?.[name] === value);
}
