import { type Account, accountKey, isGranted, passwordHash } from './mariadb-catalog.ts';
import { MysqlError } from './mysql-protocol.ts';
import { databaseDenied, demandDatabase, grantMissing, privilegeMissing } from './sql-errors.ts';
import type { SqlReader } from './sql-parser.ts';
import type { SqlSession } from './sql-session.ts';

type AccountName = Pick<Account, 'user' | 'host'>;

/** An account, and how it logs in from now on, if the statement says so. */
interface Wanted {
  readonly name: AccountName;
  readonly hash?: string;
  readonly otherHash?: string | undefined;
}

function demandCreateUser(session: SqlSession): void {
  if (!isGranted(session.account, 'CREATE USER', '*')) throw privilegeMissing('CREATE USER');
}

/** @throws MysqlError 1396 when there are accounts that a statement could not do anything with */
function refuse(statement: string, failed: readonly AccountName[]): void {
  if (failed.length === 0) return;
  const names = failed.map(({ user, host }) => `'${user}'@'${host}'`);
  throw new MysqlError(1396, `Operation ${statement} failed for ${names.join(',')}`);
}

function accountName(session: SqlSession, reader: SqlReader): AccountName {
  const name = reader.account();
  return name.host === 'CURRENT_USER' ? { user: session.account.user, host: session.account.host } : name;
}

/** A hash as it stands in a statement. @throws MysqlError 1372 */
function givenHash(reader: SqlReader): string {
  const hash = reader.text();
  if (!/^(\*[0-9A-F]{40})?$/i.test(hash))
    throw new MysqlError(1372, 'Password hash should be a 41-digit hexadecimal number');
  return hash.toUpperCase();
}

/** What follows `VIA` or `OR`: a plugin, and what it knows somebody by. */
function byPlugin(reader: SqlReader): string | undefined {
  reader.name();
  if (!reader.accept('USING') && !reader.accept('AS')) return undefined;
  if (!reader.accept('PASSWORD', '(')) return givenHash(reader);
  const hash = passwordHash(reader.text());
  reader.expect(')');
  return hash;
}

/**
 * `IDENTIFIED BY 'x'`, `IDENTIFIED BY PASSWORD 'hash'`, `IDENTIFIED VIA plugin USING PASSWORD('x')`, `... USING 'hash' OR
 * plugin USING 'hash'`, or nothing.
 */
function identification(reader: SqlReader): Pick<Wanted, 'hash' | 'otherHash'> {
  if (!reader.accept('IDENTIFIED')) return {};
  if (reader.accept('BY', 'PASSWORD')) return { hash: givenHash(reader), otherHash: undefined };
  if (reader.accept('BY')) return { hash: passwordHash(reader.text()), otherHash: undefined };
  if (!reader.accept('VIA') && !reader.accept('WITH')) reader.fail();
  const hash = byPlugin(reader);
  return hash === undefined ? {} : { hash, otherHash: reader.accept('OR') ? byPlugin(reader) : undefined };
}

/** The accounts of a statement. */
function wantedAccounts(session: SqlSession, reader: SqlReader): Wanted[] {
  return reader.list(() => ({ name: accountName(session, reader), ...identification(reader) }));
}

/** What an account has to do, and how much it may use; told whether it has to connect by TLS, if the statement says so. */
function accountOptions(reader: SqlReader): Pick<Account, 'tlsOnly'> {
  let said: Pick<Account, 'tlsOnly'> = {};
  for (;;) {
    if (reader.accept('REQUIRE')) {
      const tlsOnly = reader.accept('SSL');
      if (!tlsOnly) reader.expect('NONE');
      said = { tlsOnly };
      continue;
    }
    if (!reader.accept('WITH')) return said;
    while (
      ['MAX_USER_CONNECTIONS', 'MAX_CONNECTIONS_PER_HOUR', 'MAX_QUERIES_PER_HOUR', 'MAX_UPDATES_PER_HOUR'].some(
        (word) => reader.accept(word),
      )
    ) {
      reader.number();
    }
  }
}

/** `CREATE USER`, behind the keyword. */
export function createUser(session: SqlSession, reader: SqlReader, replace: boolean): void {
  const tolerant = reader.accept('IF', 'NOT', 'EXISTS');
  const wanted = wantedAccounts(session, reader);
  const options = accountOptions(reader);
  reader.end();
  demandCreateUser(session);
  const failed: AccountName[] = [];
  for (const { name, hash, otherHash } of wanted) {
    if (session.catalog.accounts.has(accountKey(name.user, name.host)) && !replace) {
      if (!tolerant) failed.push(name);
    } else Object.assign(addAccount(session, name, hash ?? ''), { otherHash, ...options });
  }
  refuse('CREATE USER', failed);
}

function addAccount(session: SqlSession, { user, host }: AccountName, hash: string): Account {
  const account: Account = { user, host, hash, socketUid: undefined, grants: new Map() };
  session.catalog.accounts.set(accountKey(user, host), account);
  return account;
}

/** `ALTER USER`, behind the keyword. */
export function alterUser(session: SqlSession, reader: SqlReader): void {
  const tolerant = reader.accept('IF', 'EXISTS');
  const wanted = wantedAccounts(session, reader);
  const options = accountOptions(reader);
  reader.end();
  const failed: AccountName[] = [];
  for (const { name, hash, otherHash } of wanted) {
    const account = session.catalog.accounts.get(accountKey(name.user, name.host));
    if (account !== session.account) demandCreateUser(session);
    if (account === undefined) failed.push(name);
    else Object.assign(account, options, hash === undefined ? {} : { hash, otherHash, socketUid: undefined });
  }
  if (!tolerant) refuse('ALTER USER', failed);
}

/** `DROP USER`, behind the keyword. */
export function dropUser(session: SqlSession, reader: SqlReader): void {
  const tolerant = reader.accept('IF', 'EXISTS');
  const names = reader.list(() => accountName(session, reader));
  reader.end();
  demandCreateUser(session);
  const failed = names.filter(({ user, host }) => !session.catalog.accounts.delete(accountKey(user, host)));
  if (!tolerant) refuse('DROP USER', failed);
}

const known: ReadonlySet<string> = new Set(
  `ALL|ALL PRIVILEGES|ALTER|ALTER ROUTINE|BINLOG MONITOR|CREATE|CREATE ROUTINE|CREATE TABLESPACE|CREATE TEMPORARY TABLES
|CREATE USER|CREATE VIEW|DELETE|DELETE HISTORY|DROP|EVENT|EXECUTE|FILE|GRANT OPTION|INDEX|INSERT|LOCK TABLES|PROCESS
|REFERENCES|RELOAD|REPLICA MONITOR|REPLICATION CLIENT|REPLICATION SLAVE|SELECT|SHOW DATABASES|SHOW VIEW|SHUTDOWN|SLAVE MONITOR|SUPER
|TRIGGER|UPDATE|USAGE`
    .replaceAll('\n', '')
    .split('|'),
);

function privileges(reader: SqlReader): string[] {
  return reader.list(() => {
    const words: string[] = [];
    while (reader.next?.kind === 'word' && !['ON', 'TO', 'FROM'].includes(reader.next.value.toUpperCase())) {
      words.push(reader.name().toUpperCase());
    }
    const privilege = words.join(' ');
    if (!known.has(privilege)) reader.fail();
    return privilege === 'ALL' ? 'ALL PRIVILEGES' : privilege;
  });
}

/** `ON *.*`, `ON db.*`: `*` or the database. */
function scope(session: SqlSession, reader: SqlReader): string {
  reader.expect('ON');
  if (reader.accept('*')) {
    if (reader.accept('.')) {
      reader.expect('*');
      return '*';
    }
    return demandDatabase(session.database);
  }
  const database = reader.name();
  reader.expect('.', '*');
  return database;
}

/** `GRANT`, behind the keyword. The account must exist unless it is given a password here. */
export function grant(session: SqlSession, reader: SqlReader): void {
  const granted = privileges(reader);
  const database = scope(session, reader);
  reader.expect('TO');
  const wanted = wantedAccounts(session, reader);
  const option = reader.accept('WITH', 'GRANT', 'OPTION');
  accountOptions(reader);
  reader.end();
  demandGrant(session, granted, database);
  for (const { name, hash } of wanted) {
    let account = session.catalog.accounts.get(accountKey(name.user, name.host));
    if (account === undefined) {
      if (hash === undefined) throw new MysqlError(1133, "Can't find any matching row in the user table");
      account = addAccount(session, name, hash);
    } else if (hash !== undefined) Object.assign(account, { hash, socketUid: undefined });
    const held = account.grants.get(database) ?? new Set();
    for (const privilege of granted) if (privilege !== 'USAGE') held.add(privilege);
    if (option) held.add('GRANT OPTION');
    if (held.size > 0) account.grants.set(database, held);
  }
}

function demandGrant(session: SqlSession, wanted: readonly string[], database: string): void {
  const { account } = session;
  const all = account.grants.get('*');
  const here = account.grants.get(database);
  const may = [all, here].some(
    (held) =>
      held?.has('GRANT OPTION') && (held.has('ALL PRIVILEGES') || wanted.every((privilege) => held.has(privilege))),
  );
  if (may) return;
  if (database === '*')
    throw new MysqlError(1045, `Access denied for user '${account.user}'@'${account.host}' (using password: YES)`);
  throw databaseDenied(account, database);
}

/** `REVOKE`, behind the keyword. */
export function revoke(session: SqlSession, reader: SqlReader): void {
  const revoked = privileges(reader);
  const everything =
    revoked.length === 2 &&
    revoked.includes('ALL PRIVILEGES') &&
    revoked.includes('GRANT OPTION') &&
    reader.next?.value.toUpperCase() === 'FROM';
  const database = everything ? undefined : scope(session, reader);
  reader.expect('FROM');
  const names = reader.list(() => accountName(session, reader));
  reader.end();
  demandGrant(session, revoked, database ?? '*');
  for (const { user, host } of names) {
    const account = session.catalog.accounts.get(accountKey(user, host));
    const held = database === undefined ? undefined : account?.grants.get(database);
    if (account === undefined || (database !== undefined && held === undefined)) throw grantMissing({ user, host });
    if (database === undefined) account.grants.clear();
    else if (revoked.includes('ALL PRIVILEGES')) account.grants.delete(database);
    else for (const privilege of revoked) held?.delete(privilege);
  }
}
