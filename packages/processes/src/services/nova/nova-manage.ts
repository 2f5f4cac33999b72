import { tableOf } from '../../infrastructure/mysql-protocol.ts';
import { type ManageProgram, revisions, says, upgrade } from '../../model/manage.ts';
import type { CommandContext } from '../../model/program.ts';
import { Database } from '../../oslo/database.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import { startTimes } from '../../start-times.ts';
import { syncAggregates } from './nova-aggregates.ts';
import { archiveDeletedRows, purgeShadowRows } from './nova-archive.ts';
import { createCell, listCells, listHosts, mapCell0, updateCell } from './nova-cell-commands.ts';
import { cell0, cellsOf, inCell, novaApiDatabase, novaDatabase } from './nova-cells.ts';
import { discoverHosts } from './nova-hosts.ts';

/** `nova-manage`: imports alone take most of its time. What it does not catch is printed, with status 255. */
export const novaManage: ManageProgram = {
  takes: startTimes.novaManage.start,
  fails: { words: 'An error has occurred:', status: 255 },
  categories: 'version bash-completion api_db cell_v2 db placement libvirt volume_attachment image_property limits',
  commands: {
    version: says('31.0.1'),
    'api_db sync': { run: (context) => applyMigrations(context, novaApiDatabase, startTimes.novaManage.apiDbSync) },
    'api_db version': revisions(novaApiDatabase),
    'db sync': { run: dbSync, flags: 'local_cell' },
    'db version': revisions(novaDatabase),
    'db online_data_migrations': { run: onlineDataMigrations, values: 'max-count' },
    'db archive_deleted_rows': {
      run: archiveDeletedRows,
      flags: 'verbose until-complete purge all-cells task-log',
      values: 'max_rows before sleep',
    },
    'db purge': {
      run: purgeShadowRows,
      flags: 'all verbose all-cells',
      values: 'before',
    },
    'placement sync_aggregates': { run: syncAggregates, flags: 'verbose' },
    'cell_v2 map_cell0': { run: mapCell0, values: 'database_connection' },
    'cell_v2 create_cell': {
      run: createCell,
      flags: 'verbose disabled',
      values: 'name database_connection transport-url',
    },
    'cell_v2 update_cell': {
      run: updateCell,
      flags: 'disable enable',
      values: 'cell_uuid name database_connection transport-url',
      required: 'cell_uuid',
    },
    'cell_v2 list_cells': { run: listCells, flags: 'verbose' },
    'cell_v2 list_hosts': { run: listHosts, values: 'cell_uuid' },
    'cell_v2 discover_hosts': {
      run: async (context) => {
        const { line, process } = context;
        const cell = line.value('cell_uuid');
        const found = await discoverHosts(context, {
          say: (text) => (line.has('verbose') ? process.stdout(`${text}\n`) : undefined),
          byService: line.has('by-service'),
          ...(cell !== undefined && { cell }),
        });
        return line.has('strict') && found.length === 0 ? 1 : 0;
      },
      flags: 'verbose strict by-service',
      values: 'cell_uuid',
    },
  },
};

async function applyMigrations(
  context: CommandContext,
  project: ProjectDatabase,
  takes: number,
  url?: string,
): Promise<void> {
  const database = new Database(context, project, url);
  context.log.info('nova.db.migration', 'Applying migration(s)');
  await upgrade(context, database, project, { takes });
  database.close();
  context.log.info('nova.db.migration', 'Migration(s) applied');
}

async function dbSync(context: CommandContext): Promise<number> {
  const { process, line } = context;
  if (!line.has('local_cell')) {
    try {
      const cell = (await cellsOf(context)).find(({ uuid }) => uuid === cell0);
      if (cell === undefined) process.stdout('WARNING: cell0 mapping not found - not syncing cell0.\n');
      else await applyMigrations(context, novaDatabase, 0, cell.databaseConnection);
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      process.stdout(
        `ERROR: Could not access cell0.\nHas the nova_api database been created?\nHas the nova_cell0 database been created?\nHas "nova-manage api_db sync" been run?\nHas "nova-manage cell_v2 map_cell0" been run?\nIs [api_database]/connection set in nova.conf?\nIs the cell0 database connection URL correct?\nError: ${error.message}\n`,
      );
      return 1;
    }
  }
  await applyMigrations(context, novaDatabase, startTimes.novaManage.dbSync);
  return 0;
}

async function onlineDataMigrations(context: CommandContext): Promise<number> {
  const { process, line } = context;
  const count = line.value('max-count');
  if (count !== undefined && !(Number(count) >= 1)) {
    process.stdout('Must supply a positive value for max_number\n');
    return 127;
  }
  await inCell(context, undefined, 'SELECT', (schema) => tableOf(schema, 'instances').size);
  if (count === undefined) process.stdout('Running batches of 50 until complete\n');
  process.stdout('+-----------+--------------+-----------+\n| Migration | Total Needed | Completed |\n');
  return 0;
}
