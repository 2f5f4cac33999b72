import { parseTimestamp } from '@openstack-operator/kube';
import { type Row, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { CommandContext } from '../../model/program.ts';
import { type CellMapping, cellsOf, inApi, inCell } from './nova-cells.ts';

/**
 * Moves up to `maxRows` rows of servers that were deleted before a moment to the shadow table.
 * @returns the uuids of these servers
 */
export function archiveRows(schema: Schema, { before, maxRows }: { before: number; maxRows: number }): string[] {
  const instances = tableOf(schema, 'instances');
  const due = [...instances].filter(([, row]) => isDeletedBefore(row, before)).slice(0, maxRows);
  const shadows = shadowsOf(schema);
  for (const [id, row] of due) {
    shadows.set(id, row);
    instances.delete(id);
  }
  return due.map(([id]) => id);
}

/** Removes shadow rows of servers that were deleted before a moment. @returns how many */
export function purgeRows(schema: Schema, before: number): number {
  const shadows = shadowsOf(schema);
  const due = [...shadows].filter(([, row]) => isDeletedBefore(row, before));
  for (const [id] of due) shadows.delete(id);
  return due.length;
}

/** Shadow tables come with the migrations, and are empty at first. */
function shadowsOf(schema: Schema): Map<string, Row> {
  const found = schema.tables.get('shadow_instances') ?? new Map<string, Row>();
  schema.tables.set('shadow_instances', found);
  return found;
}

function isDeletedBefore(row: Row, before: number): boolean {
  const { deleted_at: at } = row as { deleted_at?: string };
  return at !== undefined && parseTimestamp(at) < before;
}

/**
 * `nova-manage db archive_deleted_rows`: 0 nothing was archived, 1 something was (with `--until-complete`, too), 2 a
 * wrong number of rows, 4 a wrong date (nova/cmd/manage.py of 2025.1).
 */
export async function archiveDeletedRows(context: CommandContext): Promise<number> {
  const { line, process } = context;
  const maxRows = Number(line.value('max_rows') ?? 1000);
  if (!(maxRows >= 0)) {
    process.stdout('Must supply a positive value for max_rows\n');
    return 2;
  }
  const before = momentOf(context);
  if (before === undefined) return 4;
  let archived = 0;
  for (const cell of await chosenCells(context)) {
    for (;;) {
      const uuids = await inCell(context, cell, 'DELETE', (schema) => archiveRows(schema, { before, maxRows }));
      if (uuids.length > 0) await forget(context, uuids);
      archived += uuids.length;
      if (!line.has('until-complete') || uuids.length === 0) break;
    }
  }
  if (line.has('verbose') && archived === 0) process.stdout('Nothing was archived.\n');
  return archived > 0 ? 1 : 0;
}

/** `nova-manage db purge`: 0 something was purged, 1 neither `--before` nor `--all`, 2 a wrong date, 3 nothing was there to purge. */
export async function purgeShadowRows(context: CommandContext): Promise<number> {
  const { line, process } = context;
  if (!line.has('before') && !line.has('all')) {
    process.stdout('Either --before or --all is required\n');
    return 1;
  }
  const before = momentOf(context);
  if (before === undefined) return 2;
  let purged = 0;
  for (const cell of await chosenCells(context))
    purged += await inCell(context, cell, 'DELETE', (schema) => purgeRows(schema, before));
  return purged > 0 ? 0 : 3;
}

/** `--before` in milliseconds; without it everything counts. Undefined, and a complaint, for what is no date. */
function momentOf({ line, process }: CommandContext): number | undefined {
  const text = line.value('before');
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const moment = parseTimestamp(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text.replace(' ', 'T'));
  if (!Number.isNaN(moment)) return moment;
  process.stdout(`Invalid value for --before: Unknown string format: ${text}\n`);
  return undefined;
}

/** The cell of the configuration (undefined), or with `--all-cells` all that are mapped. */
async function chosenCells(context: CommandContext): Promise<(CellMapping | undefined)[]> {
  const cells = await cellsOf(context);
  return context.line.has('all-cells') ? cells : [undefined];
}

/** What the API's database knows of servers that are archived goes. */
async function forget(context: CommandContext, uuids: readonly string[]): Promise<void> {
  await inApi(context, 'DELETE', (schema) => {
    for (const uuid of uuids)
      for (const table of ['instance_mappings', 'request_specs']) tableOf(schema, table).delete(uuid);
  });
}
