import type { Random } from '@openstack-operator/kube';
import { type Row, type Schema, tableOf } from '../infrastructure/mysql-protocol.ts';
import { KeystoneError } from './keystone-auth.ts';
import type { Passwords } from './keystone-passwords.ts';
import { findRow, findRows, newId } from './keystone-schema.ts';

/** How a collection of the identity API is stored. */
export interface Collection {
  readonly path: string;
  /** Key of one item in bodies. */
  readonly item: string;
  readonly table: string;
  /** Columns that every row of it has and that its list is filtered by. */
  readonly fixed: Row;
  /** Columns that together occur once. */
  readonly unique: readonly string[];
  readonly required: readonly string[];
  readonly defaults: Row;
}

/** The collections that this model serves. */
export const collections: readonly Collection[] = [
  {
    path: 'domains',
    item: 'domain',
    table: 'project',
    fixed: { is_domain: true },
    unique: ['name'],
    required: ['name'],
    defaults: { enabled: true, domain_id: null, description: '' },
  },
  {
    path: 'projects',
    item: 'project',
    table: 'project',
    fixed: { is_domain: false },
    unique: ['name', 'domain_id'],
    required: ['name'],
    defaults: { enabled: true, domain_id: 'default', description: '' },
  },
  {
    path: 'users',
    item: 'user',
    table: 'user',
    fixed: {},
    unique: ['name', 'domain_id'],
    required: ['name'],
    defaults: { enabled: true, domain_id: 'default' },
  },
  {
    path: 'roles',
    item: 'role',
    table: 'role',
    fixed: {},
    unique: ['name', 'domain_id'],
    required: ['name'],
    defaults: { domain_id: null, description: null },
  },
  {
    path: 'services',
    item: 'service',
    table: 'service',
    fixed: {},
    unique: [],
    required: ['type'],
    defaults: { enabled: true },
  },
  {
    path: 'endpoints',
    item: 'endpoint',
    table: 'endpoint',
    fixed: {},
    unique: [],
    required: ['service_id', 'interface', 'url'],
    defaults: { enabled: true, region_id: null },
  },
  {
    path: 'regions',
    item: 'region',
    table: 'region',
    fixed: {},
    unique: ['id'],
    required: [],
    defaults: { description: '', parent_region_id: null },
  },
  {
    path: 'credentials',
    item: 'credential',
    table: 'credential',
    fixed: {},
    unique: [],
    required: ['type', 'blob'],
    defaults: {},
  },
];

/** A row as it is shown: without what is secret. */
export function shown(row: Row, collection: Collection, base: string): Row {
  const { password: _password, key_hash: _hash, ...open } = row;
  const region = collection.item === 'endpoint' ? { region: row['region_id'] } : {};
  return { ...open, ...region, links: { self: `${base}/v3/${collection.path}/${String(row['id'])}` } };
}

/** Rows of a collection that match the query. */
export function listRows(schema: Schema, { table, fixed }: Collection, query: URLSearchParams): Row[] {
  const filters = [...query].filter(([name]) => !['limit', 'marker', 'sort_key', 'sort_dir'].includes(name));
  return findRows(schema, table, fixed).filter((row) =>
    filters.every(([name, value]) => {
      const column = name === 'region' ? 'region_id' : name;
      if (!(column in row)) return true;
      return (
        String(row[column]) === value ||
        (typeof row[column] === 'boolean' && row[column] === !['0', 'false', 'False'].includes(value))
      );
    }),
  );
}

/** @throws KeystoneError 404 */
export function rowOf(schema: Schema, { table, item, fixed }: Collection, id: string): Row {
  const row = findRow(schema, table, id);
  if (row === undefined || Object.entries(fixed).some(([name, value]) => row[name] !== value)) {
    throw new KeystoneError(404, `Could not find ${item}: ${id}.`);
  }
  return row;
}

/** @throws KeystoneError 400, 409 */
export function createRow(
  schema: Schema,
  collection: Collection,
  given: Row,
  { passwords, random }: { passwords: Passwords; random: Random },
): Row {
  const { table, item, fixed, required, defaults } = collection;
  for (const name of required) {
    if (given[name] === undefined) {
      throw new KeystoneError(
        400,
        `Invalid input for field '${item}': '${name}' is a required property\n\nFailed validating 'required' in schema`,
      );
    }
  }
  const row: Row = { id: given['id'] ?? newId(random), ...defaults, ...given, ...fixed };
  if (item === 'project' && row['parent_id'] === undefined) row['parent_id'] = row['domain_id'];
  if (item === 'user' && typeof row['password'] === 'string') row['password'] = passwords.hash(row['password']);
  if (item === 'endpoint') checkEndpoint(schema, row);
  const { domain_id: domain } = row;
  if (typeof domain === 'string' && item !== 'domain' && findRow(schema, 'project', domain)?.['is_domain'] !== true) {
    throw new KeystoneError(404, `Could not find domain: ${domain}.`);
  }
  demandUnique(schema, collection, row);
  tableOf(schema, table).set(String(row['id']), row);
  return row;
}

function checkEndpoint(schema: Schema, row: Row): void {
  if (!['public', 'internal', 'admin'].includes(String(row['interface']))) {
    throw new KeystoneError(
      400,
      `Invalid input for field 'interface': '${String(row['interface'])}' is not one of ['admin', 'internal', 'public']`,
    );
  }
  if (findRow(schema, 'service', String(row['service_id'])) === undefined) {
    throw new KeystoneError(404, `Could not find service: ${String(row['service_id'])}.`);
  }
  row['region_id'] ??= row['region'] ?? null;
  delete row['region'];
  const region = row['region_id'];
  // A region that an endpoint names is made (keystone.api.endpoints, _validate_endpoint_region).
  if (typeof region === 'string' && findRow(schema, 'region', region) === undefined) {
    tableOf(schema, 'region').set(region, { id: region, description: '', parent_region_id: null });
  }
}

function demandUnique(schema: Schema, { table, unique, item, fixed }: Collection, row: Row): void {
  if (unique.length === 0) return;
  const match = Object.fromEntries(unique.map((name) => [name, row[name]]));
  const twin = findRows(schema, table, { ...fixed, ...match }).find(
    (other) => other !== row && (item === 'region' || other['id'] !== row['id']),
  );
  if (twin === undefined) return;
  const { domain_id: domain } = row;
  const at = typeof domain === 'string' ? ` at domain ID ${domain}` : '';
  throw new KeystoneError(
    409,
    `Conflict occurred attempting to store ${item} - Duplicate entry found with name ${String(row['name'] ?? row['id'])}${at}.`,
  );
}

/** @throws KeystoneError 404, 409, 403 for an immutable role */
export function updateRow(
  schema: Schema,
  collection: Collection,
  id: string,
  { given, passwords }: { given: Row; passwords: Passwords },
): Row {
  const row = rowOf(schema, collection, id);
  if (collection.item === 'role' && (row['options'] as Row | undefined)?.['immutable'] === true) {
    throw new KeystoneError(403, `Cannot modify immutable resource role: ${id}.`);
  }
  const changed: Row = { ...row, ...given, id: row['id'] };
  if (collection.item === 'user' && typeof given['password'] === 'string')
    changed['password'] = passwords.hash(given['password']);
  if (collection.item === 'endpoint') checkEndpoint(schema, changed);
  demandUnique(schema, collection, changed);
  return Object.assign(row, changed);
}

/** Removes a row and what hangs on it. @throws KeystoneError 404 */
export function deleteRow(schema: Schema, collection: Collection, id: string): void {
  rowOf(schema, collection, id);
  tableOf(schema, collection.table).delete(id);
  if (collection.item === 'service') dropRows(schema, 'endpoint', 'service_id', id);
  for (const table of ['assignment', 'system_assignment']) {
    for (const column of ['actor_id', 'target_id', 'role_id']) dropRows(schema, table, column, id);
  }
}

function dropRows(schema: Schema, table: string, column: string, value: string): void {
  const rows = tableOf(schema, table);
  for (const [key, row] of rows) if (row[column] === value) rows.delete(key);
}
