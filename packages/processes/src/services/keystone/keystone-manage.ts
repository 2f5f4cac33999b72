import { type Row, rowsOf } from '../../infrastructure/mysql-protocol.ts';
import { chosenHeads, type ManageProgram, revisions, upgrade, upgradeCheck } from '../../model/manage.ts';
import type { CommandContext } from '../../model/program.ts';
import { Database } from '../../oslo/database.ts';
import { revisionsOf } from '../../oslo/project-database.ts';
import { SystemExit } from '../../oslo/python-error.ts';
import { pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { demandKeys } from './fernet-keys.ts';
import { bootstrap } from './keystone-bootstrap.ts';
import { Passwords } from './keystone-passwords.ts';
import { contractHead, expandHead, keystoneDatabase } from './keystone-schema.ts';

/** `keystone-manage`. */
export const keystoneManage: ManageProgram = {
  takes: startTimes.keystoneManage.start,
  commands: {
    db_sync: { flags: 'expand migrate contract check', run: dbSync },
    db_version: revisions(keystoneDatabase),
    bootstrap: {
      flags: 'immutable-roles no-immutable-roles',
      values: [
        'bootstrap-username bootstrap-password bootstrap-project-name bootstrap-role-name bootstrap-service-name',
        'bootstrap-admin-url bootstrap-public-url bootstrap-internal-url bootstrap-region-id',
      ].join(' '),
      run: bootstrapCommand,
    },
  },
};

/** `keystone-status`. */
export const keystoneStatus: ManageProgram = {
  takes: startTimes.keystoneManage.start,
  commands: {
    'upgrade check': upgradeCheck({
      'Check default roles are immutable': async (context) => {
        const roles = await new Database(context, keystoneDatabase).transaction('SELECT', (schema) =>
          rowsOf(schema, 'role', { domain_id: null }),
        );
        const failed = roles.filter(
          ({ name, options }) =>
            ['admin', 'member', 'reader'].includes(String(name)) &&
            (options as Row | undefined)?.['immutable'] !== true,
        );
        return failed.length === 0
          ? undefined
          : `Roles are not immutable: ${failed.map(({ name }) => name).join(', ')}`;
      },
    }),
  },
};

async function dbSync(context: CommandContext): Promise<number> {
  const { process, line, log } = context;
  const database = new Database(context, keystoneDatabase);
  if (line.has('check')) {
    const { status, text } = stateOf(await database.transaction('SELECT', revisionsOf));
    log.info('keystone.cmd.cli', text);
    return status;
  }
  if (line.has('migrate')) {
    process.stdout('Data migrations are no longer supported with alembic. This is now a no-op.\n');
    return 0;
  }
  if (line.has('contract') && !(await database.transaction('SELECT', revisionsOf)).includes(expandHead)) {
    throw new SystemExit(
      1,
      'You are attempting to upgrade contract ahead of expand. Please refer to https://docs.openstack.org/keystone/latest/admin/identity-upgrading.html to see the proper steps for rolling upgrades.',
    );
  }
  const heads = chosenHeads(context, keystoneDatabase);
  await upgrade(context, database, keystoneDatabase, { takes: startTimes.keystoneManage.dbSync, heads });
  return 0;
}

/** What `db_sync --check` says of a database at these revisions. */
function stateOf(revisions: readonly string[]): { status: number; text: string } {
  const expand = 'Your first step is to run `keystone-manage db_sync --expand`.';
  if (revisions.length === 0)
    return {
      status: 2,
      text: `Your database is not currently under version control or the database is already controlled. ${expand}`,
    };
  if (!revisions.includes(expandHead)) return { status: 2, text: `Your database is not up to date. ${expand}` };
  const contract = 'Your next step is to run `keystone-manage db_sync --contract`.';
  if (!revisions.includes(contractHead)) return { status: 4, text: `Expand version is ahead of contract. ${contract}` };
  return { status: 0, text: 'All db_sync commands are upgraded to the same version and up-to-date.' };
}

async function bootstrapCommand(context: CommandContext): Promise<number> {
  const { process, line, log, config } = context;
  demandKeys(context);
  // The environment comes before the command line (keystone.cmd.cli, do_bootstrap).
  const asked = (name: string): string | undefined =>
    process.env[`OS_BOOTSTRAP_${name.toUpperCase().replaceAll('-', '_')}`] || line.value(`bootstrap-${name}`);
  const password = asked('password');
  if (password === undefined) {
    process.stdout('ERROR: Either --bootstrap-password argument or OS_BOOTSTRAP_PASSWORD must be set.\n');
    return 1;
  }
  const said = await new Database(context, keystoneDatabase).transaction('INSERT', (schema) =>
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
