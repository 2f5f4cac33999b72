import type { Program } from '@openstack-operator/sandbox';
import { Database } from '../oslo/database.ts';
import { isMigrated, migrate, revisionsOf } from '../oslo/migrations.ts';
import { SystemExit } from '../oslo/python-error.ts';
import { osloProgram, type ServiceContext } from '../oslo/service.ts';
import { nameOf, pause } from '../program-support.ts';
import { idOf } from '../shell/file-commands.ts';
import { startTimes } from '../start-times.ts';
import { demandKeys, initializeKeys, type KeyRepository, loadKeys, rotateKeys } from './fernet-keys.ts';
import { bootstrap } from './keystone-bootstrap.ts';
import { Passwords } from './keystone-passwords.ts';
import { keystoneBranches, keystoneMigrations } from './keystone-schema.ts';

const commands: Readonly<Record<string, (context: ServiceContext) => Promise<number>>> = {
  db_sync: dbSync,
  db_version: async (context) => {
    const revisions = await databaseOf(context).transaction('SELECT', revisionsOf);
    context.process.stdout(`${revisions.join(' ')}\n`);
    return 0;
  },
  bootstrap: bootstrapCommand,
  fernet_setup: (context) => keys(context, 'fernet_tokens', initializeKeys),
  fernet_rotate: (context) => keys(context, 'fernet_tokens', rotateKeys),
  credential_setup: (context) => keys(context, 'credential', initializeKeys),
  credential_rotate: (context) => keys(context, 'credential', rotateKeys),
  credential_migrate: credentialMigrate,
  doctor,
  trust_flush: async (context) => {
    await databaseOf(context).transaction('DELETE', (schema) => schema.tables.get('trust')?.clear());
    return 0;
  },
};

/** `keystone-manage`. */
export const keystoneManage: Program = osloProgram({
  project: 'keystone',
  subcommands: true,
  names: {
    flags: ['expand', 'migrate', 'contract', 'check', 'immutable-roles', 'no-immutable-roles'],
    values: [
      'bootstrap-username',
      'bootstrap-password',
      'bootstrap-project-name',
      'bootstrap-role-name',
      'bootstrap-service-name',
      'bootstrap-admin-url',
      'bootstrap-public-url',
      'bootstrap-internal-url',
      'bootstrap-region-id',
      'keystone-user',
      'keystone-group',
    ],
  },
  run: async (context) => {
    const [name] = context.line.operands;
    const run = name === undefined ? undefined : commands[name];
    if (run === undefined) {
      const program = nameOf(context.process);
      const reason =
        name === undefined
          ? 'the following arguments are required: command'
          : `argument command: invalid choice: '${name}'`;
      throw new SystemExit(
        2,
        `usage: ${program} [bootstrap|credential_migrate|credential_rotate|credential_setup|db_sync|...]\n${program}: error: ${reason}`,
      );
    }
    // Interpreter start and imports.
    await pause(context.process, startTimes.keystoneManage.start);
    return run(context);
  },
});

function databaseOf({ process, config, log }: ServiceContext): Database {
  return new Database({ process, config, log, sqlite: true });
}

async function dbSync(context: ServiceContext): Promise<number> {
  const { process, line, log } = context;
  const database = databaseOf(context);
  if (line.has('check')) return check(context, database);
  if (line.has('migrate')) {
    process.stdout('Data migrations are no longer supported with alembic. This is now a no-op.\n');
    return 0;
  }
  const branches = line.has('expand')
    ? keystoneBranches.expand
    : line.has('contract')
      ? keystoneBranches.contract
      : keystoneMigrations.heads;
  if (line.has('contract')) {
    const revisions = await database.transaction('SELECT', revisionsOf);
    if (!keystoneBranches.expand.every((head) => revisions.includes(head))) {
      throw new SystemExit(
        1,
        'You are attempting to upgrade contract ahead of expand. Please refer to https://docs.openstack.org/keystone/latest/admin/identity-upgrading.html to see the proper steps for rolling upgrades.',
      );
    }
  }
  await migrate(database, keystoneMigrations, branches);
  log.info('alembic.runtime.migration', 'Context impl MySQLImpl.');
  log.info('alembic.runtime.migration', 'Will assume non-transactional DDL.');
  await pause(process, startTimes.keystoneManage.dbSync);
  return 0;
}

async function check({ log }: ServiceContext, database: Database): Promise<number> {
  const revisions = await database.transaction('SELECT', revisionsOf);
  const logger = 'keystone.cmd.cli';
  if (revisions.length === 0) {
    log.info(
      logger,
      'Your database is not currently under version control or the database is already controlled. Your first step is to run `keystone-manage db_sync --expand`.',
    );
    return 2;
  }
  if (!keystoneBranches.expand.every((head) => revisions.includes(head))) {
    log.info(logger, 'Your database is not up to date. Your first step is to run `keystone-manage db_sync --expand`.');
    return 2;
  }
  if (!keystoneBranches.contract.every((head) => revisions.includes(head))) {
    log.info(
      logger,
      'Expand version is ahead of contract. Your next step is to run `keystone-manage db_sync --contract`.',
    );
    return 4;
  }
  log.info(logger, 'All db_sync commands are upgraded to the same version and up-to-date.');
  return 0;
}

async function bootstrapCommand(context: ServiceContext): Promise<number> {
  const { process, line, log, config } = context;
  demandKeys(process, config);
  // The environment comes before the command line (keystone.cmd.cli, do_bootstrap).
  const asked = (name: string): string | undefined =>
    process.env[`OS_BOOTSTRAP_${name.toUpperCase().replaceAll('-', '_')}`] || line.value(`bootstrap-${name}`);
  const password = asked('password');
  if (password === undefined) {
    process.stdout('ERROR: Either --bootstrap-password argument or OS_BOOTSTRAP_PASSWORD must be set.\n');
    return 1;
  }
  const said = await new Database({ process, config, log, sqlite: true }).transaction('INSERT', (schema) =>
    bootstrap(
      schema,
      {
        username: asked('username') ?? 'admin',
        password,
        projectName: asked('project-name') ?? 'admin',
        roleName: asked('role-name') ?? 'admin',
        serviceName: asked('service-name') ?? 'keystone',
        regionId: asked('region-id'),
        urls: { public: asked('public-url'), internal: asked('internal-url'), admin: asked('admin-url') },
      },
      { passwords: new Passwords(config, log), random: process.random },
    ),
  );
  await pause(process, startTimes.keystoneManage.bootstrap);
  for (const text of said) log.info('keystone.cmd.bootstrap', text);
  return 0;
}

function repositoryOf({ process, config, log }: ServiceContext, group: 'fernet_tokens' | 'credential'): KeyRepository {
  return {
    process,
    log,
    group,
    path: config.text(group, 'key_repository').replace(/\/+$/, ''),
    maxActiveKeys: group === 'credential' ? 3 : config.integer(group, 'max_active_keys'),
  };
}

async function keys(
  context: ServiceContext,
  group: 'fernet_tokens' | 'credential',
  run: (repository: KeyRepository) => void,
): Promise<number> {
  const { process, line } = context;
  const user = line.value('keystone-user');
  const owner = line.value('keystone-group');
  if (user !== undefined) idOf(process, '/etc/passwd', user);
  if (owner !== undefined) idOf(process, '/etc/group', owner);
  await pause(process, 300);
  const repository = repositoryOf(context, group);
  if (group === 'credential' && run === rotateKeys) await demandPrimary(context, repository);
  run(repository);
  return 0;
}

/** Credentials that an older key encrypts must be migrated before the next rotation. */
async function demandPrimary(context: ServiceContext, repository: KeyRepository): Promise<void> {
  const [primary] = loadKeys(repository);
  const stale = await databaseOf(context).transaction('SELECT', (schema) =>
    [...(schema.tables.get('credential')?.values() ?? [])].some((row) => row['key_hash'] !== primary),
  );
  if (stale) {
    throw new SystemExit(
      1,
      'Unable to rotate credential keys because not all credentials are encrypted with the primary key. Please make sure all credentials have been encrypted with the primary key using `keystone-manage credential_migrate`.',
    );
  }
}

async function credentialMigrate(context: ServiceContext): Promise<number> {
  const [primary] = loadKeys(repositoryOf(context, 'credential'));
  await databaseOf(context).transaction('UPDATE', (schema) => {
    for (const row of schema.tables.get('credential')?.values() ?? []) row['key_hash'] = primary;
  });
  return 0;
}

async function doctor(context: ServiceContext): Promise<number> {
  const { process } = context;
  const symptoms: string[] = [];
  const migrated = await databaseOf(context).transaction('SELECT', (schema) => isMigrated(schema, keystoneMigrations));
  if (!migrated)
    symptoms.push('Database is not under version control or not up to date: run `keystone-manage db_sync`.');
  for (const group of ['fernet_tokens', 'credential'] as const) {
    if (loadKeys(repositoryOf(context, group)).length === 0) symptoms.push(`[${group}] key_repository is empty.`);
  }
  for (const symptom of symptoms) process.stdout(`\nWARNING: ${symptom}\n`);
  return symptoms.length > 0 ? 1 : 0;
}
