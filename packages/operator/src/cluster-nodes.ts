import { isApiError, Node, type StoredObject } from '@openstack-operator/kube';
import {
  cleaningLabel,
  cloudLabel,
  conditionOf,
  fieldManager,
  type NodeClaim,
  type Toleration,
} from '@openstack-operator/openstack';
import type { Begun } from './pass.ts';

/** Index of nodes by the cloud that has claimed them; '' for none. */
export const nodesByCloud = 'cloud';

/** Changes our labels and annotations of a node under its resourceVersion; a node that is gone is let be. */
export async function patchNode(
  pass: Begun,
  node: StoredObject,
  change: Readonly<Partial<Record<'labels' | 'annotations', Readonly<Record<string, string | null>>>>>,
): Promise<void> {
  const { name, resourceVersion } = node.metadata;
  try {
    await pass.client.patch(
      Node,
      { name },
      'merge',
      { metadata: { resourceVersion, ...change } },
      { fieldManager, signal: pass.signal },
    );
  } catch (error) {
    if (!isApiError(error, 404)) throw error;
  }
}

/**
 * Whether a node is free for a claim: Ready, schedulable, with the labels that are asked for, and nobody's; one that is
 * being cleaned is free for the claim that it is cleaned for.
 */
export function isEligible(node: StoredObject, { selector, tolerations = [], cleaning }: NodeClaim): boolean {
  const { unschedulable, taints = [] } = (node['spec'] ?? {}) as { unschedulable?: boolean; taints?: readonly Taint[] };
  const { labels = {} } = node.metadata;
  const free =
    labels[cloudLabel] === undefined && (labels[cleaningLabel] === undefined || hasLabels(node, cleaning.labels));
  const tolerated = taints.every(
    (taint) => taint.effect === 'PreferNoSchedule' || tolerations.some((toleration) => tolerates(toleration, taint)),
  );
  const ready = conditionOf(node, 'Ready')?.status === 'True';
  return free && unschedulable !== true && tolerated && ready && hasLabels(node, selector);
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
