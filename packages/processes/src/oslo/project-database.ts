import { type Schema, tableOf } from '../infrastructure/mysql-protocol.ts';

/** A database of a project: where its URL stands, and what its migrations lead to. */
export interface ProjectDatabase {
  /** The group of `connection`; `database` when absent. */
  readonly group?: string;
  /** Group and option of its URL, where another section than that of its pool has it. */
  readonly url?: readonly [group: string, option: string];
  /** Revision of the newest migration; one a branch, expand before contract. */
  readonly heads: readonly string[];
  /** Names of tables, with blanks between. */
  readonly tables: string;
  /** Without an URL it is a file of SQLite in the working directory, which nobody may write to. */
  readonly sqlite?: true;
}

/** Where revisions are kept. */
const versionTable = 'alembic_version';

/** Migrates a schema to heads: makes what is missing, keeps what is there. */
export function migrate(schema: Schema, { tables, heads: all }: ProjectDatabase, heads = all): void {
  for (const name of [versionTable, ...tables.split(' ')])
    if (!schema.tables.has(name)) schema.tables.set(name, new Map());
  for (const head of heads) schema.tables.get(versionTable)?.set(head, { version_num: head });
}

/** Revisions that a schema is at; none when it was never migrated. */
export function revisionsOf(schema: Schema): string[] {
  return [...(schema.tables.get(versionTable)?.keys() ?? [])];
}

/** The error of a query on the first table that is missing. `names` have blanks between. @throws MysqlError 1146 */
export function demandTables(schema: Schema, names: string): void {
  for (const name of names.split(' ')) tableOf(schema, name);
}
