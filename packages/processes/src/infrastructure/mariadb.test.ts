import { describe, expect, it } from 'vitest';
import { baseCommands } from '../shell/system-commands.ts';
import { type Container, World } from '../testing/world.ts';
import { mariadbClients } from './mariadb-client.ts';
import { mariadbInstallDb } from './mariadb-install-db.ts';
import { mariadbd, mariadbdSafe } from './mariadb-server.ts';

const programs = {
  ...baseCommands,
  ...mariadbClients,
  mariadbd,
  'mariadbd-safe': mariadbdSafe,
  'mariadb-install-db': mariadbInstallDb,
};
const directories = ['var/lib/mysql', 'run/mysqld'];

/** The start script of the laboratory's StatefulSet. */
const start = `
D=/var/lib/mysql/data
[ -d $D/mysql ] || mariadb-install-db --datadir=$D --skip-test-db --auth-root-authentication-method=normal
cat > /tmp/init.sql <<Q
ALTER USER root@localhost IDENTIFIED BY '$MARIADB_ROOT_PASSWORD';
CREATE USER IF NOT EXISTS root@'%' IDENTIFIED BY '$MARIADB_ROOT_PASSWORD';
GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;
Q
exec mariadbd --datadir=$D --bind-address=0.0.0.0 --max-connections=1000 --innodb-flush-log-at-trx-commit=0 --character-set-server=utf8mb3 --init-file=/tmp/init.sql
`;

async function server(
  script = start,
): Promise<{ world: World; mariadb: Container; client: Container; log: () => string }> {
  const world = new World();
  const mariadb = world.container({
    host: 'mariadb',
    programs,
    uid: 42_434,
    directories,
    env: { MARIADB_ROOT_PASSWORD: 'rootpw' },
  });
  const client = world.container({ host: 'client', programs, uid: 42_434 });
  const running = mariadb.start(['sh', '-ec', script]);
  await world.clock.run(() => /ready for connections|Aborting/.test(running.output()));
  return { world, mariadb, client, log: running.output };
}

const root = ['-hmariadb', '-uroot', '-prootpw'];

describe('mariadbd', () => {
  it('is set up by a start script, and serves clients over the network', async () => {
    const { client, mariadb, log } = await server();
    expect(log()).toMatch(
      /Installing MariaDB\/MySQL system tables in '\/var\/lib\/mysql\/data' ...\nOK\n[\s\S]*ready for connections/,
    );
    const create =
      "CREATE DATABASE IF NOT EXISTS keystone CHARACTER SET utf8mb3;GRANT ALL ON keystone.* TO 'keystone'@'%' IDENTIFIED BY 'pw';\n";
    expect(await client.run(['mariadb', ...root], { stdin: create })).toEqual({ status: 0, output: '' });
    const shown = await client.run([
      'mariadb',
      '-hmariadb',
      '-ukeystone',
      '-ppw',
      '-N',
      '-e',
      'SHOW DATABASES; SELECT CURRENT_USER()',
    ]);
    expect(shown).toEqual({ status: 0, output: 'information_schema\nkeystone\nkeystone@%\n' });
    const ping = ['sh', '-c', 'mariadb-admin ping -h127.0.0.1 -uroot -p$MARIADB_ROOT_PASSWORD'];
    expect(await mariadb.run(ping)).toEqual({ status: 0, output: 'mysqld is alive\n' });
  });

  it('keeps its data when it is started again', async () => {
    const world = new World();
    const container = world.container({
      host: 'mariadb',
      programs,
      uid: 42_434,
      directories,
      env: { MARIADB_ROOT_PASSWORD: 'rootpw' },
    });
    const first = container.start(['sh', '-ec', start]);
    await world.clock.run(() => first.output().includes('ready for'));
    await container.run(['mariadb', ...root, '-e', 'CREATE DATABASE kept']);
    expect(await first.stop()).toBe(0);
    const second = container.start(['sh', '-ec', start]);
    await world.clock.run(() => second.output().includes('ready for'));
    expect(second.output()).not.toContain('Installing');
    expect((await container.run(['mariadb', ...root, '-Ne', "SHOW DATABASES LIKE 'kept'"])).output).toBe('kept\n');
  });

  // Words of mariadb 10.11.19, run for this.
  it.each([
    [
      ['-hmariadb', '-uroot', '-pbad', '-e', 'SELECT 1'],
      "ERROR 1045 (28000): Access denied for user 'root'@'10.244.0.3' (using password: YES)",
    ],
    [['-hmariadb', '-uroot', '-e', 'SELECT 1'], 'ERROR 2026 (HY000): TLS/SSL error: self-signed certificate'],
    [['-hnowhere', '-uroot', '-e', 'SELECT 1'], "ERROR 2005 (HY000): Unknown server host 'nowhere' (-2)"],
    [
      ['-hmariadb', '-P3307', '-uroot', '-e', 'SELECT 1'],
      "ERROR 2002 (HY000): Can't connect to server on 'mariadb' (115)",
    ],
    [
      ['-uroot', '-e', 'SELECT 1'],
      "ERROR 2002 (HY000): Can't connect to local server through socket '/run/mysqld/mysqld.sock' (2)",
    ],
    [[...root, 'nova', '-e', 'SELECT 1'], "ERROR 1049 (42000): Unknown database 'nova'"],
    [[...root, '-e', 'GRAN foo'], "for the right syntax to use near 'GRAN foo' at line 1"],
    [[...root, '-e', 'CREATE DATABASE bad-name'], "to use near '-name' at line 1"],
    [
      [...root, '-e', "GRANT ALL ON k.* TO nobody@'%'"],
      "ERROR 1133 (28000) at line 1: Can't find any matching row in the user table",
    ],
    [
      [...root, '-e', "ALTER USER none@'%' IDENTIFIED BY 'x'"],
      "ERROR 1396 (HY000) at line 1: Operation ALTER USER failed for 'none'@'%'",
    ],
    [
      [...root, '-e', 'CREATE DATABASE b CHARACTER SET nope'],
      "ERROR 1115 (42000) at line 1: Unknown character set: 'nope'",
    ],
    [
      ['--defaults-file=/none.cnf'],
      'Could not open required defaults file: /none.cnf\nFatal error in defaults handling. Program aborted',
    ],
    [['--nosuch'], "mariadb: unknown option '--nosuch'"],
  ])('refuses a client with %j', async (argv, words) => {
    const { client } = await server();
    const { status, output } = await client.run(['mariadb', ...argv]);
    expect(output).toContain(words);
    expect(status).not.toBe(0);
  });

  it('lets a user touch only what is granted', async () => {
    const { client } = await server();
    await client.run([
      'mariadb',
      ...root,
      '-e',
      "CREATE DATABASE k; CREATE DATABASE other; CREATE USER k IDENTIFIED BY 'x'; GRANT ALL ON k.* TO k",
    ]);
    const as = async (...argv: string[]) => (await client.run(['mariadb', '-hmariadb', '-uk', '-px', ...argv])).output;
    expect(await as('other', '-e', 'SELECT 1')).toContain(
      "ERROR 1044 (42000): Access denied for user 'k'@'%' to database 'other'",
    );
    expect(await as('-e', 'CREATE DATABASE zz')).toContain(
      "ERROR 1044 (42000) at line 1: Access denied for user 'k'@'%' to database 'zz'",
    );
    expect(await as('-e', "CREATE USER a@'%'")).toContain('you need (at least one of) the CREATE USER privilege(s)');
    await client.run(['mariadb', ...root, '-e', "ALTER USER k@'%' IDENTIFIED BY 'y'"]);
    expect(await as('-e', 'SELECT 1')).toContain('ERROR 1045');
  });

  it('takes what it keeps of a password for the password', async () => {
    const { client } = await server();
    const create = (hash: string) =>
      client.run(['mariadb', ...root, '-e', `CREATE USER k IDENTIFIED BY PASSWORD '${hash}'`]);
    expect((await create('secretpw')).output).toContain('Password hash should be a 41-digit hexadecimal number');
    await create('*7648E52EC79D4BB879B7B913F0B8BBF8DC4AB6CC');
    const logIn = (password: string) => client.run(['mariadb', '-hmariadb', '-uk', `-p${password}`, '-e', 'SELECT 1']);
    expect((await logIn('secretpw')).status).toBe(0);
    expect((await logIn('another')).output).toContain('ERROR 1045');
  });

  it('stops a script at its first error, but not a sourced file', async () => {
    const { client } = await server();
    const script = 'CREATE DATABASE a;\nDROP DATABASE nothere;\nCREATE DATABASE b;\n';
    const direct = await client.run(['mariadb', ...root], { stdin: script });
    expect(direct.status).toBe(1);
    expect(direct.output).toContain(
      "ERROR 1008 (HY000) at line 2: Can't drop database 'nothere'; database doesn't exist",
    );
    client.files.write('/tmp/x.sql', script.replace('CREATE DATABASE a;', ''));
    const sourced = await client.run(['mariadb', ...root, '-e', 'source /tmp/x.sql']);
    expect(sourced.status).toBe(0);
    expect(sourced.output).toContain("in file: '/tmp/x.sql'");
    expect((await client.run(['mariadb', ...root, '-Ne', 'SHOW DATABASES'])).output).toContain('a\nb\n');
  });

  it('stops a sourced file as well when it is told to', async () => {
    const { client } = await server();
    client.files.write('/tmp/x.sql', 'DROP DATABASE nothere; CREATE DATABASE zz;');
    const { status } = await client.run(['mariadb', ...root, '--abort-source-on-error', '-e', 'source /tmp/x.sql']);
    expect(status).toBe(1);
    expect((await client.run(['mariadb', ...root, '-Ne', 'SHOW DATABASES'])).output).not.toContain('zz');
  });

  it('has a root without password on 127.0.0.1 when names are not resolved', async () => {
    const { mariadb } = await server(start.replace('--init-file', '--skip-name-resolve --init-file'));
    const by = (...argv: string[]) =>
      mariadb.run(['mariadb', '-h127.0.0.1', '-uroot', ...argv, '-Ne', 'SELECT CURRENT_USER()']);
    expect((await by('-prootpw')).output).toContain("Access denied for user 'root'@'127.0.0.1' (using password: YES)");
    expect((await by()).output).toBe('root@127.0.0.1\n');
  });

  it('says that it is alive even to a wrong password', async () => {
    const { client } = await server();
    expect((await client.run(['mariadb-admin', '-hmariadb', '-uroot', '-pbad', 'ping'])).status).toBe(0);
    expect((await client.run(['mariadb-admin', '-hmariadb', '-uroot', '-pbad', 'status'])).status).toBe(1);
    expect((await client.run(['mariadb-admin', '-hmariadb', '-P1', 'ping'])).status).toBe(1);
  });

  it.each([
    [
      'exec mariadbd --datadir=/var/lib/mysql/none',
      1,
      "Can't change dir to '/var/lib/mysql/none/' (Errcode: 2 \"No such file or directory\")",
    ],
    [
      'exec mariadbd --datadir=/var/lib/mysql',
      1,
      "Fatal error: Can't open and lock privilege tables: Table 'mysql.db' doesn't exist",
    ],
    ['mariadb-install-db; exec mariadbd --nosuch=1', 7, "mariadbd: unknown variable 'nosuch=1'"],
    [
      'mariadb-install-db; exec mariadbd --socket=/nope/s.sock',
      1,
      "Can't start server : Bind on unix socket: No such file or directory",
    ],
    [
      'mariadb-install-db; exec mariadbd --init-file=/nope.sql',
      1,
      "Can't create/write to file '/nope.sql' (Errcode: 2 \"No such file or directory\")",
    ],
    ['exec mariadbd --defaults-file=/nope/my.cnf', 1, 'Could not open required defaults file: /nope/my.cnf'],
  ])('%s ends with %i', async (script, status, words) => {
    const world = new World();
    const container = world.container({ host: 'mariadb', programs, uid: 42_434, directories });
    const result = await container.run(['sh', '-ec', script]);
    expect(result.output).toContain(words);
    expect(result.status).toBe(status);
  });

  it('ends its init file at the first error and starts all the same', async () => {
    const { client, log } = await server(
      start.replace("ALTER USER root@localhost IDENTIFIED BY '$MARIADB_ROOT_PASSWORD';", 'SELECT 1; SELECT 2;'),
    );
    expect(log()).toContain('ERROR: 1064  You have an error in your SQL syntax');
    expect(log()).toContain('ready for connections');
    expect((await client.run(['mariadb', ...root, '-e', 'SELECT 1'])).output).toContain('ERROR 1045');
  });
});
