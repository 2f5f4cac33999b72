import { type KubeObject, Pod, StatefulSet, type StoredObject } from '@openstack-operator/kube';
import { conditionOf } from '@openstack-operator/openstack';
import type { Pass } from './pass.ts';

/**
 * Deletes pods of an old revision that are not Ready: a StatefulSet never replaces a pod that has not become Ready, so
 * a mistake in a template would block its own correction for ever (kubernetes/kubernetes#67250).
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
    if (revision === updateRevision || pod.metadata.deletionTimestamp !== undefined || isReady(pod)) continue;
    await pass.remove(pod);
    const note = `pod ${pod.metadata.name} of an older revision never became Ready: replaced`;
    pass.event({ type: 'Normal', reason: 'PodReplaced', action: 'Replace', note });
  }
}

function isReady(pod: StoredObject): boolean {
  return conditionOf(pod, 'Ready')?.status === 'True';
}
