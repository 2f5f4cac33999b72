import { annotations, type ClaimedNode, type Composition, eventOf, lostNode } from '@openstack-operator/openstack';
import type { ComposeContext } from './context.ts';
import type { Maintaining } from './maintenance.ts';

/** The nodes that are gone for ever and of which nothing is recorded any more. */
export function forgottenNodes({
  forgetting,
  finishedJobs,
}: Pick<Maintaining, 'forgetting' | 'finishedJobs'>): ReadonlySet<string> {
  if (forgetting === undefined) return new Set();
  const { job, hosts } = forgetting;
  const inputs = job?.metadata.annotations?.[annotations.inputs];
  const isDone = job === undefined || finishedJobs[job.metadata.name ?? ''] === inputs;
  return new Set(isDone ? hosts : []);
}

/** Events of nodes that the status before this one had as lost, and that are forgotten. */
export function announceForgotten(
  context: ComposeContext,
  { forgetting, status }: Pick<Composition, 'forgetting' | 'status'>,
): void {
  if (forgetting === undefined) return;
  const [before, now] = [context.object['status'], status].map(
    (one) => ((one ?? {}) as { nodes?: readonly ClaimedNode[] }).nodes ?? [],
  );
  for (const { name, phase } of before ?? [])
    if (phase === lostNode && forgetting.hosts.includes(name) && now?.every((node) => node.name !== name) === true)
      context.event(eventOf('NodeForgotten', `node ${name}: what was recorded of it is deleted`));
}
