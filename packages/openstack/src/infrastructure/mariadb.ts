import { MariaDB } from '../api/mariadb.ts';
import { defineService } from '../engine/service.ts';
import { dataClaim } from './data-claim.ts';

/**
 * A single MariaDB server on a volume of its own.
 *
 * The data directory lies one level below the mount (`lost+found` would stop mariadb-install-db). Root's password is
 * set from the Secret at every start through `--init-file`, one statement a line because mariadbd executes the file
 * line by line; so a renewed Secret takes effect with the restart that its digest causes. The accounts without a
 * password that mariadb-install-db leaves for the addresses of the host itself go.
 */
export const mariadb = defineService<MariaDB>({
  kind: MariaDB,
  name: 'mariadb',
  user: 'mysql',
  references: [],
  secrets: ({ spec, named }) =>
    spec.rootSecretName === undefined
      ? [
          {
            suffix: 'root-password',
            values: { password: { type: 'password', length: 32 } },
            secretClass: 'credential',
            retained: true,
            guards: { kind: 'PersistentVolumeClaim', name: `data-${named('')}-0`, data: 'the databases' },
          },
        ]
      : [],
  config: () => ({ main: { '/etc/openstack/my.cnf': serverOptions } }),
  components: ({ spec, named }) => {
    const root = spec.rootSecretName ?? named('root-password');
    return {
      server: {
        workload: 'StatefulSet',
        suffix: '',
        image: 'mariadb-server',
        runs: { script: start },
        ports: { mysql: 3306 },
        service: 'headless',
        health: { exec: ['mariadb-admin', '--defaults-extra-file=/run/mysqld/probe.cnf', 'ping'] },
        graceSeconds: 120,
        mounts: [
          { path: '/var/lib/mysql', claim: 'data' },
          { path: '/run/mysqld', scratch: true, memory: true },
          { path: '/etc/openstack/root/password', secret: root, key: 'password' },
        ],
        claims: [dataClaim(spec.storage, '10Gi')],
        resources: { cpu: '50m', memory: '512Mi' },
      },
    };
  },
});

const serverOptions = `[mariadbd]
bind-address = 0.0.0.0
datadir = /var/lib/mysql/data
socket = /run/mysqld/mysqld.sock
pid-file = /run/mysqld/mysqld.pid
# Acknowledged writes survive a crash.
innodb-flush-log-at-trx-commit = 1
sync-binlog = 1
# On since 11.6.2, and then two writers of a row fail with error 1020, which oslo.db does not retry: servers cannot be
# deleted (launchpad.net/bugs/2116186, seen live).
innodb-snapshot-isolation = OFF
max-connections = 1000
max-allowed-packet = 64M
# Pinned: later versions map utf8mb3 to another collation, and foreign keys of a restored dump then fail.
character-set-server = utf8mb3
collation-server = utf8mb3_general_ci
skip-name-resolve
`;

const start = `# Prepares an empty volume, sets root's password, and becomes the server.
data=/var/lib/mysql/data
if [ ! -d "$data/mysql" ]; then
  mariadb-install-db --datadir="$data" --skip-test-db --auth-root-authentication-method=normal
fi
# Of a coordinator's log that a full disk kept from being written not even the header is there: it holds nothing, and the
# server refuses to start with it for ever (seen live).
if [ -f "$data/tc.log" ] && [ -z "$(head -c 4 "$data/tc.log" | tr -d '\\0')" ]; then rm "$data/tc.log"; fi
umask 077
password=$(cat /etc/openstack/root/password)
cat > /run/mysqld/init.sql <<END
ALTER USER root@localhost IDENTIFIED BY '$password';
DROP USER IF EXISTS root@'127.0.0.1';
DROP USER IF EXISTS root@'::1';
DROP USER IF EXISTS root@'$(hostname)';
CREATE USER IF NOT EXISTS root@'%' IDENTIFIED BY '$password';
ALTER USER root@'%' IDENTIFIED BY '$password';
GRANT ALL PRIVILEGES ON *.* TO root@'%' WITH GRANT OPTION;
END
cat > /run/mysqld/probe.cnf <<END
[client]
user=root
password="$password"
socket=/run/mysqld/mysqld.sock
END
exec mariadbd --defaults-file=/etc/openstack/my.cnf --init-file=/run/mysqld/init.sql
`;
