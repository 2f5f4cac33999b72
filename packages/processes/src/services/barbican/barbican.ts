import { type Command, revisions, upgrade, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import { Database } from '../../oslo/database.ts';
import { PythonError, SystemExit } from '../../oslo/python-error.ts';
import { startTimes } from '../../start-times.ts';
import { serveBarbican } from './barbican-api.ts';
import { barbicanKeystoneListener, barbicanWorker } from './barbican-servers.ts';
import { barbicanDatabase } from './barbican-store.ts';

const { start: takes, dbUpgrade } = startTimes.barbicanManage;

/** Barbican 20, with secrets and orders, and the plug-in `simple_crypto`. */
export const barbican = model({
  project: 'barbican',
  images: { 'barbican-api': {}, 'barbican-worker': {}, 'barbican-keystone-listener': {} },
  files: {
    '/etc/barbican/barbican-api-paste.ini':
      '[composite:main]\nuse = egg:Paste#urlmap\n/: barbican_version\n/healthcheck: healthcheck\n/v1: barbican-api-keystone\n',
  },
  programs: {
    'barbican-manage': {
      takes,
      categories: 'db hsm simple_crypto',
      commands: {
        'db upgrade': spoken({
          values: 'db-url version',
          run: async (context) => {
            const { line } = context;
            const version = line.value('version') ?? 'head';
            if (version !== 'head' && !barbicanDatabase.heads.includes(version))
              throw new PythonError(
                'alembic.util.exc.CommandError',
                `Can't locate revision identified by '${version}'`,
              );
            const database = new Database(context, barbicanDatabase, line.value('db-url'));
            await upgrade(context, database, barbicanDatabase, { takes: dbUpgrade });
            return 0;
          },
        }),
        'db current': spoken(revisions(barbicanDatabase)),
      },
    },
    'barbican-status': {
      takes,
      commands: {
        'upgrade check': upgradeCheck({ 'Policy File JSON to YAML Migration': () => Promise.resolve(undefined) }),
      },
    },
    'barbican-worker': barbicanWorker,
    'barbican-keystone-listener': barbicanKeystoneListener,
  },
  applications: {
    'barbican.api.app:get_api_wsgi_script()': {
      takes: startTimes.barbicanApi,
      serves: serveBarbican,
    },
  },
});

/** Of an exception it prints the message, without a traceback (barbican.cmd.barbican_manage.main). */
function spoken(command: Command): Command {
  return {
    ...command,
    run: async (context, words) => {
      try {
        return await command.run(context, words);
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        throw new SystemExit(1, `ERROR: ${error.message}`);
      }
    },
  };
}
