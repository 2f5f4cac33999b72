import { MysqlError, type Schema } from '../infrastructure/mysql-protocol.ts';
import type { Database } from './database.ts';

/** What a project's migrations lead to. */
export interface Migrations {
  /** Revision of the newest migration; one a branch. */
  readonly heads: readonly string[];
  readonly tables: readonly string[];
  /** Where the revision is kept; `alembic_version` unless the project says otherwise. */
  readonly versionTable?: string;
}

/** Migrates a schema to its heads: makes what is missing, keeps what is there. */
export async function migrate(database: Database, migrations: Migrations, heads = migrations.heads): Promise<void> {
  const { tables, versionTable = 'alembic_version' } = migrations;
  await database.transaction('CREATE', (schema) => {
    for (const name of [versionTable, ...tables]) if (!schema.tables.has(name)) schema.tables.set(name, new Map());
    const versions = schema.tables.get(versionTable);
    for (const head of heads) versions?.set(head, { version_num: head });
  });
}

/** Revisions that a schema is at; none when it was never migrated. */
export function revisionsOf(schema: Schema, versionTable = 'alembic_version'): string[] {
  return [...(schema.tables.get(versionTable)?.keys() ?? [])];
}

/** Whether a schema is at its heads. */
export function isMigrated(schema: Schema, migrations: Migrations): boolean {
  const revisions = revisionsOf(schema, migrations.versionTable);
  return migrations.heads.every((head) => revisions.includes(head));
}

/** The error of a query on the first table that is missing. @throws MysqlError 1146 */
export function demandTables(schema: Schema, names: readonly string[]): void {
  const missing = names.find((name) => !schema.tables.has(name));
  if (missing !== undefined) throw new MysqlError(1146, '42S02', `Table '${schema.name}.${missing}' doesn't exist`);
}
