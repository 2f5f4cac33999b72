import { plain } from '../../http.ts';
import { type Command, upgrade, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import { parseIni } from '../../oslo/ini-file.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { startTimes } from '../../start-times.ts';
import { databaseOf, freezerDatabase, serveVersion2 } from './freezer-api.ts';

const { start: takes, dbSync } = startTimes.freezerManage;
const files = ['freezer-api'];

/** Freezer's API 16, version 2: clients, their jobs, and the actions of these. */
export const freezer = model({
  project: 'freezer',
  options: 'freezer-api',
  images: { 'freezer-api': {} },
  programs: {
    'freezer-manage': {
      takes,
      files,
      commands: {
        'db sync': managed((context) => upgrade(context, databaseOf(context), freezerDatabase, { takes: dbSync })),
        'db show': managed(async (context) => {
          const names = await databaseOf(context).transaction('SELECT', ({ tables }) => [...tables.keys()]);
          context.process.stdout(names.length > 0 ? `${JSON.stringify(names)}\n` : 'No Tables/Mappings found!\n');
        }),
      },
    },
    'freezer-manager-status': {
      takes,
      files,
      commands: { 'upgrade check': upgradeCheck({}) },
    },
  },
  applications: {
    'freezer_api.service:initialize_app()': {
      takes: startTimes.freezerApi,
      files: ['freezer-api.conf'],
      serves: async (context) => {
        const filters = filtersOf(context);
        return serveVersion2(context, {
          ...(filters.includes('oslo_middleware:Healthcheck.factory') && { '/healthcheck': plain(200, '') }),
        });
      },
    },
  },
});

/** A command of `freezer-manage`: of what fails it prints the message, and ends with status 0 (freezer_api.cmd.manage). */
function managed(run: Command['run']): Command {
  return {
    run: async (context, words) => {
      try {
        await run(context, words);
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        context.log.error('freezer_api.cmd.manage', error.lastLine);
        context.process.stdout(`${error.message}\n`);
      }
    },
  };
}

/** What its file of Paste may be made of. */
const factories = new Set([
  'oslo_middleware:Healthcheck.factory',
  'oslo_middleware:HTTPProxyToWSGI.factory',
  'freezer_api.api.versions:VersionNegotiator.factory',
  'keystonemiddleware.auth_token:filter_factory',
  'freezer_api.api.common.middleware:ContextMiddleware.factory',
  'freezer_api.service:root_app_factory',
  'freezer_api.api.versions:api_versions',
  'freezer_api.service:freezer_appv1_factory',
  'freezer_api.service:freezer_appv2_factory',
]);

/** What requests pass: the filters of `[pipeline:main]` (freezer_api.common.config.find_paste_config). @throws PythonError */
function filtersOf({ process, config }: ServiceContext): readonly string[] {
  const stated = config.text('paste_deploy', 'config_file');
  const path = stated.startsWith('/') ? stated : `/etc/freezer/${stated}`;
  if (!process.files.exists(path))
    throw new PythonError('Exception', `paste configuration file ${stated === path ? path : 'None'} not found !`);
  const options = new Map(
    parseIni(path, process.files.read(path)).map(({ section, key, value }) => [`${section} ${key}`, value]),
  );
  const optionOf = (section: string, key: string): string => {
    const value = options.get(`${section} ${key}`);
    if (value === undefined) throw new PythonError('LookupError', `No section '${section}' found in config ${path}`);
    return value;
  };
  const names = optionOf('pipeline:main', 'pipeline').split(/\s+/u);
  const filters = names.slice(0, -1).map((name) => optionOf(`filter:${name}`, 'paste.filter_factory'));
  const composite = `composite:${names.at(-1)}`;
  // The version that is not served is taken out of the list: it has to be there.
  const apps = ['/', '/v1', '/v2'].map((at) => optionOf(`app:${optionOf(composite, at)}`, 'paste.app_factory'));
  for (const factory of [...filters, optionOf(composite, 'paste.composite_factory'), ...apps])
    if (!factories.has(factory)) throw new PythonError('ImportError', `cannot import ${factory}`);
  return filters;
}
