import { databasesOf } from '../../engine/vocabulary/accounts.ts';
import type { Runs } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Keeping, Kept } from '../../engine/vocabulary/keeping.ts';
import { secretReference } from '../../oslo/references.ts';

/** Databases, users and grants of services (`<name>-db-create`), by the mariadb client of the database's own image. */
export const databaseRecords: Keeping = {
  suffix: 'db-create',
  step: 'DatabaseReady',
  target: 'mariadb',
  holds: 'data',
  concerns: ({ databases }) => databases !== undefined,
  list: (kept) => ({
    'client.cnf': `${clientOptions(kept.context).join('\n')}\n`,
    'records.sql': `${statements(kept).join('\n')}\n`,
  }),
  things(kept) {
    const users = usersOf(kept);
    const names = users.map(({ name }) => name).join(', ');
    const databases = users.flatMap((user) => user.databases).join(', ');
    return `databases ${databases} and ${users.length === 1 ? 'user' : 'users'} ${names} of the database server`;
  },
  client: {
    image: 'mariadb-server',
    user: 'mysql',
    keep: (folder) => ({
      // The password is in the option file: on a command line every process of the node could read it.
      command: [
        'mariadb',
        `--defaults-extra-file=${folder}/client.cnf`,
        // Without it the client goes on after a statement that failed, and exits with 0.
        '--abort-source-on-error',
        '-e',
        `source ${folder}/records.sql`,
      ],
    }),
    audit: (folder, kept) => ({ script: auditing(folder, kept) }),
    remove: (folder, kept) => dropping(folder, kept),
  },
};

type Of = Pick<Kept, 'service' | 'context'>;

/** Users with their databases; what is not among the definition's databases is of the service's own user. */
function usersOf({ service, context }: Of) {
  const { accounts } = context;
  return accounts.database.users.map((account) => {
    const more = account.user === undefined ? (service.moreDatabases?.(context) ?? []) : [];
    return { ...account, databases: [...new Set([...databasesOf(accounts, service, account), ...more])] };
  });
}

function clientOptions({ database: { host, port, adminUser, adminPassword } }: Context): string[] {
  return [
    '[client]',
    `host=${host}`,
    `port=${port}`,
    `user="${adminUser('quoted')}"`,
    `password="${adminPassword('quoted')}"`,
    'connect-timeout=10',
  ];
}

function statements(kept: Of): string[] {
  return usersOf(kept).flatMap(({ name, secret, databases }) => {
    const identified = identifiedBy(secret, kept.context.previousOf(secret)?.secret);
    return [
      // COLLATE is pinned: from MariaDB 11.5 on utf8mb3 maps to another collation, and a restore then fails foreign keys.
      ...databases.map(
        (database) => `CREATE DATABASE IF NOT EXISTS \`${database}\` CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci;`,
      ),
      `CREATE USER IF NOT EXISTS '${name}'@'%' IDENTIFIED ${identified};`,
      `ALTER USER '${name}'@'%' IDENTIFIED ${identified};`,
      ...databases.map((database) => `GRANT ALL PRIVILEGES ON \`${database}\`.* TO '${name}'@'%';`),
    ];
  });
}

/** By which password somebody logs in: while pods still use the one before, by either. */
function identifiedBy(secret: string, previous: string | undefined): string {
  const hashOf = (one: string): string => `'${secretReference(one, 'password', 'sqlhash')}'`;
  if (previous === undefined) return `BY PASSWORD ${hashOf(secret)}`;
  const either = [secret, previous].map((one) => `mysql_native_password USING ${hashOf(one)}`);
  return `VIA ${either.join(' OR ')}`;
}

/**
 * Compares what there is before and after the statements, which change nothing that is as it should be. What SHOW GRANTS
 * says has the hash of the password in it: it is compared, and never printed.
 */
function auditing(path: string, kept: Of): string {
  const users = usersOf(kept);
  return `ask() { mariadb --defaults-extra-file=${path}/client.cnf --batch --skip-column-names -e "$1"; }
grants() { ask "SHOW GRANTS FOR '$1'@'%'" 2>/dev/null || true; }
present=$(ask "SHOW DATABASES")
${users.map(({ name }, index) => `before${index}=$(grants ${name})`).join('\n')}
mariadb --defaults-extra-file=${path}/client.cnf --abort-source-on-error -e "source ${path}/records.sql"
findings=
for name in ${users.flatMap(({ databases }) => databases).join(' ')}; do
  if ! printf '%s\n' "$present" | grep -qxF "$name"; then
    findings="\${findings}created database $name
"
  fi
done
compare() {
  if [ -z "$2" ]; then
    findings="\${findings}created user $1
"
  elif [ "$2" != "$(grants "$1")" ]; then
    findings="\${findings}corrected password or grants of user $1
"
  fi
}
${users.map(({ name }, index) => `compare ${name} "$before${index}"`).join('\n')}
printf '%s' "$findings"
printf '%s' "$findings" > /dev/termination-log
`;
}

/**
 * Drops the users, and the databases that nobody else has rights to: two resources may reach one server by two names,
 * which nothing here can tell. Who may not read the rights drops nothing.
 */
function dropping(path: string, kept: Of): Runs {
  const users = usersOf(kept).map(
    ({ name, databases }) => `for name in ${databases.join(' ')}; do
  others=$(ask "SELECT user FROM mysql.db WHERE db = '$name' AND user != '${name}'")
  if [ -n "$others" ]; then
    echo "database $name stays: $(printf '%s' "$others" | tr '\n' ' ') may use it as well"
  else
    ask "DROP DATABASE IF EXISTS \\\`$name\\\`"
  fi
done
ask "DROP USER IF EXISTS '${name}'@'%'"
`,
  );
  const script = `ask() { mariadb --defaults-extra-file=${path}/client.cnf --batch --skip-column-names -e "$1"; }
${users.join('')}`;
  return { command: ['bash', '-euc', script] };
}
