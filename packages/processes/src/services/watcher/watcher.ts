import { parseTimestamp } from '@openstack-operator/kube';
import { json } from '../../http.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, versions } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { migrated, revisions, sync, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { startTimes } from '../../start-times.ts';
import { watcherApplier, watcherDatabase, watcherDecisionEngine } from './watcher-servers.ts';

const { start: takes, dbSync } = startTimes.watcherManage;

/** Watcher 14: audits for the goal `dummy`, their plans, and a picture of the hypervisors. */
export const watcher = model({
  project: 'watcher',
  images: { 'watcher-api': { root: true }, 'watcher-engine': {}, 'watcher-applier': {} },
  programs: {
    'watcher-db-manage': {
      takes,
      commands: {
        upgrade: { ...sync(watcherDatabase, dbSync), values: 'revision' },
        version: revisions(watcherDatabase),
        purge: {
          values: 'age-in-days d max-number n goal t',
          flags: 'exclude-orphans e dry-run',
          run: async (context) => {
            // It asks on the terminal (watcher.db.purge).
            const answer = context.process.stdin;
            if (answer === undefined) throw new PythonError('EOFError', 'EOF when reading a line');
            if (answer.startsWith('y'))
              await new Database(context, watcherDatabase).transaction('DELETE', () => undefined);
          },
        },
      },
    },
    'watcher-status': { takes, commands: { 'upgrade check': upgradeCheck({ Migrations: migrated(watcherDatabase) }) } },
    'watcher-decision-engine': watcherDecisionEngine,
    'watcher-applier': watcherApplier,
  },
  applications: {
    'watcher.api.wsgi:initialize_wsgi_app()': { takes: startTimes.watcherApi, serves: serveApi },
  },
});

/** It casts to engines whatever changes something, and looks for the rest in the database. */
function serveApi(context: ServiceContext): WsgiHandler {
  const { config, process } = context;
  const messaging = new Messaging(context);
  const topic = (group: string) => config.text(group, 'conductor_topic');
  const decide = topic('watcher_decision_engine');
  return apiHandler(context, {
    prefix: 'v1',
    open: { '/': versions(200, 'v1') },
    unauthenticated: (config) => !config.boolean('DEFAULT', 'enable_authentication'),
    policy: { roles: ['admin', 'administrator'], rule: 'audit:get_all' },
    words: {
      body: ({ status, message }) => ({ error_message: JSON.stringify({ code: status, faultstring: message }) }),
      notFound: (item, id) => `${item} ${id} could not be found`,
    },
    database: watcherDatabase,
    collections: [
      { path: 'goals', id: 'uuid', readOnly: true },
      {
        path: 'audits',
        id: 'uuid',
        required: ['audit_type'],
        defaults: { state: 'PENDING', auto_trigger: false },
        saving(row, { schema }) {
          const goal = tableOf(schema, 'goals').get(String(row['goal']));
          if (goal === undefined) throw new Fault(404, `Goal ${String(row['goal'])} could not be found`);
          row['goal_name'] = goal['name'];
        },
        made: ({ uuid }) => Promise.resolve(messaging.cast(decide, 'trigger_audit', { audit_uuid: uuid })),
      },
    ],
    routes: {
      services: ({ store }) =>
        store((schema) => {
          const limit = process.clock.now() - config.integer('DEFAULT', 'service_down_time') * 1000;
          const status = (row: Row) => (parseTimestamp(String(row['last_seen_up'])) < limit ? 'FAILED' : 'ACTIVE');
          return json(200, { services: rowsOf(schema, 'services').map((row) => ({ ...row, status: status(row) })) });
        }),
      data_model: async () => json(200, await messaging.call(decide, 'get_data_model_info', {})),
      action_plans: async ({ id, part, store }) => {
        if (id === undefined) return store((schema) => json(200, { action_plans: rowsOf(schema, 'action_plans') }));
        const plan = await store((schema) => {
          const row = tableOf(schema, 'action_plans').get(id);
          if (row === undefined) throw new Fault(404, `ActionPlan ${id} could not be found`);
          if (part !== 'start') return { ...row };
          if (row['state'] !== 'RECOMMENDED')
            throw new Fault(400, `Couldn't start action plan: it is ${String(row['state'])}`);
          return { ...Object.assign(row, { state: 'PENDING' }) };
        });
        if (part === 'start') messaging.cast(topic('watcher_applier'), 'launch_action_plan', { action_plan_uuid: id });
        return json(200, plan);
      },
    },
  });
}
