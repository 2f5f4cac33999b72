import { rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { versions } from '../../model/api.ts';
import { bindPatiently } from '../../model/eventlet-server.ts';
import { type Command, revisions, upgrade } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { Database } from '../../oslo/database.ts';
import { parseIni } from '../../oslo/ini-file.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { configTable, serveVersion1, venusDatabase } from './venus-api.ts';

const { start: takes, dbSync } = startTimes.venusManage;

/** How often the manager has something to do, in milliseconds (venus.task.timer). */
const interval = 120_000;

/** What its migrations write down (venus.db.alembic.versions). */
const configured = { log_save_days: '30', anomaly_record_save_days: '30', log_max_gb: '100' };

const sync: Command = {
  run: async (context) => {
    const database = new Database(context, venusDatabase);
    await upgrade(context, database, venusDatabase, { takes: dbSync });
    await database.transaction('INSERT', (schema) => {
      const rows = tableOf(schema, configTable);
      for (const [id, value] of Object.entries(configured)) if (!rows.has(id)) rows.set(id, { id, value });
    });
  },
};

/** `venus_manager task start`: it connects when it has something to do, and goes on whatever fails (venus.task). */
const tasks: Command = {
  run: async (context) => {
    const { log, process } = context;
    const database = new Database(context, venusDatabase);
    log.info('apscheduler.scheduler', 'Scheduler started');
    while (await pause(process, interval)) {
      try {
        const [days] = await database.transaction('SELECT', (schema) =>
          rowsOf(schema, configTable, { id: 'log_save_days' }),
        );
        log.info('venus.common.utils', `es indexes(log) save days: ${String(days?.['value'])}`);
        await database.transaction('INSERT', (schema) => {
          const id = 'last_detect_timestamp';
          tableOf(schema, configTable).set(id, { id, value: String(Math.floor(process.clock.now() / 1000)) });
        });
        log.info('venus.common.utils', 'anomaly detect task done');
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        log.error('venus.common.utils', `anomaly detect task, catch exception:${error.message}`);
      }
    }
    return 0;
  },
};

/** `venus_api` (venus.service.WSGIService): the pipelines are loaded, and then it listens; nobody is connected to before. */
const api: ServiceProgram = {
  takes: startTimes.venusApi,
  files: ['venus'],
  run: async (context) => {
    const { config, log, process } = context;
    const [host, port] = [
      config.text('DEFAULT', 'osapi_venus_listen'),
      config.integer('DEFAULT', 'osapi_venus_listen_port'),
    ];
    await bindPatiently(process, { host, port }, loaded(context));
    log.info('venus.common.utils', `osapi_venus listening on ${host}:${port}`);
    await terminated(process);
    return 0;
  },
};

/** Venus 6, whose `db sync` is mended (images/layers/openstack/finish); no model has an Elasticsearch. */
export const venus = model({
  project: 'venus',
  images: { 'venus-api': {}, 'venus-manager': {} },
  programs: {
    venus_manager: {
      takes,
      files: ['venus'],
      commands: { 'db sync': sync, 'db version': revisions(venusDatabase), 'task start': tasks },
    },
    venus_api: api,
  },
});

/** What its file of Paste may be made of. */
const factories = new Set([
  'oslo_middleware.request_id:RequestId.factory',
  'venus.api.middleware.fault:FaultWrapper.factory',
  'venus.api.middleware.sizelimit:RequestBodySizeLimiter.factory',
  'keystonemiddleware.auth_token:filter_factory',
  'venus.api.middleware.auth:VenusKeystoneContext.factory',
  'venus.modules.version.versions:Versions.factory',
  'venus.api.v1.router:APIRouter.factory',
]);

/** The paths of its file of Paste, and what requests pass there. @throws PythonError */
function loaded(context: ServiceContext) {
  const { config, process } = context;
  const path = config.text('DEFAULT', 'api_paste_config');
  if (!process.files.exists(path))
    throw new PythonError('oslo_config.cfg.ConfigFilesNotFoundError', `Failed to find some config files: ${path}`);
  const stands = new Map(
    parseIni(path, process.files.read(path)).map(({ section, key, value }) => [`${section} ${key}`, value]),
  );
  const optionOf = (section: string, key: string): string => {
    const value = stands.get(`${section} ${key}`);
    if (value === undefined) throw new PythonError('LookupError', `No section '${section}' found in config ${path}`);
    return value;
  };
  const passed = (at: string): readonly string[] => {
    const names = optionOf(`pipeline:${optionOf('composite:osapi_venus', at)}`, 'pipeline').split(/\s+/u);
    return names.map((name, index) => {
      const isApp = index === names.length - 1;
      const factory = optionOf(`${isApp ? 'app' : 'filter'}:${name}`, `paste.${isApp ? 'app' : 'filter'}_factory`);
      if (!factories.has(factory)) throw new PythonError('ImportError', `cannot import ${factory}`);
      return factory;
    });
  };
  passed('/');
  const asksForTokens = passed('/v1').includes('keystonemiddleware.auth_token:filter_factory');
  return serveVersion1(context, { '/': versions(200, 'v1.0') }, asksForTokens);
}
