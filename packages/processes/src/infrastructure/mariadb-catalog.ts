import { hash } from 'node:crypto';
import { MysqlError, type Schema } from './mysql-protocol.ts';

/** An account `'user'@'host'`. */
export interface Account {
  readonly user: string;
  readonly host: string;
  /** `passwordHash` of its password. Undefined: nobody can log in by password. */
  hash: string | undefined;
  /** That of another password that it may log in with, too (IDENTIFIED VIA ... OR ...). */
  otherHash?: string | undefined;
  /** Logs in over the Unix socket without a password when the system user has this id. */
  socketUid: number | undefined;
  /** It may log in by TLS alone (REQUIRE SSL). */
  tlsOnly?: boolean;
  /** `*` or a database -> its privileges (upper case; `ALL PRIVILEGES` for all). */
  readonly grants: Map<string, Set<string>>;
}

/** What mysql_native_password keeps of a password; of an empty one nothing. */
export function passwordHash(password: string): string {
  if (password === '') return '';
  return `*${hash('sha1', hash('sha1', password, 'buffer')).toUpperCase()}`;
}

/** An account that may do everything, and let others. */
export function almighty(login: Omit<Account, 'grants'>): Account {
  return { ...login, grants: new Map([['*', new Set(['ALL PRIVILEGES', 'GRANT OPTION'])]]) };
}

/** What a data directory holds. */
export interface MariadbCatalog {
  readonly accounts: Map<string, Account>;
  readonly databases: Map<string, Schema>;
  /** How far it is in the history of a cluster; a group, while its server is in one. */
  readonly wsrep?: { readonly uuid: string; readonly seqno: number };
}

/** System databases: there from the start, and nobody's to drop. */
export const systemDatabases: readonly string[] = ['information_schema', 'mysql', 'performance_schema', 'sys'];

/** A data directory as mariadb-install-db leaves it, without accounts. */
export function emptyCatalog(): MariadbCatalog {
  return {
    accounts: new Map(),
    databases: new Map(systemDatabases.map((name) => [name, newSchema(name, 'utf8mb3')])),
  };
}

/** A database without tables. @throws MysqlError 1115, 1273, 1253 for what is no character set or collation */
export function newSchema(name: string, characterSet: string, collation?: string): Schema {
  const set = characterSet.toLowerCase() === 'utf8' ? 'utf8mb3' : characterSet.toLowerCase();
  const fallback = defaultCollations[set];
  if (fallback === undefined) throw new MysqlError(1115, `Unknown character set: '${characterSet}'`);
  const chosen = collation?.toLowerCase().replace(/^utf8_/, 'utf8mb3_') ?? fallback;
  const owner = Object.keys(defaultCollations).find(
    (known) => chosen.startsWith(`${known}_`) || chosen.startsWith('uca1400_'),
  );
  // Every collation is named after how it compares.
  if (owner === undefined || !/(_(ci|cs|bin)|^binary)$/.test(chosen))
    throw new MysqlError(1273, `Unknown collation: '${collation}'`);
  if (owner !== set && !chosen.startsWith('uca1400_')) {
    throw new MysqlError(1253, `COLLATION '${collation}' is not valid for CHARACTER SET '${set}'`);
  }
  return { name, characterSet: set, collation: chosen, tables: new Map() };
}

const defaultCollations: Readonly<Record<string, string>> = {
  utf8mb3: 'utf8mb3_general_ci',
  utf8mb4: 'utf8mb4_general_ci',
  latin1: 'latin1_swedish_ci',
  ascii: 'ascii_general_ci',
  binary: 'binary',
  ucs2: 'ucs2_general_ci',
  utf16: 'utf16_general_ci',
  utf32: 'utf32_general_ci',
};

/** The key of an account in the catalog. */
export function accountKey(user: string, host: string): string {
  return `${user}@${host.toLowerCase()}`;
}

/** The account that a login from `host` gets: the most specific host pattern wins. */
export function accountFor(catalog: MariadbCatalog, user: string, hosts: readonly string[]): Account | undefined {
  const candidates = [...catalog.accounts.values()].filter(
    (account) => account.user === user && hosts.some((host) => isLike(account.host, host)),
  );
  return candidates.sort((a, b) => specificity(b.host) - specificity(a.host))[0];
}

/** Whether a text is like a pattern, with `%` for any characters and `_` for one. */
export function isLike(pattern: string, text: string): boolean {
  const source = pattern
    .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('%', '.*')
    .replaceAll('_', '.');
  return new RegExp(`^${source}$`, 'i').test(text);
}

function specificity(host: string): number {
  const wildcard = host.search(/[%_]/);
  return wildcard < 0 ? 1000 : wildcard;
}

/** Whether an account holds a privilege on a database (`*` for all of them). */
export function isGranted(account: Account, privilege: string, database: string): boolean {
  for (const [scope, privileges] of account.grants) {
    const covers = scope === '*' || (database !== '*' && isLike(scope.replaceAll('\\_', '_'), database));
    if (covers && (privileges.has('ALL PRIVILEGES') || privileges.has(privilege))) return true;
  }
  return false;
}

/** Whether an account may see and use a database at all. */
export function mayUse(account: Account, database: string): boolean {
  if (database === 'information_schema') return true;
  return [...account.grants].some(
    ([scope, privileges]) =>
      [...privileges].some((privilege) => privilege !== 'GRANT OPTION') &&
      (scope === '*' || isLike(scope.replaceAll('\\_', '_'), database)),
  );
}
