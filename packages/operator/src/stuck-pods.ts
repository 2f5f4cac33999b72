import { type KubeObject, Pod, StatefulSet, type StoredObject } from '@openstack-operator/kube';
import { conditionOf } from '@openstack-operator/openstack';
import type { Pass } from './pass.ts';

/**
 * Deletes pods of an old revision that cannot become Ready: a StatefulSet replaces no pod before it is Ready, so a
 * mistake in a template would block its own correction for ever (kubernetes/kubernetes#67250). A pod that is merely
 * starting is left alone: it may be making its database, or be a member that the others need.
 */
export async function replaceStuckPods(pass: Pass, stated: KubeObject): Promise<void> {
  const { namespace = '', name = '' } = stated.metadata;
  const live = pass.cache.get(StatefulSet, { namespace, name });
  const { updateRevision, observedGeneration = 0 } = (live?.['status'] ?? {}) as {
    updateRevision?: string;
    observedGeneration?: number;
  };
  if (live === undefined || updateRevision === undefined || observedGeneration < (live.metadata.generation ?? 0))
    return;
  for (const pod of pass.cache.byIndex(Pod, 'controller', live.metadata.uid)) {
    const revision = pod.metadata.labels?.['controller-revision-hash'];
    if (revision === updateRevision || pod.metadata.deletionTimestamp !== undefined || !isStuck(pod)) continue;
    await pass.remove(pod);
    const note = `pod ${pod.metadata.name} of an older revision could not become Ready: replaced`;
    pass.event({ type: 'Normal', reason: 'PodReplaced', action: 'Replace', note });
  }
}

/** Reasons for which a container waits that only another template changes. */
const hopeless = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'CrashLoopBackOff',
]);

/** Not scheduled, or with a container that does not start. */
function isStuck(pod: StoredObject): boolean {
  if (conditionOf(pod, 'PodScheduled')?.status === 'False') return true;
  const { initContainerStatuses = [], containerStatuses = [] } = (pod['status'] ?? {}) as Record<
    'initContainerStatuses' | 'containerStatuses',
    Container[] | undefined
  >;
  return [...initContainerStatuses, ...containerStatuses].some(({ state }) =>
    hopeless.has(state?.waiting?.reason ?? ''),
  );
}

interface Container {
  readonly state?: { readonly waiting?: { readonly reason?: string } };
}
