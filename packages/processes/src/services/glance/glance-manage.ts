import { tableOf } from '../../infrastructure/mysql-protocol.ts';
import { type Command, type ManageProgram, revisions, says, sync, upgrade } from '../../model/manage.ts';
import type { CommandContext } from '../../model/program.ts';
import { Database } from '../../oslo/database.ts';
import { demandTables, type ProjectDatabase, revisionsOf } from '../../oslo/project-database.ts';
import { SystemExit } from '../../oslo/python-error.ts';
import { startTimes } from '../../start-times.ts';

const takes = startTimes.glanceManage;
const [expand, contract] = ['2024_1_expand01', '2024_1_contract01'];

/** Glance 30. */
export const glanceDatabase: ProjectDatabase = {
  heads: [expand, contract],
  tables:
    'images image_locations image_members image_properties image_tags cached_images node_reference tasks task_info metadef_namespaces metadef_objects metadef_properties metadef_resource_types metadef_tags metadef_namespace_resource_types',
};

const upToDate = `Upgraded database to: ${contract}, current revision(s): ${contract}\nDatabase is synced successfully.`;
const migration: Command = {
  run: async (context) => {
    await sync(glanceDatabase, takes.dbSync).run(context, []);
    context.process.stdout(`${upToDate}\n`);
  },
};
const purge: Command = { values: 'max_rows age_in_days', run: purgeRows };

/** `glance-manage`, which reads glance-api.conf. */
export const glanceManage: ManageProgram = {
  takes: takes.start,
  files: ['glance-api', 'glance-manage'],
  underscores: true,
  commands: {
    'db sync': migration,
    'db upgrade': migration,
    'db expand': { run: (context) => migrateTo(context, expand, takes.expand) },
    'db migrate': says('Database is up to date. No migrations needed.'),
    'db contract': {
      run: async (context) => {
        if (!(await revisionsIn(context)).includes(expand))
          throw new SystemExit(
            1,
            'Database contract did not run. Database contract cannot be run before database is expanded. Run database expand first using "glance-manage db expand"',
          );
        return migrateTo(context, contract, takes.contract);
      },
    },
    'db check': {
      run: async (context) => {
        const found = await revisionsIn(context);
        if (!found.includes(expand)) return 3;
        return found.includes(contract) ? 0 : 5;
      },
    },
    'db version': revisions(glanceDatabase),
    'db load_metadefs': { values: 'path', run: loadMetadefs },
    'db purge': purge,
    'db purge_images_table': purge,
  },
};

function revisionsIn(context: CommandContext): Promise<string[]> {
  return new Database(context).transaction('SELECT', revisionsOf);
}

function migrateTo(context: CommandContext, head: string, takes: number): Promise<void> {
  return upgrade(context, new Database(context), glanceDatabase, { takes, heads: [head] });
}

/** Definitions that are there stay; what cannot be read is logged, and is no error (glance.db.sqlalchemy.metadata). */
async function loadMetadefs(context: CommandContext): Promise<void> {
  const { process, config, log } = context;
  const logger = 'glance.db.sqlalchemy.metadata';
  const path = config.text('DEFAULT', 'metadata_source_path', '/etc/glance/metadefs/').replace(/\/+$/, '');
  if (!process.files.exists(path)) {
    log.error(logger, `[Errno 2] No such file or directory: '${path}/'`);
    return;
  }
  const namespaces = process.files
    .list(path)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(process.files.read(`${path}/${name}`)) as { namespace: string });
  if (namespaces.length === 0) log.error(logger, `Json schema files not found in ${path}/. Aborting.`);
  await new Database(context).transaction('INSERT', (schema) => {
    demandTables(schema, 'metadef_namespaces');
    for (const row of namespaces) {
      const table = tableOf(schema, 'metadef_namespaces');
      if (table.has(row.namespace))
        log.info(logger, `Skipping namespace ${row.namespace}. It already exists in the database.`);
      else table.set(row.namespace, { ...row });
    }
  });
}

/** Rows that no API call shows any more; none are kept here. Wrong bounds are refused (glance/cmd/manage.py). */
async function purgeRows(context: CommandContext): Promise<void> {
  const { line } = context;
  const age = line.value('age_in_days') ?? '30';
  const rows = line.value('max_rows') ?? '100';
  if (!/^-?\d+$/.test(age)) throw new SystemExit(2, `argument --age_in_days: invalid int value: '${age}'`);
  if (!/^-?\d+$/.test(rows)) throw new SystemExit(2, `argument --max_rows: invalid int value: '${rows}'`);
  if (Number(age) < 0) throw new SystemExit(1, 'Must supply a non-negative value for age.');
  if (Number(rows) < -1) throw new SystemExit(1, 'Minimal rows limit is -1.');
  await new Database(context).transaction('DELETE', (schema) => schema.tables.size);
}
