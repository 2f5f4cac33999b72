import { headerOf, locationOf, plain } from '../../http.ts';
import { rowsOf } from '../../infrastructure/mysql-protocol.ts';
import { versions } from '../../model/api.ts';
import { serveHttp } from '../../model/eventlet-server.ts';
import { revisions, sync, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { broker } from '../../model/wsgi.ts';
import { Database } from '../../oslo/database.ts';
import { parseIni } from '../../oslo/ini-file.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { serveVersion1, zunDatabase } from './zun-api.ts';

const { start: takes, dbSync } = startTimes.zunManage;

/**
 * `zun-wsproxy`: the broker's URL is parsed, and the database is asked for each websocket, in a process of its own
 * (zun.websocket.websocketproxy). What fails then is said in the log alone; no model has a container with a console.
 */
const proxy: ServiceProgram = {
  takes: startTimes.zunProxy,
  run: async (context) => {
    const { config, log, process } = context;
    broker(context);
    const [host, port] = [
      config.text('websocket_proxy', 'wsproxy_host'),
      config.integer('websocket_proxy', 'wsproxy_port'),
    ];
    serveHttp(process, { host, port }, async (request) => {
      if (headerOf(request, 'upgrade') !== 'websocket') return plain(405, 'Method Not Allowed');
      const uuid = locationOf(request).query.get('uuid') ?? '';
      try {
        const found = await new Database(context, zunDatabase).transaction('SELECT', (schema) =>
          rowsOf(schema, 'container', { uuid }),
        );
        const words = found.length === 0 ? `Container ${uuid} could not be found.` : 'Invalid Websocket Token';
        log.info('zun.websocket.websocketproxy', `handler exception: ${words}`);
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        log.info('zun.websocket.websocketproxy', `handler exception: ${error.message}`);
      }
      return { status: 101 };
    });
    log.info('zun.websocket.websocketproxy', `  - Listen on ${host}:${port}`);
    await terminated(process);
    return 0;
  },
};

/** Zun 15 without a host that runs containers: registries, quotas, and containers that find no host. */
export const zun = model({
  project: 'zun',
  images: { 'zun-api': { root: true }, 'zun-wsproxy': {} },
  programs: {
    'zun-db-manage': {
      takes,
      commands: { upgrade: sync(zunDatabase, dbSync), version: revisions(zunDatabase) },
    },
    'zun-status': {
      takes,
      commands: {
        'upgrade check': upgradeCheck({
          'Numactl Check': () => Promise.resolve("The program 'numactl' is currently not installed."),
          'Policy File JSON to YAML Migration': () => Promise.resolve(undefined),
        }),
      },
    },
    'zun-wsproxy': proxy,
  },
  applications: {
    'zun.api.wsgi:init_application()': {
      takes: startTimes.zunApi,
      connects: [broker],
      serves: (context) => {
        const filters = filtersOf(context);
        return serveVersion1(
          context,
          { '/': versions(200, 'v1'), '/v1': versions(200, 'v1') },
          filters.includes(login),
        );
      },
    },
  },
});

const login = 'zun.api.middleware.auth_token:AuthTokenMiddleware.factory';

/** What its file of Paste may be made of. */
const factories = new Set([
  'oslo_middleware.http_proxy_to_wsgi:HTTPProxyToWSGI.factory',
  'oslo_middleware.cors:filter_factory',
  'oslo_middleware:RequestId.factory',
  login,
  'zun.api.app:app_factory',
]);

/** What requests pass: the filters of `[pipeline:main]` (zun.api.app.load_app). @throws PythonError */
function filtersOf({ process, config }: ServiceContext): readonly string[] {
  const stated = config.text('api', 'api_paste_config');
  const path = stated.startsWith('/') ? stated : `/etc/zun/${stated}`;
  if (!process.files.exists(path))
    throw new PythonError('oslo_config.cfg.ConfigFilesNotFoundError', `Failed to find some config files: ${stated}`);
  const stands = new Map(
    parseIni(path, process.files.read(path)).map(({ section, key, value }) => [`${section} ${key}`, value]),
  );
  const optionOf = (section: string, key: string): string => {
    const value = stands.get(`${section} ${key}`);
    if (value === undefined) throw new PythonError('LookupError', `No section '${section}' found in config ${path}`);
    return value;
  };
  const names = optionOf('pipeline:main', 'pipeline').split(/\s+/u);
  const passed = names.map((name, index) =>
    index === names.length - 1
      ? optionOf(`app:${name}`, 'paste.app_factory')
      : optionOf(`filter:${name}`, 'paste.filter_factory'),
  );
  for (const factory of passed)
    if (!factories.has(factory)) throw new PythonError('ImportError', `cannot import ${factory}`);
  return passed;
}
