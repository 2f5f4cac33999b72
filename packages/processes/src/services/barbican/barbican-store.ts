import { hash } from 'node:crypto';
import { type Row, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Config } from '../../oslo/config.ts';
import { Database } from '../../oslo/database.ts';
import { migrate, type ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

export const barbicanDatabase: ProjectDatabase = {
  heads: ['8c74e2d7f1ff'],
  tables:
    'certificate_authorities certificate_authority_metadata container_acl_users container_acls container_consumer_metadata container_secret containers encrypted_data kek_data order_barbican_metadata order_plugin_metadata order_retry_tasks orders preferred_certificate_authorities project_certificate_authorities project_quotas project_secret_store projects secret_acl_users secret_acls secret_consumer_metadata secret_store_metadata secret_stores secret_user_metadata secrets transport_keys',
  // `sqlite:///barbican.sqlite` (barbican.common.config.new_config).
  sqlite: true,
};

const logger = 'barbican.model.repositories';

/**
 * The engine, as every program of Barbican makes it when it starts: it connects, and looks at no table, so that a database
 * that was never migrated is only noticed by requests (`_get_engine`).
 * @throws PythonError BarbicanException
 */
export async function openDatabase(context: ServiceContext): Promise<Database> {
  const { config, log } = context;
  log.info(logger, 'Setting up database engine and session factory');
  const database = new Database(context, barbicanDatabase);
  const makesTables = config.boolean('DEFAULT', 'db_auto_create');
  try {
    await database.transaction('SELECT', () => undefined);
    if (makesTables) await database.transaction('CREATE', (schema) => migrate(schema, barbicanDatabase));
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    const message = `Error configuring registry database with supplied database connection. Got error: ${error.message}`;
    log.exception(logger, message, error);
    throw new PythonError('barbican.common.exception.BarbicanException', message);
  }
  if (!makesTables) log.info(logger, 'Not auto-creating barbican registry DB');
  return database;
}

/** What `simple_crypto` encrypts with where nobody states a key. */
const knownToAll = 'dGhpcnR5X3R3b19ieXRlX2tleWJsYWhibGFoYmxhaGg=';

/**
 * The keys of `simple_crypto`: the first one encrypts the keys of new projects, each decrypts.
 * @throws PythonError ValueError, as cryptography.fernet does; only when one is used
 */
export function masterKeys(config: Config): readonly [string, ...string[]] {
  const [first = knownToAll, ...more] = config.all('simple_crypto_plugin', 'kek');
  if ([first, ...more].some((key) => !/^[A-Za-z0-9_+/-]{43}=$/.test(key)))
    throw new PythonError('ValueError', 'Fernet key must be 32 url-safe base64-encoded bytes.');
  return [first, ...more];
}

/** What is known of a key in a database that it encrypts. */
const markOf = (key: string): string => hash('sha256', key);

/** Keeps a payload under the project's key, which is made when the project has none. @returns false when no key opens that */
export function encrypt(schema: Schema, keys: readonly [string, ...string[]], secret: Row, payload: string): boolean {
  const project = String(secret['project']);
  const known = tableOf(schema, 'kek_data');
  if (!known.has(project)) known.set(project, { id: project, plugin_meta: markOf(keys[0]) });
  if (!opens(schema, keys, project)) return false;
  tableOf(schema, 'encrypted_data').set(String(secret['id']), { project, payload });
  return true;
}

/** The payload of a secret: null when it has none, undefined when no key opens it. */
export function decrypt(schema: Schema, keys: readonly string[], secret: string): string | null | undefined {
  const kept = tableOf(schema, 'encrypted_data').get(secret);
  if (kept === undefined) return null;
  return opens(schema, keys, String(kept['project'])) ? String(kept['payload']) : undefined;
}

function opens(schema: Schema, keys: readonly string[], project: string): boolean {
  const mark = tableOf(schema, 'kek_data').get(project)?.['plugin_meta'];
  return keys.some((key) => markOf(key) === mark);
}

/** What cryptography says of a text that no key opens. */
export const invalidToken = new PythonError('cryptography.fernet.InvalidToken', '');
