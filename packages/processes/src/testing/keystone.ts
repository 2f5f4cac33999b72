import { mariadbClients } from '../infrastructure/mariadb-client.ts';
import { mariadbInstallDb } from '../infrastructure/mariadb-install-db.ts';
import { mariadbd } from '../infrastructure/mariadb-server.ts';
import { uwsgi } from '../model/uwsgi.ts';
import { keystone } from '../services/keystone/keystone.ts';
import { baseCommands } from '../shell/system-commands.ts';
import { type ContainerOptions, World } from './world.ts';

const databasePrograms = { ...baseCommands, ...mariadbClients, mariadbd, 'mariadb-install-db': mariadbInstallDb };
const programs = {
  ...baseCommands,
  ...keystone.programs,
  uwsgi: uwsgi(keystone.modules),
};

/** keystone.conf. */
export const config = `[DEFAULT]
use_stderr = true
[fernet_tokens]
key_repository = /etc/keystone/fernet-keys
[credential]
key_repository = /etc/keystone/credential-keys
[token]
provider = fernet
[oslo_messaging_notifications]
driver = noop
`;
/** uwsgi.ini. */
export const ini = `[uwsgi]
http-socket = 0.0.0.0:5000
module = keystone.wsgi.api:application
master = true
lazy-apps = true
need-app = true
processes = 2
die-on-term = true
`;
/** Of Keystone's database. */
export const url = 'mysql+pymysql://keystone:pw@mariadb/keystone?charset=utf8';
const keys = {
  '0': 'RHFuYk40d05BM21zZWs5QnhmNFpVVW9ub2stLVpjY3dEZGxmd0hCcTF6UT0=',
  '1': 'MHNxSlc0emE1Q0J4Vmw4ZXdXa0dHNVMyTWZrVHhERjZyVmxSYlBZaFdhZz0=',
};
const keyFiles = Object.fromEntries(
  Object.entries(keys).flatMap(([name, key]) => [
    [`/etc/keystone/fernet-keys/${name}`, Buffer.from(key, 'base64').toString()],
    [`/etc/keystone/credential-keys/${name}`, Buffer.from(key, 'base64').toString()],
  ]),
);

/** What differs from a cloud whose Keystone works. */
export interface Options {
  sql?: string;
  files?: Record<string, string>;
  env?: Record<string, string>;
}

/** A database, and a container for Keystone in which nothing runs yet. */
export async function cloud({
  sql = "CREATE DATABASE keystone; GRANT ALL ON keystone.* TO keystone@'%' IDENTIFIED BY 'pw'",
  files = {},
  env = {},
}: Options = {}) {
  const world = new World();
  const mariadb = world.container({
    host: 'mariadb',
    programs: databasePrograms,
    uid: 42_434,
    directories: ['var/lib/mysql', 'run/mysqld'],
  });
  const server = mariadb.start([
    'sh',
    '-ec',
    'mariadb-install-db --auth-root-authentication-method=normal; exec mariadbd',
  ]);
  await world.clock.run(() => server.output().includes('ready for'));
  await mariadb.run(['mariadb', '-uroot', '-e', sql]);
  const options: ContainerOptions = {
    host: 'keystone',
    programs,
    uid: 42_425,
    files: { '/etc/keystone/keystone.conf': config, '/etc/keystone/uwsgi.ini': ini, ...keyFiles, ...files },
    env: { OS_DATABASE__CONNECTION: url, ...env },
  };
  return { world, mariadb, keystone: world.container(options), server };
}

/** The command that makes the administrator and the endpoints. */
export const bootstrapArguments = [
  'keystone-manage',
  'bootstrap',
  '--bootstrap-region-id',
  'RegionOne',
  '--bootstrap-public-url',
  'http://keystone:5000/v3',
  '--bootstrap-internal-url',
  'http://keystone:5000/v3',
];

/** Keystone that serves. */
export async function running(options?: Options) {
  const parts = await cloud(options);
  const { world, keystone } = parts;
  const sync = await keystone.run(['keystone-manage', 'db_sync']);
  const boot = await keystone.run(bootstrapArguments, { env: { OS_BOOTSTRAP_PASSWORD: 'adminpw' } });
  const api = keystone.start(['uwsgi', '--ini', '/etc/keystone/uwsgi.ini']);
  await world.clock.advance(4000);
  return { ...parts, sync, boot, api };
}

/** The body of a request for a token. */
export function passwordAuth(password: string, project = 'admin', user = 'admin') {
  return {
    auth: {
      identity: { methods: ['password'], password: { user: { name: user, domain: { name: 'Default' }, password } } },
      scope: { project: { name: project, domain: { name: 'Default' } } },
    },
  };
}
