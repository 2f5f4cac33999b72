import { annotations, type Composition, eventOf, lostNode, recordedIn } from '@openstack-operator/openstack';
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
  const now = new Set(recordedIn(status).map(({ name }) => name));
  for (const { name, phase } of recordedIn(context.object['status']))
    if (phase === lostNode && forgetting.hosts.includes(name) && !now.has(name))
      context.event(eventOf('NodeForgotten', `node ${name}: what was recorded of it is deleted`));
}
