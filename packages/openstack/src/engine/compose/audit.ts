import type { RecordsAuditSpec } from '../../api/schedules.ts';
import { auditSuffix } from '../names/names.ts';
import { hourly } from '../objects/schedule.ts';
import type { Mount } from '../vocabulary/component.ts';
import type { Kept } from '../vocabulary/keeping.ts';
import type { Records } from '../vocabulary/records.ts';
import type { Schedule } from '../vocabulary/service.ts';

/** Where the lists of an audit are mounted, each in a directory of its own. */
const folder = '/etc/openstack/audit';

/**
 * The CronJob `<name>-records-audit`: the lists of the records Jobs, run again. What was changed or deleted by hand is
 * corrected, and told by the termination message. Nothing where a service has no records.
 */
export function recordsAudit(kept: Kept, records: readonly Records[]): readonly Schedule[] {
  const { context } = kept;
  const { recordsAudit: { schedule, suspend = false } = {} } = context.spec as { recordsAudit?: RecordsAuditSpec };
  const mounts: Mount[] = [];
  const lists: string[] = [];
  const runs: Schedule['runs'][number][] = [];
  for (const { keeping, list } of records) {
    const { target, client } = keeping;
    const path = `${folder}/${target}`;
    mounts.push({ path, secret: list, follows: true });
    if (client === undefined) lists.push(`${target}=${path}/records.json`);
    else runs.push({ name: target, image: client.image, user: client.user, ...client.audit(path, kept) });
  }
  // All lists of the operator's in one container: what ails one hides nothing of the others.
  if (lists.length > 0)
    runs.push({ name: 'records', user: 'operator', command: ['openstack-operator', 'records', 'audit', ...lists] });
  if (runs.length === 0) return [];
  return [
    {
      suffix: auditSuffix,
      image: 'operator',
      config: 'none',
      mounts,
      runs,
      cron: schedule ?? hourly(context, auditSuffix),
      suspend,
      deadlineSeconds: 600,
    },
  ];
}
