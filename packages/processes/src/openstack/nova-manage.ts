import { uuid } from '@openstack-operator/kube';
import type { Program } from '@openstack-operator/sandbox';
import { type Row, tableOf } from '../infrastructure/mysql-protocol.ts';
import { Database } from '../oslo/database.ts';
import { isMigrated, migrate, revisionsOf } from '../oslo/migrations.ts';
import { PythonError, SystemExit } from '../oslo/python-error.ts';
import { osloProgram, type ServiceContext } from '../oslo/service.ts';
import { parseDatabaseUrl } from '../oslo/urls.ts';
import { nameOf, pause } from '../program-support.ts';
import { cell0, cellMapping, cellRows } from './nova-cells.ts';
import { discoverHosts } from './nova-hosts.ts';
import { novaApiMigrations, novaMigrations } from './service-schemas.ts';

const commands: Readonly<Record<string, (context: ServiceContext) => Promise<number>>> = {
  'api_db sync': async (context) => {
    await migrate(apiDatabase(context), novaApiMigrations);
    await pause(context.process, 2300);
    return 0;
  },
  'api_db version': async (context) => version(context, apiDatabase(context)),
  'db sync': dbSync,
  'db version': async (context) => version(context, mainDatabase(context)),
  'db online_data_migrations': async (context) => {
    await mainDatabase(context).transaction('SELECT', (schema) => tableOf(schema, 'services').size);
    context.process.stdout('Running batches of 50 until complete\n');
    return 0;
  },
  'db archive_deleted_rows': () => Promise.resolve(0),
  'cell_v2 map_cell0': mapCell0,
  'cell_v2 create_cell': createCell,
  'cell_v2 update_cell': updateCell,
  'cell_v2 list_cells': listCells,
  'cell_v2 delete_cell': deleteCell,
  'cell_v2 list_hosts': listHosts,
  'cell_v2 discover_hosts': async (context) => {
    const found = await discoverHosts(context, (text) =>
      context.line.has('verbose') ? context.process.stdout(`${text}\n`) : undefined,
    );
    return context.line.has('strict') && found.length === 0 ? 1 : 0;
  },
};

/** `nova-manage`: imports alone take about 1.7 s. */
export const novaManage: Program = osloProgram({
  project: 'nova',
  programs: ['nova-manage'],
  names: {
    flags: [
      'verbose',
      'local_cell',
      'strict',
      'by-service',
      'disable',
      'enable',
      'disabled',
      'force',
      'all-cells',
      'until-complete',
      'purge',
    ],
    values: [
      'name',
      'database_connection',
      'database-connection',
      'transport-url',
      'transport_url',
      'cell_uuid',
      'cell-uuid',
      'db_connection',
      'max-count',
      'max_rows',
      'version',
    ],
  },
  run: async (context) => {
    const [group = '', task = ''] = context.line.operands;
    const run = commands[`${group} ${task}`];
    if (run === undefined) {
      const name = nameOf(context.process);
      throw new SystemExit(
        2,
        `usage: ${name} [-h] [--config-file PATH] {version,db,api_db,cell_v2,placement,...} ...\n${name}: error: argument ${group === '' ? 'category' : 'command'}: invalid choice: '${task || group}'`,
      );
    }
    await pause(context.process, 1700);
    return run(context);
  },
});

function apiDatabase({ process, config, log }: ServiceContext): Database {
  return new Database({ process, config, log, group: 'api_database' });
}

function mainDatabase({ process, config, log }: ServiceContext): Database {
  return new Database({ process, config, log });
}

async function version(context: ServiceContext, database: Database): Promise<number> {
  context.process.stdout(`${(await database.transaction('SELECT', revisionsOf)).join(' ')}\n`);
  return 0;
}

const option = ({ line }: ServiceContext, name: string): string | undefined =>
  line.value(name) ?? line.value(name.replaceAll('_', '-'));

async function dbSync(context: ServiceContext): Promise<number> {
  const { process, config, log, line } = context;
  if (!line.has('local_cell')) {
    try {
      const rows = await apiDatabase(context).transaction('SELECT', cellRows);
      const row = rows.find((candidate) => candidate['uuid'] === cell0);
      if (row === undefined) process.stdout('WARNING: cell0 mapping not found - not syncing cell0.\n');
      else {
        const { databaseConnection } = cellMapping(row, config, log);
        await migrate(new Database({ process, config, log, url: databaseConnection }), novaMigrations);
      }
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      process.stdout(
        `ERROR: Could not access cell0.\nHas the nova_api database been created?\nHas the nova_cell0 database been created?\nHas "nova-manage api_db sync" been run?\nHas "nova-manage cell_v2 map_cell0" been run?\nIs [api_database]/connection set in nova.conf?\nIs the cell0 database connection URL correct?\nError: ${error.message}\n`,
      );
      return 1;
    }
  }
  await migrate(mainDatabase(context), novaMigrations);
  await pause(process, 2500);
  return 0;
}

async function mapCell0(context: ServiceContext): Promise<number> {
  const { process, config } = context;
  const given = option(context, 'database_connection');
  const connection =
    given ??
    defaultCell0(
      config.required(
        'database',
        'connection',
        () => new PythonError('AttributeError', "'NoneType' object has no attribute 'database'"),
      ),
    );
  const created = await apiDatabase(context).transaction('INSERT', (schema) => {
    const cells = tableOf(schema, 'cell_mappings');
    if (cells.has(cell0)) return false;
    cells.set(cell0, {
      uuid: cell0,
      name: 'cell0',
      transport_url: 'none:///',
      database_connection: connection,
      disabled: false,
    });
    return true;
  });
  await pause(process, 1200);
  if (!created) process.stdout('Cell0 is already setup\n');
  return 0;
}

/** The main database's URL with `_cell0` behind its name, percent-codes undone (nova.cmd.manage, _map_cell0). */
function defaultCell0(connection: string): string {
  const { database } = parseDatabaseUrl(connection);
  return decodeURIComponent(connection.replace(new RegExp(`/${database}(\\?|$)`), `/${database}_cell0$1`));
}

function urlsOf(context: ServiceContext): { transport: string | undefined; database: string | undefined } {
  const { config } = context;
  return {
    transport:
      option(context, 'transport-url') ?? option(context, 'transport_url') ?? config.text('DEFAULT', 'transport_url'),
    database:
      option(context, 'database_connection') ??
      option(context, 'db_connection') ??
      config.text('database', 'connection'),
  };
}

async function createCell(context: ServiceContext): Promise<number> {
  const { process, line } = context;
  const { transport, database } = urlsOf(context);
  if (transport === undefined || transport === '') {
    process.stdout('Must specify --transport-url if [DEFAULT]/transport_url is not set in the configuration file.\n');
    return 1;
  }
  if (database === undefined || database === '') {
    process.stdout(
      'Must specify --database_connection if [database]/connection is not set in the configuration file.\n',
    );
    return 1;
  }
  const id = uuid(process.random);
  const twin = await apiDatabase(context).transaction('INSERT', (schema) => {
    const cells = tableOf(schema, 'cell_mappings');
    const found = [...cells.values()].find(
      (row) => row['transport_url'] === transport || row['database_connection'] === database,
    );
    if (found !== undefined) return String(found['uuid']);
    cells.set(id, {
      uuid: id,
      name: line.value('name'),
      transport_url: transport,
      database_connection: database,
      disabled: line.has('disabled'),
    });
    return undefined;
  });
  await pause(process, 1000);
  if (twin !== undefined) {
    process.stdout(
      `The specified transport_url and/or database_connection combination already exists for cell ${twin}.\n`,
    );
    return 2;
  }
  if (line.has('verbose')) process.stdout(`${id}\n`);
  return 0;
}

async function updateCell(context: ServiceContext): Promise<number> {
  const { process, line } = context;
  const id = option(context, 'cell_uuid') ?? '';
  const { transport, database } = urlsOf(context);
  const [status, text] = await apiDatabase(context).transaction('UPDATE', (schema): [number, string] => {
    const cells = tableOf(schema, 'cell_mappings');
    const row = cells.get(id);
    if (row === undefined) return [1, `Cell with uuid ${id} was not found.`];
    const twin = [...cells.values()].find(
      (other) => other !== row && (other['transport_url'] === transport || other['database_connection'] === database),
    );
    if (twin !== undefined)
      return [
        3,
        `The specified transport_url and/or database_connection combination already exists for cell ${String(twin['uuid'])}.`,
      ];
    if (line.has('disable') && line.has('enable')) return [4, 'Cell cannot be disabled and enabled at the same time.'];
    if (line.has('disable') && id === cell0) return [5, 'Cell0 cannot be disabled.'];
    const change: Row = {
      name: line.value('name') ?? row['name'],
      transport_url: transport ?? row['transport_url'],
      database_connection: database ?? row['database_connection'],
    };
    Object.assign(row, change, line.has('disable') && { disabled: true }, line.has('enable') && { disabled: false });
    return [0, ''];
  });
  if (text !== '') process.stdout(`${text}\n`);
  return status;
}

const masked = (url: string): string => url.replace(/(:\/\/[^:/]*:)[^@]*@/, '$1****@');

async function listCells(context: ServiceContext): Promise<number> {
  const { config, log, line } = context;
  const rows = await apiDatabase(context).transaction('SELECT', cellRows);
  const show = line.has('verbose') ? (url: string) => url : masked;
  const table = rows
    .map((row) => cellMapping(row, config, log))
    .map(({ name = '', uuid: id, transportUrl, databaseConnection, disabled }) => [
      name,
      id,
      show(transportUrl),
      show(databaseConnection),
      disabled ? 'True' : 'False',
    ])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  printTable(context, ['Name', 'UUID', 'Transport URL', 'Database Connection', 'Disabled'], table);
  return 0;
}

async function deleteCell(context: ServiceContext): Promise<number> {
  const id = option(context, 'cell_uuid') ?? '';
  const [status, text] = await apiDatabase(context).transaction('DELETE', (schema): [number, string] => {
    if (!tableOf(schema, 'cell_mappings').has(id)) return [1, `Cell with uuid ${id} was not found.`];
    const hosts = [...tableOf(schema, 'host_mappings').values()].filter((row) => row['cell'] === id);
    if (hosts.length > 0 && !context.line.has('force'))
      return [2, `There are existing hosts mapped to cell with uuid ${id}.`];
    for (const row of hosts) tableOf(schema, 'host_mappings').delete(String(row['host']));
    tableOf(schema, 'cell_mappings').delete(id);
    return [0, ''];
  });
  if (text !== '') context.process.stdout(`${text}\n`);
  return status;
}

async function listHosts(context: ServiceContext): Promise<number> {
  const rows = await apiDatabase(context).transaction('SELECT', (schema) => {
    const cells = tableOf(schema, 'cell_mappings');
    return [...tableOf(schema, 'host_mappings').values()].map((row) => [
      String(cells.get(String(row['cell']))?.['name']),
      String(row['cell']),
      String(row['host']),
    ]);
  });
  printTable(context, ['Cell Name', 'Cell UUID', 'Hostname'], rows);
  return 0;
}

function printTable({ process }: ServiceContext, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)));
  const rule = `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+\n`;
  const print = (row: readonly string[]): string =>
    `|${widths.map((width, i) => ` ${(row[i] ?? '').padEnd(width)} `).join('|')}|\n`;
  process.stdout(`${rule}${print(head)}${rule}${rows.map(print).join('')}${rule}`);
}

/** `nova-status upgrade check`: 0 well, 1 warnings, 2 failures. */
export const novaStatus: Program = osloProgram({
  project: 'nova',
  programs: ['nova-status'],
  run: async (context) => {
    const { process, line } = context;
    if (line.operands.join(' ') !== 'upgrade check')
      throw new SystemExit(2, 'nova-status: error: argument command: invalid choice');
    await pause(process, 1700);
    const migrated = await apiDatabase(context).transaction('SELECT', (schema) =>
      isMigrated(schema, novaApiMigrations),
    );
    const cells = migrated ? await apiDatabase(context).transaction('SELECT', cellRows) : [];
    const result = !migrated
      ? 'No database migrations'
      : cells.length < 2
        ? "There needs to be at least two cell mappings, one for cell0 and one for your first cell. Run command 'nova-manage cell_v2 simple_cell_setup' and then retry."
        : undefined;
    process.stdout(
      `+----------------------------------+\n| Upgrade Check Results            |\n+----------------------------------+\n| Check: Cells v2                  |\n| Result: ${result === undefined ? 'Success' : 'Failure'}\n| Details: ${result ?? 'None'}\n+----------------------------------+\n`,
    );
    return result === undefined ? 0 : 2;
  },
});
