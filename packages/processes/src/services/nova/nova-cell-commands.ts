import { uuid } from '@openstack-operator/kube';
import { attempt } from '../../attempt.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { CommandContext } from '../../model/program.ts';
import { PythonError } from '../../oslo/python-error.ts';
import { decode, parseDatabaseUrl, parseTransportUrl } from '../../oslo/urls.ts';
import { pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { type CellMapping, cell0, cellsOf, fillTemplate, inApi } from './nova-cells.ts';

/** `cell_v2 map_cell0`: an existing mapping is left as it is. */
export async function mapCell0(context: CommandContext): Promise<number> {
  const { process, config, line } = context;
  const own = config.text('database', 'connection');
  if (!line.has('database_connection') && own === '')
    throw new PythonError('sqlalchemy.exc.ArgumentError', 'Expected string or URL object, got None');
  const connection = line.value('database_connection') ?? defaultCell0(own);
  const created = await addCell(context, {
    uuid: cell0,
    name: 'cell0',
    transport_url: 'none:///',
    database_connection: connection,
    disabled: false,
  });
  if (!created) process.stdout('Cell0 is already setup\n');
  return 0;
}

/** Told whether there was no such cell yet. */
async function addCell(context: CommandContext, cell: Row & { uuid: string }): Promise<boolean> {
  const created = await inApi(context, 'INSERT', (schema) => {
    const cells = tableOf(schema, 'cell_mappings');
    if (cells.has(cell.uuid)) return false;
    cells.set(cell.uuid, cell);
    return true;
  });
  await pause(context.process, startTimes.novaManage.cell);
  return created;
}

/** The main database's URL with `_cell0` behind its name, percent-codes undone (nova.cmd.manage, _map_cell0). */
function defaultCell0(connection: string): string {
  const { database } = parseDatabaseUrl(connection);
  return decode(connection.replace(new RegExp(`/${database}(\\?|$)`), `/${database}_cell0$1`));
}

/** What the command line says, or else the configuration, said aloud; undefined when neither does. */
function urlOf(
  { process, config, line }: CommandContext,
  word: string,
  [group, option]: readonly [string, string],
  warn: boolean,
): string | undefined {
  const given = line.value(word);
  if (given) return given;
  const own = config.text(group, option);
  const where = `[${group}]/${option}`;
  if (own)
    process.stdout(
      `--${word} not provided in the command line, using the value ${where} from the configuration file\n`,
    );
  else if (warn) process.stdout(`Must specify --${word} if ${where} is not set in the configuration file.\n`);
  return own || undefined;
}

function databaseOf(context: CommandContext, warn: boolean): string | undefined {
  return urlOf(context, 'database_connection', ['database', 'connection'], warn);
}

/** Undefined also for what is no URL. */
function transportOf(context: CommandContext, warn: boolean): string | undefined {
  const { process, config } = context;
  const url = urlOf(context, 'transport-url', ['DEFAULT', 'transport_url'], warn);
  if (url === undefined) return undefined;
  return attempt(
    PythonError,
    () => {
      parseTransportUrl(fillTemplate(url, config.text('DEFAULT', 'transport_url')));
      return url;
    },
    ({ message }) => {
      process.stdout(`Invalid transport URL: ${message}\n`);
      return undefined;
    },
  );
}

function twinOf(cells: readonly CellMapping[], own: string | undefined, transport?: string, database?: string) {
  return cells.find(
    (cell) => cell.uuid !== own && (cell.databaseConnection === database || cell.transportUrl === transport),
  );
}

const twinText = (id: string): string =>
  `The specified transport_url and/or database_connection combination already exists for another cell with uuid ${id}.\n`;

/** `cell_v2 create_cell`: 1 without an URL, 2 when a cell has one of them already. */
export async function createCell(context: CommandContext): Promise<number> {
  const { process, line } = context;
  const transport = transportOf(context, true);
  if (transport === undefined) return 1;
  const database = databaseOf(context, true);
  if (database === undefined) return 1;
  const twin = twinOf(await cellsOf(context), undefined, transport, database);
  if (twin !== undefined) {
    process.stdout(twinText(twin.uuid));
    return 2;
  }
  const id = uuid(process.random);
  await addCell(context, {
    uuid: id,
    name: line.value('name'),
    transport_url: transport,
    database_connection: database,
    disabled: line.has('disabled'),
  });
  if (line.has('verbose')) process.stdout(`${id}\n`);
  return 0;
}

/** `cell_v2 update_cell`: 1 unknown, 3 another cell has one of the URLs, 4 and 5 wrong use of --disable. */
export async function updateCell(context: CommandContext): Promise<number> {
  const { process, line } = context;
  const id = line.value('cell_uuid') ?? '';
  const cells = await cellsOf(context);
  const say = (status: number, text: string): number => {
    process.stdout(text);
    return status;
  };
  if (!cells.some((cell) => cell.uuid === id)) return say(1, `Cell with uuid ${id} was not found.\n`);
  const transport = transportOf(context, false);
  const database = databaseOf(context, false);
  const twin = twinOf(cells, id, transport, database);
  if (twin !== undefined) return say(3, twinText(twin.uuid));
  if (line.has('disable') && line.has('enable'))
    return say(4, 'Cell cannot be disabled and enabled at the same time.\n');
  if ((line.has('disable') || line.has('enable')) && id === cell0) return say(5, 'Cell0 cannot be disabled.\n');
  const change: Row = {
    ...(line.value('name') !== undefined && { name: line.value('name') }),
    ...(transport !== undefined && { transport_url: transport }),
    ...(database !== undefined && { database_connection: database }),
    ...(line.has('disable') && { disabled: true }),
    ...(line.has('enable') && { disabled: false }),
  };
  await inApi(context, 'UPDATE', (schema) => Object.assign(tableOf(schema, 'cell_mappings').get(id) ?? {}, change));
  await pause(process, startTimes.novaManage.cell);
  return 0;
}

const masked = (url: string): string => url.replace(/(:\/\/[^:/]*:)[^@]*@/, '$1****@');

/** `cell_v2 list_cells`. */
export async function listCells(context: CommandContext): Promise<number> {
  const show = context.line.has('verbose') ? (url: string) => url : masked;
  const rows = (await cellsOf(context))
    .map(({ name = '', uuid: id, transportUrl, databaseConnection, disabled }) => [
      name,
      id,
      show(transportUrl),
      show(databaseConnection),
      disabled ? 'True' : 'False',
    ])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  printTable(context, ['Name', 'UUID', 'Transport URL', 'Database Connection', 'Disabled'], rows);
  return 0;
}

/** `cell_v2 list_hosts`: of one cell, or of all. */
export async function listHosts(context: CommandContext): Promise<number> {
  const id = context.line.value('cell_uuid');
  const cells = await cellsOf(context);
  if (id !== undefined && !cells.some((cell) => cell.uuid === id)) {
    context.process.stdout(`Cell with uuid ${id} was not found.\n`);
    return 1;
  }
  const rows = await inApi(context, 'SELECT', (schema) =>
    rowsOf(schema, 'host_mappings')
      .filter((row) => id === undefined || row['cell'] === id)
      .map((row) => [
        cells.find((cell) => cell.uuid === row['cell'])?.name ?? 'None',
        String(row['cell']),
        String(row['host']),
      ]),
  );
  printTable(context, ['Cell Name', 'Cell UUID', 'Hostname'], rows);
  return 0;
}

function printTable({ process }: CommandContext, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)));
  const rule = `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+\n`;
  const centred = (text: string, width: number): string =>
    text.padStart(text.length + Math.floor((width - text.length) / 2)).padEnd(width);
  const print = (row: readonly string[]): string =>
    `|${widths.map((width, i) => ` ${centred(row[i] ?? '', width)} `).join('|')}|\n`;
  process.stdout(`${rule}${print(head)}${rule}${rows.map(print).join('')}${rule}`);
}
