import { type Keeping, keepingsOf } from '../vocabulary/keeping.ts';
import { type Records, recordsOf } from '../vocabulary/records.ts';
import { type Assembly, awaited } from './assembly.ts';
import { addJob } from './compose-jobs.ts';

/** Adds what is kept of a service in others, or in itself: a list and its Job for each. Gives what was added. */
export function addRecords(assembly: Assembly, holds: Keeping['holds']): readonly Records[] {
  const { service, context, drafts } = assembly;
  return keepingsOf(service, context.spec, context.surroundings.lasting).flatMap(({ keeping, capability, field }) => {
    if (keeping.holds !== holds) return [];
    const records = recordsOf(keeping, assembly);
    drafts.add(keeping.step, ...records.objects);
    const isOwn = field === undefined || holds === 'resources';
    const writesTo = [...(isOwn ? (['database'] as const) : []), ...(field === undefined ? [] : [capability])];
    addJob(assembly, { ...records.job, writesTo }, 'CredentialsReady');
    drafts.need(keeping.step, ...(keeping.needs ?? []));
    for (const one of [field, ...(keeping.awaits?.(assembly) ?? [])])
      drafts.step(keeping.step).awaits.push(...awaited(assembly, one));
    // What is kept in the service itself waits until it serves.
    if (field === undefined) drafts.need(keeping.step, 'BootstrapReady', 'DeploymentReady');
    return [records];
  });
}
