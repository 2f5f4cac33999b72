import { model } from '../../model/model.ts';
import { PythonError, SystemExit } from '../../oslo/python-error.ts';
import { pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { serveApi } from './adjutant-api.ts';
import { migrate, transaction } from './adjutant-database.ts';
import { loadSettings } from './adjutant-settings.ts';

const { start: takes, migrate: migration } = startTimes.adjutantManage;

/** python-adjutant 10: a Django application that is asked for users and projects, and makes them as an administrator. */
export const adjutant = model({
  project: 'adjutant',
  images: { adjutant: {} },
  programs: {
    'adjutant-api': {
      takes,
      fails: { words: 'System check identified some issues:', status: 1 },
      commands: {
        migrate: {
          run: async ({ process }) => {
            const isNew = await transaction(process, validSettings(process).database, 'CREATE', migrate);
            process.stdout('  Apply all migrations: actions, api, auth, contenttypes, sessions, tasks\n');
            if (isNew) await pause(process, migration);
            else process.stdout('  No migrations to apply.\n');
          },
        },
      },
    },
  },
  applications: { 'adjutant.wsgi:application': { takes: startTimes.adjutantApi, serves: serveApi } },
});

/** A command says what is wrong with its file without a traceback (adjutant.management_command). @throws SystemExit */
function validSettings(process: Parameters<typeof loadSettings>[0]) {
  try {
    return loadSettings(process);
  } catch (error) {
    if (!(error instanceof PythonError) || !error.type.endsWith('InvalidConf')) throw error;
    throw new SystemExit(1, `This command requires a valid config, see following errors:\n${error.message}`);
  }
}
