import type { Program } from '@openstack-operator/sandbox';
import { tableOf } from '../infrastructure/mysql-protocol.ts';
import { Database } from '../oslo/database.ts';
import { migrate, revisionsOf } from '../oslo/migrations.ts';
import { PythonError, SystemExit } from '../oslo/python-error.ts';
import { osloProgram, type ServiceContext } from '../oslo/service.ts';
import { nameOf, pause } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { archiveDeletedRows, purgeShadowRows } from './nova-archive.ts';
import {
  createCell,
  deleteCell,
  deleteHost,
  listCells,
  listHosts,
  mapCell0,
  updateCell,
} from './nova-cell-commands.ts';
import { apiDatabase, cell0, cellMapping, cellRows } from './nova-cells.ts';
import { discoverHosts } from './nova-hosts.ts';
import { novaApiMigrations, novaMigrations } from './service-schemas.ts';

interface Command {
  readonly run: (context: ServiceContext) => Promise<number>;
  readonly flags?: readonly string[];
  readonly values?: readonly string[];
  readonly required?: readonly string[];
}

const commands: Readonly<Record<string, Command>> = {
  'api_db sync': {
    run: async (context) => {
      await applyMigrations(context, apiDatabase(context), novaApiMigrations);
      await pause(context.process, startTimes.novaManage.apiDbSync);
      return 0;
    },
  },
  'api_db version': { run: (context) => version(context, apiDatabase(context)) },
  'db sync': { run: dbSync, flags: ['local_cell'] },
  'db version': { run: (context) => version(context, mainDatabase(context)) },
  'db online_data_migrations': { run: onlineDataMigrations, values: ['max-count'] },
  'db archive_deleted_rows': {
    run: archiveDeletedRows,
    flags: ['verbose', 'until-complete', 'purge', 'all-cells', 'task-log'],
    values: ['max_rows', 'before', 'sleep'],
  },
  'db purge': {
    run: purgeShadowRows,
    flags: ['all', 'verbose', 'all-cells'],
    values: ['before'],
  },
  'cell_v2 map_cell0': { run: mapCell0, values: ['database_connection'] },
  'cell_v2 create_cell': {
    run: createCell,
    flags: ['verbose', 'disabled'],
    values: ['name', 'database_connection', 'transport-url'],
  },
  'cell_v2 update_cell': {
    run: updateCell,
    flags: ['disable', 'enable'],
    values: ['cell_uuid', 'name', 'database_connection', 'transport-url'],
    required: ['cell_uuid'],
  },
  'cell_v2 list_cells': { run: listCells, flags: ['verbose'] },
  'cell_v2 delete_cell': { run: deleteCell, flags: ['force'], values: ['cell_uuid'], required: ['cell_uuid'] },
  'cell_v2 list_hosts': { run: listHosts, values: ['cell_uuid'] },
  'cell_v2 delete_host': { run: deleteHost, values: ['cell_uuid', 'host'], required: ['cell_uuid', 'host'] },
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
    flags: ['verbose', 'strict', 'by-service'],
    values: ['cell_uuid'],
  },
};

/** As argparse names them. */
const categories = [
  'version',
  'bash-completion',
  'api_db',
  'cell_v2',
  'db',
  'placement',
  'libvirt',
  'volume_attachment',
  'image_property',
  'limits',
];

const unique = (names: readonly string[]): string[] => [...new Set(names)];
const flags = unique(Object.values(commands).flatMap((command) => command.flags ?? []));
const values = unique(Object.values(commands).flatMap((command) => command.values ?? []));

/** `nova-manage`: imports alone take most of its time. What it does not catch is printed, with status 255. */
export const novaManage: Program = osloProgram({
  project: 'nova',
  subcommands: true,
  names: { flags, values },
  run: async (context) => {
    const { process, line } = context;
    const [group = '', task = ''] = line.operands;
    const found = commands[`${group} ${task}`];
    const refuse = (reason: string): never => {
      const name = nameOf(process);
      const usage = `usage: ${name} [-h] [--config-file PATH] {version,db,api_db,cell_v2,placement,...} ...`;
      throw new SystemExit(2, `${usage}\n${name}: error: ${reason}`);
    };
    if (group === 'version') {
      process.stdout('31.0.1\n');
      return 0;
    }
    if (!categories.includes(group))
      return refuse(`argument category: invalid choice: '${group}' (choose from ${categories.join(', ')})`);
    if (found === undefined) return refuse(`argument action: invalid choice: '${task}'`);
    const allowed = [...(found.flags ?? []), ...(found.values ?? [])];
    const stray = [...flags, ...values].find((name) => line.has(name) && !allowed.includes(name));
    if (stray !== undefined) return refuse(`unrecognized arguments: --${stray}`);
    const missing = (found.required ?? []).filter((name) => !line.has(name)).map((name) => `--${name}`);
    if (missing.length > 0) return refuse(`the following arguments are required: ${missing.join(', ')}`);
    await pause(process, startTimes.novaManage.start);
    try {
      return await found.run(context);
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      process.stdout(`An error has occurred:\nTraceback (most recent call last):\n${error.lastLine}\n\n`);
      return 255;
    }
  },
});

function mainDatabase(context: ServiceContext): Database {
  return new Database(context);
}

async function applyMigrations(
  { log }: ServiceContext,
  database: Database,
  migrations: typeof novaMigrations,
): Promise<void> {
  log.info('nova.db.migration', 'Applying migration(s)');
  log.info('alembic.runtime.migration', 'Context impl MySQLImpl.');
  log.info('alembic.runtime.migration', 'Will assume non-transactional DDL.');
  await migrate(database, migrations);
  database.close();
  log.info('nova.db.migration', 'Migration(s) applied');
}

async function version(context: ServiceContext, database: Database): Promise<number> {
  const [revision = 'None'] = await database.transaction('SELECT', (schema) => revisionsOf(schema));
  context.process.stdout(`${revision}\n`);
  return 0;
}

async function dbSync(context: ServiceContext): Promise<number> {
  const { process, config, log, line } = context;
  if (!line.has('local_cell')) {
    try {
      const rows = await apiDatabase(context).transaction('SELECT', cellRows);
      const row = rows.find((candidate) => candidate['uuid'] === cell0);
      if (row === undefined) process.stdout('WARNING: cell0 mapping not found - not syncing cell0.\n');
      else {
        const { databaseConnection: url } = cellMapping(row, config, log);
        await applyMigrations(context, new Database({ ...context, url }), novaMigrations);
      }
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      process.stdout(
        `ERROR: Could not access cell0.\nHas the nova_api database been created?\nHas the nova_cell0 database been created?\nHas "nova-manage api_db sync" been run?\nHas "nova-manage cell_v2 map_cell0" been run?\nIs [api_database]/connection set in nova.conf?\nIs the cell0 database connection URL correct?\nError: ${error.message}\n`,
      );
      return 1;
    }
  }
  await applyMigrations(context, mainDatabase(context), novaMigrations);
  await pause(process, startTimes.novaManage.dbSync);
  return 0;
}

async function onlineDataMigrations(context: ServiceContext): Promise<number> {
  const { process, line } = context;
  const count = line.value('max-count');
  if (count !== undefined && !(Number(count) >= 1)) {
    process.stdout('Must supply a positive value for max_number\n');
    return 127;
  }
  await mainDatabase(context).transaction('SELECT', (schema) => tableOf(schema, 'instances').size);
  if (count === undefined) process.stdout('Running batches of 50 until complete\n');
  process.stdout('+-----------+--------------+-----------+\n| Migration | Total Needed | Completed |\n');
  return 0;
}
