import type { Random } from '@openstack-operator/kube';
import { uuid } from '@openstack-operator/kube';
import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { bodyOf, json, locationOf } from '../http.ts';
import { hasColumns, type Row, rowsOf, type Schema, tableOf } from '../infrastructure/mysql-protocol.ts';
import { Fault, type FaultWords } from './fault.ts';

/** A collection of an API: rows of one table that are listed, shown, made, changed and deleted. */
export interface Collection {
  /** Its part of the path, or its parts; the last one, without `os-` and with `_` for `-`, is the key of its list. */
  readonly path: string;
  /** Key of one of its items in bodies; absent: the body is the item. */
  readonly item?: string;
  /** The key of its list when absent. */
  readonly table?: string;
  /** The key of its list, when that is not what its path says. */
  readonly key?: string;
  /** The column that identifies an item; `id` when absent. */
  readonly id?: string;
  /** Columns that every row of it has, and that its list is filtered by. */
  readonly fixed?: Row;
  readonly defaults?: Row;
  readonly required?: readonly string[];
  /** Sets of columns that together occur once. */
  readonly unique?: readonly (readonly string[])[];
  /** What answers a creation; 201 when absent. */
  readonly created?: number;
  /** What answers a deletion; 204 when absent. */
  readonly removed?: number;
  readonly readOnly?: true;
  /** Its list is under `detail` as well. */
  readonly detail?: true;
  /** PUT stores the whole item under any identifier; this is what one has that nobody stored. */
  readonly replaced?: Row;
  /** An identifier of a new row; a UUID when absent. */
  identify?(use: RowUse, rows: ReadonlyMap<string, Row>): string | number;
  /** What is looked up outside of the database before one is made, or changed by a PUT; `saving` knows it. @throws PythonError */
  before?(): Promise<unknown>;
  /** The notification that is sent after one was made, such as `network.create.end`. */
  readonly notifies?: string;
  /** What is done outside of the database after one was made. @throws PythonError */
  made?(row: Row): Promise<void>;
  /** Before a row is stored: may change it. @throws Fault */
  saving?(row: Row, use: RowUse, before: Row | undefined): void;
  /** After a row has gone. */
  deleted?(row: Row, use: RowUse): void;
  /** A row as bodies show it. */
  shown?(row: Row, use: RowUse): Row;
  /** Changes the query of a list to what it asks of columns. */
  asked?(query: URLSearchParams): void;
  /** What stands beside a list. */
  listed?(use: RowUse): Row;
  /** Columns that are read and written below an item, each under its name; what they are at first. */
  readonly parts?: Row;
  /** What bodies call the column `generation`, which grows with each write of a part; an old one is refused. */
  readonly generation?: string;
  /** Actions below an item, by the next part of the path. */
  readonly actions?: Readonly<Record<string, (row: Row, use: RowUse) => HttpReply>>;
}

/** What a request has to do with rows. */
export interface RowUse {
  readonly schema: Schema;
  readonly request: HttpMessage;
  readonly random: Random;
  /** The caller's project; undefined outside of one. */
  readonly project: string | undefined;
  readonly words: FaultWords;
  /** What `before` of the collection found. */
  readonly known: unknown;
}

/** Words of a query that are no columns. */
const paging = new Set(['limit', 'marker', 'sort_key', 'sort_dir', 'sort', 'fields']);

/** Answers a request for a collection, an item of it, or what lies below one. @throws Fault, MysqlError */
export function answerCollection(
  collection: Collection,
  use: RowUse,
  id: string | undefined,
  part?: string,
): HttpReply {
  const { schema, request } = use;
  const { item, created = 201, removed = 204, readOnly = false } = collection;
  const reading = request.method === 'GET' || request.method === 'HEAD';
  const wrap = (row: Row): Row => {
    const shown = collection.shown?.(row, use) ?? row;
    return item === undefined ? shown : { [item]: shown };
  };
  const notAllowed = new Fault(405, 'The method is not allowed for the requested URL.');
  if (readOnly && !reading) throw notAllowed;
  if (id === undefined || (collection.detail === true && id === 'detail')) {
    if (request.method === 'POST') return json(created, wrap(createRow(collection, use)));
    if (!reading) throw notAllowed;
    const rows = listRows(collection, schema, locationOf(request).query);
    const shown = rows.map((row) => collection.shown?.(row, use) ?? row);
    return json(200, { [keyOf(collection)]: shown, ...collection.listed?.(use) });
  }
  if (collection.replaced !== undefined) return replace(collection, use, id);
  const row = rowOf(collection, use, id);
  if (part !== undefined) {
    const action = collection.actions?.[part];
    return action === undefined ? answerPart(collection, use, row, part) : action(row, use);
  }
  if (reading) return json(200, wrap(row));
  if (request.method === 'PUT' || request.method === 'PATCH') return json(200, wrap(updateRow(collection, use, row)));
  if (request.method !== 'DELETE') throw notAllowed;
  tableOf(schema, tableName(collection)).delete(id);
  collection.deleted?.(row, use);
  return { status: removed };
}

/** A column of an item that has a path of its own. */
function answerPart({ parts = {}, generation, path }: Collection, use: RowUse, row: Row, part: string): HttpReply {
  const { request, words } = use;
  if (!Object.hasOwn(parts, part)) throw new Fault(404, words.notFound(path, part));
  if (request.method === 'PUT') {
    const body = bodyOf(request) ?? {};
    if (generation !== undefined && body[generation] !== row['generation'])
      throw new Fault(409, `${path.replace(/s$/, '').replaceAll('_', ' ')} generation conflict`);
    row[part] = body[part];
    row['generation'] = Number(row['generation']) + 1;
  }
  return json(200, {
    [part]: row[part] ?? parts[part],
    ...(generation !== undefined && { [generation]: row['generation'] }),
  });
}

/** Items that are stored as a whole, whether they were there or not. */
function replace(collection: Collection, { schema, request }: RowUse, id: string): HttpReply {
  const rows = tableOf(schema, tableName(collection));
  if (request.method === 'GET') return json(200, rows.get(id) ?? collection.replaced);
  if (request.method === 'PUT') rows.set(id, bodyOf(request) ?? {});
  else rows.delete(id);
  return { status: 204 };
}

/** The last part of the path, as bodies and tables have it. */
function keyOf({ path, key }: Collection): string {
  if (key !== undefined) return key;
  return path
    .slice(path.lastIndexOf('/') + 1)
    .replace(/^os-/, '')
    .replaceAll('-', '_');
}

function tableName(collection: Collection): string {
  return collection.table ?? keyOf(collection);
}

/** Rows of a collection that match a query: columns that a row has not do not count. */
function listRows(collection: Collection, schema: Schema, query: URLSearchParams): Row[] {
  collection.asked?.(query);
  const filters = [...query].filter(([name]) => !paging.has(name));
  return rowsOf(schema, tableName(collection), collection.fixed).filter((row) =>
    filters.every(([name, value]) => {
      const column = name in row ? row[name] : row[`${name}_id`];
      if (typeof column === 'boolean') return column === !['0', 'false', 'False'].includes(value);
      return column === undefined || textOf(column) === value;
    }),
  );
}

function rowOf(collection: Collection, { schema, words }: RowUse, id: string): Row {
  const row = tableOf(schema, tableName(collection)).get(id);
  if (row !== undefined && hasColumns(row, collection.fixed)) return row;
  throw new Fault(404, words.notFound(nameOf(collection), id));
}

/** A column's value as paths and queries have it. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** What bodies and messages call an item. */
function nameOf({ path, item }: Collection): string {
  return item ?? path.replace(/s$/, '');
}

function givenTo(collection: Collection, { request }: RowUse): Row {
  const { item } = collection;
  const body = bodyOf(request);
  if (body === undefined) throw new Fault(400, 'Malformed json in request body');
  const given = item === undefined ? body : body[item];
  if (typeof given === 'object' && given !== null) return { ...given };
  throw new Fault(400, `Expecting to find ${nameOf(collection)} in request body.`);
}

function createRow(collection: Collection, use: RowUse): Row {
  const { id: column = 'id', required = [], defaults = {}, fixed = {} } = collection;
  const { schema, words, random } = use;
  const given = givenTo(collection, use);
  const lacking = required.find((name) => given[name] === undefined);
  if (lacking !== undefined) throw new Fault(400, words.required(nameOf(collection), lacking));
  const rows = tableOf(schema, tableName(collection));
  const id = given[column] ?? collection.identify?.(use, rows) ?? uuid(random);
  const version = collection.generation === undefined ? {} : { generation: 0 };
  const row: Row = { [column]: id, ...version, ...defaults, ...given, ...fixed };
  collection.saving?.(row, use, undefined);
  demandUnique(collection, use, row);
  rows.set(textOf(id), row);
  return row;
}

function updateRow(collection: Collection, use: RowUse, before: Row): Row {
  const column = collection.id ?? 'id';
  const row: Row = { ...before, ...givenTo(collection, use), [column]: before[column] };
  collection.saving?.(row, use, before);
  demandUnique(collection, use, row, before);
  return Object.assign(before, row);
}

function demandUnique(collection: Collection, { schema, words }: RowUse, row: Row, before?: Row): void {
  for (const columns of collection.unique ?? []) {
    const wanted = { ...collection.fixed, ...Object.fromEntries(columns.map((name) => [name, row[name]])) };
    const twin = rowsOf(schema, tableName(collection), wanted).find((other) => other !== before);
    if (twin !== undefined) throw new Fault(409, words.conflict(nameOf(collection), row));
  }
}

/** The item in the answer of whoever made it. */
export function rowIn({ item }: Collection, { body = '{}' }: HttpReply): Row {
  const answered = JSON.parse(body) as Row;
  return item === undefined ? answered : (answered[item] as Row);
}
