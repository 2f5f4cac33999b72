import { type Row, rowsOf, type Schema } from '../../infrastructure/mysql-protocol.ts';
import { Database } from '../../oslo/database.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

/** cell0's fixed uuid. */
export const cell0 = '00000000-0000-0000-0000-000000000000';

/** A row of nova_api.cell_mappings, with its URL templates filled in. */
export interface CellMapping {
  readonly uuid: string;
  readonly name: string | undefined;
  readonly transportUrl: string;
  readonly databaseConnection: string;
  readonly disabled: boolean;
}

/** Nova 31, the API's database. */
export const novaApiDatabase: ProjectDatabase = {
  group: 'api_database',
  heads: ['cdeec0c85668'],
  tables:
    'aggregates aggregate_hosts aggregate_metadata allocations build_requests cell_mappings flavors flavor_extra_specs flavor_projects host_mappings instance_group_member instance_groups instance_mappings inventories key_pairs project_user_quotas quota_classes quotas request_specs resource_providers',
};

/** Nova 31, a cell's database (cell0 too). */
export const novaDatabase: ProjectDatabase = {
  heads: ['2903cd72dc14'],
  tables:
    'services compute_nodes instances instance_info_caches instance_faults migrations block_device_mapping console_auth_tokens instance_actions instance_extra instance_metadata instance_system_metadata tags task_log virtual_interfaces',
};

type Privilege = Parameters<Database['transaction']>[0];

/** Runs a transaction in the API's database, on a connection of its own. @throws PythonError */
export function inApi<T>(context: ServiceContext, privilege: Privilege, run: (schema: Schema) => T): Promise<T> {
  return once(new Database(context, novaApiDatabase), privilege, run);
}

/** Runs a transaction in a cell's database, or in that of the configuration. @throws PythonError */
export function inCell<T>(
  context: ServiceContext,
  cell: CellMapping | undefined,
  privilege: Privilege,
  run: (schema: Schema) => T,
): Promise<T> {
  return once(new Database(context, novaDatabase, cell?.databaseConnection), privilege, run);
}

async function once<T>(database: Database, privilege: Privilege, run: (schema: Schema) => T): Promise<T> {
  try {
    return await database.transaction(privilege, run);
  } finally {
    database.close();
  }
}

/** All cells, their templates filled in. @throws PythonError */
export async function cellsOf(context: ServiceContext): Promise<CellMapping[]> {
  const rows = await inApi(context, 'SELECT', (schema) => rowsOf(schema, 'cell_mappings'));
  return rows.map((row) => cellMapping(row, context));
}

/** What is found in each cell; one that does not answer has words in the log, and is told of (nova.context, scatter_gather_cells). */
export async function gather<T>(
  context: ServiceContext,
  run: (schema: Schema) => T[],
  lost: (cell: CellMapping) => void = () => undefined,
): Promise<(T & { cell: string })[]> {
  const found: (T & { cell: string })[] = [];
  for (const cell of await cellsOf(context)) {
    try {
      found.push(...(await inCell(context, cell, 'SELECT', run)).map((row) => ({ ...row, cell: cell.uuid })));
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      context.log.error('nova.context', `Error gathering result from cell ${cell.uuid}: ${error.lastLine}`);
      lost(cell);
    }
  }
  return found;
}

/** A mapping as the calling process sees it. */
function cellMapping(row: Row, { config, log }: ServiceContext): CellMapping {
  const fill = (url: string, group: string, option: string, what: string): string => {
    const base = config.optional(group, option);
    if (!url.includes('{')) return url;
    if (base === undefined) {
      log.error('nova.objects.cell_mapping', `Cell mapping ${what} is a template, but [${group}]/${option} is not set`);
      return url;
    }
    return fillTemplate(url, base);
  };
  return {
    uuid: String(row['uuid']),
    name: typeof row['name'] === 'string' ? row['name'] : undefined,
    transportUrl: fill(String(row['transport_url']), 'DEFAULT', 'transport_url', 'transport_url'),
    databaseConnection: fill(String(row['database_connection']), 'database', 'connection', 'database_connection'),
    disabled: row['disabled'] === true,
  };
}

/**
 * `{scheme}://{username}:{password}@{hostname}:{port}/{path}?{query}` from a URL; a missing port becomes `None`. A
 * template with another name stays as it is.
 */
export function fillTemplate(template: string, url: string): string {
  const match =
    /^([\w+]+):\/\/(?:([^:@/]*)(?::([^@]*))?@)?([^:/?]*)(?::(\d+))?\/?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/.exec(url);
  const [, scheme, username, password, hostname, port, path, query = '', fragment = ''] = match ?? [];
  const parts = { scheme, username, password, hostname, port, path, query, fragment };
  const values: Readonly<Record<string, string | undefined>> = parts;
  if ([...template.matchAll(/\{(\w*)\}/g)].some(([, name = '']) => !(name in values))) return template;
  return template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => values[name] ?? 'None');
}
