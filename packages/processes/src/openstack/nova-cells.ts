import { type Row, type Schema, tableOf } from '../infrastructure/mysql-protocol.ts';
import type { Config } from '../oslo/config.ts';
import { Database } from '../oslo/database.ts';
import type { Log } from '../oslo/log.ts';
import type { ServiceContext } from '../oslo/service.ts';

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

/** `[api_database]`. */
export function apiDatabase(context: Pick<ServiceContext, 'process' | 'config' | 'log'>): Database {
  return new Database({ ...context, group: 'api_database' });
}

/** All cells as stored. */
export function cellRows(schema: Schema): Row[] {
  return [...tableOf(schema, 'cell_mappings').values()];
}

/** A mapping as the calling process sees it. */
export function cellMapping(row: Row, config: Config, log: Log): CellMapping {
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
  const [, scheme, username, password, hostname, port, path, query, fragment] = match ?? [];
  const values: Readonly<Record<string, string | undefined>> = {
    scheme,
    username,
    password,
    hostname,
    port,
    path,
    query: query ?? '',
    fragment: fragment ?? '',
  };
  if ([...template.matchAll(/\{(\w*)\}/g)].some(([, name = '']) => !(name in values))) return template;
  return template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => values[name] ?? 'None');
}
