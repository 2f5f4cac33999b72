import { controllerReference, parseTimestamp } from '@openstack-operator/kube';
import type { IPodTemplateSpec } from 'kubernetes-models/v1';
import { StatusError } from '../api/status.ts';
import { refusedWith } from '../cluster/cluster.ts';
import { Pod, type Stored } from '../cluster/kinds.ts';
import { isReady } from '../cluster/pod-state.ts';
import { cloneJson } from '../resources/json.ts';
import type { ControllerContext } from './controller.ts';

/** A pod as a workload's template describes it. The name, or its beginning, is given. */
export function podFromTemplate(
  template: IPodTemplateSpec,
  owner: Stored,
  name: { readonly name: string } | { readonly generateName: string },
): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...name,
      ...(owner.metadata.namespace && { namespace: owner.metadata.namespace }),
      ...(labels && { labels: { ...labels } }),
      ...(annotations && { annotations: { ...annotations } }),
      ...(finalizers && { finalizers: [...finalizers] }),
      ownerReferences: [controllerReference(owner)],
    },
    spec: cloneJson(template.spec) as Pod['spec'],
  };
}

/**
 * Creates a pod for its owner, with the event that says so.
 * @throws StatusError when the API server refuses
 */
export function createPod(pod: Pod, owner: Stored, { cluster, recorder }: ControllerContext): Stored<Pod> {
  try {
    const created = cluster.create(Pod, pod);
    recorder.record(owner, 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
    return created;
  } catch (error) {
    if (error instanceof StatusError && !isTerminating(error)) {
      recorder.record(owner, 'FailedCreate', `Error creating: ${error.message}`, { type: 'Warning' });
    }
    throw error;
  }
}

/** Deletes a pod of an owner, with the event that says so. */
export function deletePod(pod: Stored<Pod>, owner: Stored, { cluster, recorder }: ControllerContext): void {
  if (pod.metadata.deletionTimestamp) return;
  cluster.delete(Pod, pod);
  recorder.record(owner, 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
}

/** Whether an error is the refusal to create anything in a namespace that is going. */
export function isTerminating(error: unknown): boolean {
  return (
    refusedWith(error, 403) &&
    (error as StatusError).status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true
  );
}

/** First the pods that one would rather lose (controller.ActivePods): not scheduled, not running, not ready, young. */
export function byExpendability(a: Stored<Pod>, b: Stored<Pod>): number {
  const rank = (pod: Stored<Pod>) => [
    pod.spec.nodeName ? 1 : 0,
    ['Pending', 'Unknown', 'Running'].indexOf(pod.status?.phase ?? 'Pending'),
    isReady(pod) ? 1 : 0,
    Number(pod.metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'] ?? 0),
    -(pod.status?.containerStatuses ?? []).reduce((most, { restartCount }) => Math.max(most, restartCount), 0),
    -parseTimestamp(pod.metadata.creationTimestamp ?? ''),
  ];
  const left = rank(a);
  const right = rank(b);
  const first = left.findIndex((value, position) => value !== right[position]);
  if (first >= 0) return (left[first] ?? 0) - (right[first] ?? 0);
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
