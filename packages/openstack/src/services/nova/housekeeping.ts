import { nightly } from '../../engine/objects/schedule.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Schedule } from '../../engine/vocabulary/service.ts';
import { cellsOf } from './cells.ts';
import type { Nova } from './kind.ts';

/** Seconds that a night's run may take; the next one goes on where it was ended. */
const deadlineSeconds = 3 * 3600;

/**
 * Rows of deleted servers, of all cells: to the shadow tables in batches of 1000 with a second in between, and away from
 * there. Safe beside a running cloud and a migration: each batch is a transaction, and one that fails is tried again
 * the next night.
 */
export function novaHousekeeping(context: Context<Nova>): Schedule {
  const { schedule, suspend = false, archiveAfterDays = 30, purgeAfterDays = 90 } = context.spec.housekeeping ?? {};
  const [cell] = cellsOf(context);
  return {
    suffix: 'db-archive',
    image: 'nova-conductor',
    config: `${cell?.name}-manage`,
    mounts: [{ path: '/var/lib/nova', scratch: true }],
    env: { ARCHIVE_AFTER_DAYS: String(archiveAfterDays), PURGE_AFTER_DAYS: String(purgeAfterDays) },
    runs: [{ name: 'db-archive', script: archiveAndPurge }],
    cron: schedule ?? nightly(context, 'db-archive'),
    suspend,
    deadlineSeconds,
  };
}

/** nova-manage tells by its status what it did: `archive_deleted_rows` 0 nothing, 1 something; `purge` 0 something, 3 nothing. */
const archiveAndPurge = `before() { date -u -d "$1 days ago" +%F; }
status=0
nova-manage db archive_deleted_rows --all-cells --until-complete --max_rows 1000 --sleep 1 --verbose --before "$(before "$ARCHIVE_AFTER_DAYS")" || status=$?
if [ "$status" -gt 1 ]; then exit "$status"; fi
status=0
nova-manage db purge --all-cells --verbose --before "$(before "$PURGE_AFTER_DAYS")" || status=$?
if [ "$status" -ne 0 ] && [ "$status" -ne 3 ]; then exit "$status"; fi
`;
