import type { RecordsAuditSpec } from '../api/schedules.ts';
import type { Mount } from './component.ts';
import type { Context } from './context.ts';
import { auditSuffix } from './names.ts';
import type { Records } from './records.ts';
import { hourly } from './schedule.ts';
import type { Schedule } from './service.ts';

/** Where the lists of an audit are mounted, each in a directory of its own. */
const folder = '/etc/openstack/audit';

/**
 * The CronJob `<name>-records-audit`: the lists of the records Jobs, run again. What was changed or deleted by hand is
 * put right, and told by the termination message. Nothing where a service has no records.
 */
export function recordsAudit(context: Context, records: readonly Records[]): readonly Schedule[] {
  const { recordsAudit: { schedule, suspend = false } = {} } = context.spec as { recordsAudit?: RecordsAuditSpec };
  const mounts: Mount[] = [];
  const lists: string[] = [];
  const runs: Schedule['runs'][number][] = [];
  for (const { audit, list } of records) {
    const path = `${folder}/${audit.target}`;
    mounts.push({ path, secret: list, follows: true });
    if (audit.target === 'mariadb') {
      runs.push({ name: 'mariadb', image: 'mariadb-server', user: 'mysql', script: databaseAudit(path, audit) });
    } else lists.push(`${audit.target}=${path}/records.json`);
  }
  // Keystone and the broker in one container: what ails one hides nothing of the other.
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

/** What of a list of SQL an audit compares: the user and the databases that it makes. */
export interface DatabaseAudit {
  readonly target: 'mariadb';
  readonly user: string;
  readonly databases: readonly string[];
}

/**
 * Compares what there is before and after the statements, which change nothing that is as it should be. What SHOW GRANTS
 * says has the hash of the password in it: it is compared, and never printed.
 */
function databaseAudit(path: string, { user, databases }: DatabaseAudit): string {
  return `ask() { mariadb --defaults-extra-file=${path}/client.cnf --batch --skip-column-names -e "$1"; }
grants() { ask "SHOW GRANTS FOR '${user}'@'%'" 2>/dev/null || true; }
present=$(ask "SHOW DATABASES")
before=$(grants)
mariadb --defaults-extra-file=${path}/client.cnf --abort-source-on-error -e "source ${path}/records.sql"
after=$(grants)
findings=
for name in ${databases.join(' ')}; do
  if ! printf '%s\n' "$present" | grep -qxF "$name"; then
    findings="\${findings}created database $name
"
  fi
done
if [ -z "$before" ]; then
  findings="\${findings}created user ${user}
"
elif [ "$before" != "$after" ]; then
  findings="\${findings}put right password or grants of user ${user}
"
fi
printf '%s' "$findings"
printf '%s' "$findings" > /dev/termination-log
`;
}
