import { type Process, SystemError } from '@openstack-operator/sandbox';
import {
  connectMysql,
  MysqlError,
  type MysqlRequest,
  type Schema,
  tableOf,
} from '../../infrastructure/mysql-protocol.ts';
import { PythonError } from '../../oslo/python-error.ts';
import { UntrustedServerError } from '../../tls.ts';
import type { Settings } from './adjutant-settings.ts';

/** Tables of all migrations. */
const tables =
  'actions_action api_notification api_token auth_group auth_group_permissions auth_permission auth_user auth_user_groups auth_user_user_permissions django_content_type django_migrations django_session tasks_task';
/** The last migration. */
const last = 'tasks.0002_auto_20190619_0613';

/** `migrate`: makes what is missing; told whether anything was. */
export function migrate(schema: Schema): boolean {
  for (const name of tables.split(' ')) if (!schema.tables.has(name)) schema.tables.set(name, new Map());
  const done = tableOf(schema, 'django_migrations');
  const isNew = !done.has(last);
  done.set(last, { name: last });
  return isNew;
}

/** Runs a transaction over a connection of its own, as Django does for each request. @throws PythonError in the words of MySQLdb */
export async function transaction<T>(
  { network, files, clock }: Process,
  { HOST: host, PORT: port, USER: user, PASSWORD: password, NAME: database, OPTIONS }: Settings['database'],
  privilege: (MysqlRequest & { type: 'transaction' })['privilege'],
  run: (schema: Schema) => T,
): Promise<T> {
  const ca = OPTIONS?.ssl?.ca;
  const trust = ca === undefined ? {} : { trust: { trusted: files.read(ca), now: clock.now() } };
  try {
    const connection = await connectMysql(network, { host, port, user, password, database, ...trust });
    try {
      return await connection.transaction(privilege, run);
    } finally {
      connection.close();
    }
  } catch (error) {
    // As OpenSSL's library says it, without the words of Python's.
    if (error instanceof UntrustedServerError)
      throw operational(2026, `TLS/SSL error: ${/failed: (.*) \(/.exec(error.message)?.[1]}`);
    if (error instanceof SystemError)
      throw error.code === 'ENOTFOUND'
        ? operational(2005, `Unknown server host '${host}' (-2)`)
        : operational(2002, `Can't connect to server on '${host}' (115)`);
    if (!(error instanceof MysqlError)) throw error;
    throw operational(error.code, error.message);
  }
}

function operational(code: number, words: string): PythonError {
  const kind = code === 1146 ? 'ProgrammingError' : 'OperationalError';
  return new PythonError(`django.db.utils.${kind}`, `(${code}, ${JSON.stringify(words)})`);
}
