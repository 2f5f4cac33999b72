import { annotations, computeLabel } from '../names/names.ts';
import type { Context } from '../vocabulary/context.ts';
import type { EmptyPlan } from '../vocabulary/emptying.ts';
import type { Job, Service } from '../vocabulary/service.ts';
import { askingJob, countProblem } from './count-job.ts';

/** The condition of the step of nodes in maintenance. */
export const maintenanceStep = 'MaintenanceReady';

/** A Job that has nodes emptied, or guests let in again, and the nodes that it is about. */
export interface EmptyingJob extends Pick<EmptyPlan, 'back'> {
  readonly job: Job;
  /** Names of those in maintenance. */
  readonly hosts: readonly string[];
  /** Why it would not know what is left there. */
  readonly problem: string | undefined;
}

/** More than the program takes by itself: it ends one that is not answered any more. */
const deadlineSeconds = 3600;

/**
 * The Job `<name>-maintenance`: keeps new guests away from the nodes that are in maintenance, moves away those that are there,
 * and lets them in again where that is over. It fails as long as some stay. Undefined where there is nothing to do.
 */
export function emptyingJob(service: Service, context: Context): EmptyingJob | undefined {
  if (service.emptying === undefined) return undefined;
  const nodes = context.surroundings
    .nodes()
    .filter(
      ({ labels, joined, maintenance }) => labels[computeLabel] === 'true' && joined && maintenance !== undefined,
    );
  if (nodes.length === 0) return undefined;
  const hosts = nodes.flatMap(({ name, maintenance: { reason } = {} }) =>
    reason === undefined ? [] : [{ name, reason }],
  );
  const back = nodes.flatMap(({ name, maintenance: { reason } = {} }) => (reason === undefined ? [name] : []));
  const plan: EmptyPlan = { ...service.emptying(context), mark: annotations.maintenance, hosts, back };
  const job = askingJob(service, context, { suffix: 'maintenance', step: maintenanceStep, command: 'empty', plan });
  return {
    job: { ...job, aside: true, deadlineSeconds },
    hosts: hosts.map(({ name }) => name),
    back,
    problem: countProblem(context, []),
  };
}
