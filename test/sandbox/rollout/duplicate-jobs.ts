import type { StoredObject } from '@openstack-operator/kube';
import { annotations, conditionOf } from '@openstack-operator/openstack';
import type { Cloud } from './cloud.ts';

/**
 * Follows Jobs, each as it becomes: says of one whether it is tried again after one with the same inputs has failed. How often
 * that is depends on how long what it waits for takes.
 */
export function watchRetries(): (object: StoredObject) => boolean {
  const failed = new Set<string>();
  return (object) => {
    if (object.kind !== 'Job') return false;
    const run = runOf(object);
    if (conditionOf(object, 'Failed')?.status === 'True') failed.add(run);
    return failed.has(run);
  };
}

const runOf = ({ metadata }: StoredObject): string =>
  `Job ${metadata.name} of inputs ${metadata.annotations?.[annotations.inputs]}`;

/** Follows Jobs; says which were made twice with the same inputs, although none of them had failed. */
export function duplicateJobs(cloud: Cloud): () => string[] {
  const runs = new Map<string, number>();
  const isRetry = watchRetries();
  cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ type, object }) => {
    if (isRetry(object) || object.kind !== 'Job' || type !== 'ADDED') return;
    const run = runOf(object);
    runs.set(run, (runs.get(run) ?? 0) + 1);
  });
  return () => [...runs].filter(([, count]) => count > 1).map(([run, count]) => `${run} was made ${count} times`);
}
