import type { Program } from '@openstack-operator/sandbox';
import { tableOf } from '../infrastructure/mysql-protocol.ts';
import { Database } from '../oslo/database.ts';
import { demandTables, isMigrated, type Migrations, migrate, revisionsOf } from '../oslo/migrations.ts';
import { PythonError, SystemExit } from '../oslo/python-error.ts';
import { osloProgram, type ServiceContext } from '../oslo/service.ts';
import { nameOf, pause } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { glanceMigrations, neutronMigrations, placementMigrations } from './service-schemas.ts';

const alembic = 'alembic.runtime.migration';

function usage(context: ServiceContext, words: readonly string[]): never {
  const name = nameOf(context.process);
  const reason =
    words.length === 0
      ? 'the following arguments are required: command'
      : `argument command: invalid choice: '${words.join(' ')}'`;
  throw new SystemExit(2, `usage: ${name} [-h] [--config-file PATH] ...\n${name}: error: ${reason}`);
}

async function sync(
  context: ServiceContext,
  database: Database,
  migrations: Migrations,
  ms: number,
  heads = migrations.heads,
): Promise<void> {
  await migrate(database, migrations, heads);
  context.log.info(alembic, 'Context impl MySQLImpl.');
  context.log.info(alembic, 'Will assume non-transactional DDL.');
  await pause(context.process, ms);
}

/** `glance-manage`: db_sync, db expand/migrate/contract/check, db_load_metadefs. Reads glance-api.conf. */
export const glanceManage: Program = osloProgram({
  project: 'glance',
  subcommands: true,
  names: { flags: ['expand', 'contract'], values: ['path', 'max_rows', 'age_in_days'] },
  programs: ['glance-api', 'glance-manage'],
  run: async (context) => {
    const { process, config, log, line } = context;
    const words =
      line.operands[0] === 'db' ? line.operands.slice(1) : line.operands.map((word) => word.replace(/^db_/, ''));
    await pause(process, startTimes.glanceManage.start);
    const database = new Database({ process, config, log });
    const [expand = '', contract = ''] = glanceMigrations.heads;
    switch (words[0]) {
      case 'sync':
      case 'upgrade':
        await sync(context, database, glanceMigrations, startTimes.glanceManage.dbSync);
        process.stdout(
          `Upgraded database to: ${contract}, current revision(s): ${contract}\nDatabase is synced successfully.\n`,
        );
        return 0;
      case 'expand':
        await sync(context, database, glanceMigrations, startTimes.glanceManage.expand, [expand]);
        return 0;
      case 'migrate':
        process.stdout('Database is up to date. No migrations needed.\n');
        return 0;
      case 'contract': {
        const revisions = await database.transaction('SELECT', revisionsOf);
        if (!revisions.includes(expand))
          throw new SystemExit(
            1,
            'Database contract did not run. Database contract cannot be run before database is expanded. Run database expand first using "glance-manage db expand"',
          );
        await sync(context, database, glanceMigrations, startTimes.glanceManage.contract, [contract]);
        return 0;
      }
      case 'check': {
        const revisions = await database.transaction('SELECT', revisionsOf);
        if (!revisions.includes(expand)) return 3;
        return revisions.includes(contract) ? 0 : 5;
      }
      case 'load_metadefs':
        return loadMetadefs(context, database);
      // Rows that no API call shows any more; none are kept here.
      case 'purge':
      case 'purge_images_table':
        checkBounds(line.value('age_in_days') ?? '30', line.value('max_rows') ?? '100');
        await database.transaction('DELETE', (schema) => schema.tables.size);
        return 0;
      case undefined:
      default:
        return usage(context, line.operands);
    }
  },
});

/** Definitions that are there stay; what cannot be read is logged, and is no error (glance.db.sqlalchemy.metadata). */
async function loadMetadefs({ process, config, log }: ServiceContext, database: Database): Promise<number> {
  const logger = 'glance.db.sqlalchemy.metadata';
  const path = config.text('DEFAULT', 'metadata_source_path', '/etc/glance/metadefs/').replace(/\/+$/, '');
  if (!process.files.exists(path)) {
    log.error(logger, `[Errno 2] No such file or directory: '${path}/'`);
    return 0;
  }
  const namespaces = process.files
    .list(path)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(process.files.read(`${path}/${name}`)) as { namespace: string });
  if (namespaces.length === 0) log.error(logger, `Json schema files not found in ${path}/. Aborting.`);
  await database.transaction('INSERT', (schema) => {
    demandTables(schema, ['metadef_namespaces']);
    for (const row of namespaces) {
      const table = tableOf(schema, 'metadef_namespaces');
      if (table.has(row.namespace))
        log.info(logger, `Skipping namespace ${row.namespace}. It already exists in the database.`);
      else table.set(row.namespace, { ...row });
    }
  });
  return 0;
}

/** What `glance-manage db purge` says of wrong bounds (glance/cmd/manage.py). */
function checkBounds(age: string, rows: string): void {
  if (!/^-?\d+$/.test(age)) throw new SystemExit(2, `argument --age_in_days: invalid int value: '${age}'`);
  if (!/^-?\d+$/.test(rows)) throw new SystemExit(2, `argument --max_rows: invalid int value: '${rows}'`);
  if (Number(age) < 0) throw new SystemExit(1, 'Must supply a non-negative value for age.');
  if (Number(rows) < -1) throw new SystemExit(1, 'Minimal rows limit is -1.');
}

/** `placement-manage`: db sync, db version, db online_data_migrations. */
export const placementManage: Program = osloProgram({
  project: 'placement',
  subcommands: true,
  programs: ['placement'],
  names: { values: ['max-count'] },
  run: async (context) => {
    const { process, config, log, line } = context;
    const [group, task] = line.operands;
    if (group !== 'db') return usage(context, line.operands);
    await pause(process, startTimes.placementManage.start);
    if (config.text('placement_database', 'connection') === undefined)
      throw missing('connection', 'placement_database');
    const database = new Database({ process, config, log, group: 'placement_database' });
    if (task === 'sync') await sync(context, database, placementMigrations, startTimes.placementManage.dbSync);
    else if (task === 'version') process.stdout(`${(await database.transaction('SELECT', revisionsOf)).join(' ')}\n`);
    else if (task === 'online_data_migrations') process.stdout('Running batches of 50 until complete\n');
    else return usage(context, line.operands);
    return 0;
  },
});

/** `placement-status upgrade check`: 0 all is well, 255 an error. */
export const placementStatus: Program = osloProgram({
  project: 'placement',
  subcommands: true,
  programs: ['placement'],
  run: async (context) => {
    const { process, config, log, line } = context;
    if (line.operands.join(' ') !== 'upgrade check') return usage(context, line.operands);
    await pause(process, startTimes.placementManage.start);
    const database = new Database({ process, config, log, group: 'placement_database' });
    await database.transaction('SELECT', (schema) => {
      if (!isMigrated(schema, placementMigrations))
        throw new SystemExit(255, 'Error:\nThe placement database is not up to date.');
    });
    process.stdout(
      '+----------------------+\n| Upgrade Check Results |\n+----------------------+\n| Result: Success       |\n+----------------------+\n',
    );
    return 0;
  },
});

/** oslo.config's complaint about an option that must be given. */
export function missing(option: string, group: string): PythonError {
  return new PythonError('oslo_config.cfg.RequiredOptError', `value required for option ${option} in group [${group}]`);
}

/** `neutron-db-manage`: upgrade heads, --expand, --contract, current, has_offline_migrations. */
export const neutronDbManage: Program = osloProgram({
  project: 'neutron',
  subcommands: true,
  names: { flags: ['expand', 'contract', 'verbose', 'sql', 'split_branches'], values: ['subproject', 'delta'] },
  run: async (context) => {
    const { process, config, log, line } = context;
    const [task, revision] = line.operands;
    await pause(process, startTimes.neutronDbManage.start);
    const database = new Database({ process, config, log });
    const [expand = '', contract = ''] = neutronMigrations.heads;
    if (task === 'upgrade') {
      if (revision === undefined && !line.has('expand') && !line.has('contract'))
        throw new SystemExit(1, 'ERROR: You must provide a revision or relative delta');
      const heads = line.has('expand') ? [expand] : line.has('contract') ? [contract] : neutronMigrations.heads;
      process.stdout('  Running upgrade for neutron ...\n');
      await sync(context, database, neutronMigrations, startTimes.neutronDbManage.upgrade, heads);
      process.stdout('  OK\n');
      return 0;
    }
    const revisions = await database.transaction('SELECT', revisionsOf);
    if (task === 'current') process.stdout(`  Running current for neutron ...\n${revisions.join('\n')}\n  OK\n`);
    else if (task === 'has_offline_migrations') return revisions.includes(contract) || revisions.length === 0 ? 0 : 1;
    else if (task !== 'check_migration' && task !== 'heads') return usage(context, line.operands);
    return 0;
  },
});
