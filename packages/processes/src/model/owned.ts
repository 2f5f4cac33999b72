import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../http.ts';
import { type Row, rowsOf, type Schema, tableOf } from '../infrastructure/mysql-protocol.ts';
import type { Call } from './api.ts';
import { Fault } from './fault.ts';

/** What projects have, such as snapshots: all of it is listed, shown, made and deleted alike. */
export interface Owned {
  readonly table: string;
  /** As bodies name one; a list is its plural. */
  readonly item: string;
  /** How one is not found. */
  readonly missing: (id: string) => string;
  readonly shown?: (row: Row, schema: Schema) => Row;
  /** Columns that a list is asked for, by their names in queries. */
  readonly filters?: Readonly<Record<string, string>>;
  readonly make: (call: Call) => Promise<HttpReply>;
  readonly remove: (call: Call, row: Row) => Promise<HttpReply>;
  readonly change?: (call: Call, row: Row) => Promise<HttpReply>;
  /** What is below one, by the part of the path. */
  readonly parts?: Readonly<Record<string, (call: Call, row: Row) => Promise<HttpReply>>>;
}

/** Whether a caller lists what all projects have. */
export const seesAll = ({ identity, query }: Call): boolean =>
  identity.roles.includes('admin') && ['1', 'true', 'True'].includes(query.get('all_tenants') ?? '');

/** A row that is the caller's, or an administrator's who knows its identifier. @throws Fault 404 */
export function demanded(schema: Schema, { identity }: Call, table: string, id: string, missing: string): Row {
  const row = tableOf(schema, table).get(id);
  if (row !== undefined && (identity.roles.includes('admin') || row['project_id'] === identity.projectId)) return row;
  throw new Fault(404, missing);
}

/** Answers a request for what projects have. @throws Fault */
export async function ownedRoute(owned: Owned, call: Call): Promise<HttpReply> {
  const { request, id, part, store, identity, query } = call;
  const { table, item, missing, shown = (row: Row) => row, filters = {}, make, remove, change, parts = {} } = owned;
  if (id === undefined || id === 'detail') {
    if (request.method === 'POST') return make(call);
    const asked = Object.entries(filters).flatMap(([name, column]) =>
      query.has(name) ? [[column, query.get(name)]] : [],
    );
    const columns = { ...(seesAll(call) ? {} : { project_id: identity.projectId }), ...Object.fromEntries(asked) };
    const rows = await store((schema) => rowsOf(schema, table, columns).map((row) => shown(row, schema)));
    return json(200, { [`${item}s`]: rows });
  }
  const { row, view } = await store((schema) => {
    const found = demanded(schema, call, table, id, missing(id));
    return { row: { ...found }, view: shown(found, schema) };
  });
  const below = part === undefined ? undefined : parts[part];
  if (part !== undefined && below === undefined) throw new Fault(404, 'The resource could not be found.');
  if (below !== undefined) return below(call, row);
  if (request.method === 'GET') return json(200, { [item]: view });
  if (request.method === 'DELETE') return remove(call, row);
  if (request.method === 'PUT' && change !== undefined) return change(call, row);
  throw new Fault(405, 'The method is not allowed for the requested URL.');
}
