import { advanceMembers, type Composition, conditionOf, type Live, type Members } from '@openstack-operator/openstack';
import type { ComposeContext } from './context.ts';

/** What the status says of a quorum, from what the cache shows of its pods. */
export function membersBy(
  { object: resource }: Pick<ComposeContext, 'object'>,
  { quorum }: Pick<Composition, 'quorum'>,
  { pods, done }: Pick<Live, 'pods' | 'done'>,
): { readonly members?: Members } {
  if (quorum === undefined) return {};
  const { size, labels, step, wasSingle, primary } = quorum;
  const { members: before = {} } = (resource['status'] ?? {}) as { readonly members?: Members };
  const candidates = primary === undefined ? [] : pods(resource.metadata.namespace ?? '', labels);
  const ready = candidates
    .filter((pod) => pod.metadata.deletionTimestamp === undefined && conditionOf(pod, 'Ready')?.status === 'True')
    .map((pod) => pod.metadata.name)
    .sort();
  const members = advanceMembers(before, { size, wasSingle, isDone: done.has(step), ready });
  return Object.keys(members).length === 0 ? {} : { members };
}
