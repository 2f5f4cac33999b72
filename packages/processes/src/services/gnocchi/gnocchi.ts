import { rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { upgrade } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import { joinCoordination } from '../../oslo/coordination.ts';
import { Database } from '../../oslo/database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import { pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { serveGnocchi } from './gnocchi-api.ts';
import { gnocchiDatabase, makeStore, storeOf } from './gnocchi-store.ts';

const { start: takes, upgrade: upgradeTakes } = startTimes.gnocchiUpgrade;
const files = ['gnocchi'];

/** Gnocchi 4.6 with storage in files: measures are there as soon as metricd has looked at them. */
export const gnocchi = model({
  project: 'gnocchi',
  images: { 'gnocchi-api': { root: true }, 'gnocchi-metricd': {} },
  programs: {
    'gnocchi-upgrade': {
      takes,
      files,
      flags: 'skip-index skip-storage skip-incoming skip-archive-policies-creation',
      values: 'sacks-number',
      run: async (context) => {
        const { line } = context;
        const database = new Database(context, gnocchiDatabase);
        if (!line.has('skip-index')) await upgrade(context, database, gnocchiDatabase, { takes: upgradeTakes });
        if (!line.has('skip-storage') || !line.has('skip-incoming')) makeStore(context);
        if (line.has('skip-archive-policies-creation')) return 0;
        await database.transaction('INSERT', (schema) => {
          if (rowsOf(schema, 'archive_policy').length > 0) return;
          for (const name of ['low', 'medium', 'high', 'bool']) tableOf(schema, 'archive_policy').set(name, { name });
        });
        return 0;
      },
    },
    'gnocchi-metricd': {
      takes: startTimes.gnocchiMetricd,
      files,
      run: async (context) => {
        const { process, config, log } = context;
        const url = config.optional('DEFAULT', 'coordination_url') ?? '';
        const retried = async (): Promise<boolean> => {
          try {
            await joinCoordination(context, url);
            return true;
          } catch (error) {
            if (!(error instanceof PythonError)) throw error;
            log.exception('gnocchi.utils', 'Unable to initialize coordination driver', error);
            return false;
          }
        };
        while (!(await retried())) if (!(await pause(process, 10_000))) return 0;
        do {
          const { incoming, aggregated } = storeOf(context);
          for (const [metric, measures] of incoming)
            aggregated.set(metric, [...(aggregated.get(metric) ?? []), ...measures]);
          incoming.clear();
        } while (await pause(process, config.integer('metricd', 'metric_processing_delay') * 1000));
        return 0;
      },
    },
  },
  applications: { 'gnocchi.rest.wsgi:application': { takes: startTimes.gnocchiApi, serves: serveGnocchi } },
});
