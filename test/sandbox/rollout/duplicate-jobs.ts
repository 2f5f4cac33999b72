import type { Cloud } from './cloud.ts';

/** Follows Jobs; says which were made twice with the same inputs, although none of them had failed. */
export function duplicateJobs(cloud: Cloud): () => string[] {
  const runs = new Map<string, number>();
  cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ type, object }) => {
    if (object.kind !== 'Job' || type !== 'ADDED') return;
    const { 'openstack.k8s.io/inputs': inputs, 'openstack.k8s.io/attempt': attempt } =
      object.metadata.annotations ?? {};
    const id = `Job ${object.metadata.name} of inputs ${inputs}`;
    if (attempt === undefined) runs.set(id, (runs.get(id) ?? 0) + 1);
  });
  return () => [...runs].filter(([, count]) => count > 1).map(([id, count]) => `${id} was made ${count} times`);
}
