import { isGranted, newSchema, systemDatabases } from './mariadb-catalog.ts';
import { MysqlError } from './mysql-protocol.ts';
import { databaseDenied } from './sql-errors.ts';
import type { SqlReader } from './sql-parser.ts';
import type { SqlSession } from './sql-session.ts';

function settings(reader: SqlReader): { characterSet?: string; collation?: string } {
  const found: { characterSet?: string; collation?: string } = {};
  for (;;) {
    reader.accept('DEFAULT');
    if (reader.accept('CHARACTER', 'SET') || reader.accept('CHARSET')) {
      reader.accept('=');
      found.characterSet = reader.word();
    } else if (reader.accept('COLLATE')) {
      reader.accept('=');
      found.collation = reader.word();
    } else break;
  }
  reader.end();
  return found;
}

/** `CREATE DATABASE`, behind the keyword. */
export function createDatabase(session: SqlSession, reader: SqlReader, replace: boolean): void {
  const tolerant = reader.accept('IF', 'NOT', 'EXISTS');
  const name = reader.name();
  const { characterSet, collation } = settings(reader);
  const { account, catalog } = session;
  if (!isGranted(account, 'CREATE', name)) throw databaseDenied(account, name);
  const { databases } = catalog;
  const schema = newSchema(name, characterSet ?? collation?.split('_')[0] ?? session.defaultCharacterSet, collation);
  if (databases.has(name) && !replace) {
    if (tolerant) return;
    throw new MysqlError(1007, `Can't create database '${name}'; database exists`);
  }
  databases.set(name, schema);
}

/** `DROP DATABASE`, behind the keyword. */
export function dropDatabase(session: SqlSession, reader: SqlReader): void {
  const tolerant = reader.accept('IF', 'EXISTS');
  const name = reader.name();
  reader.end();
  if (!isGranted(session.account, 'DROP', name)) throw databaseDenied(session.account, name);
  if (systemDatabases.includes(name)) throw new MysqlError(1044, `Access denied for user to database '${name}'`);
  if (!session.catalog.databases.delete(name) && !tolerant) {
    throw new MysqlError(1008, `Can't drop database '${name}'; database doesn't exist`);
  }
}
