import { json, plain } from '../../http.ts';
import { rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, type Route, versions } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { upgrade, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import { broker } from '../../model/wsgi.ts';
import { Database } from '../../oslo/database.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { startTimes } from '../../start-times.ts';
import { aodhDatabase, aodhEvaluator, aodhListener, aodhNotifier, recordChange } from './aodh-programs.ts';

const { start: takes, dbSync } = startTimes.aodhCommands;
const files = ['aodh'];
const types =
  'event composite loadbalancer_member_health prometheus gnocchi_resources_threshold gnocchi_aggregation_by_metrics_threshold gnocchi_aggregation_by_resources_threshold';

/** Aodh 20: alarms on events fire; whether a measure passes a threshold no model finds out. */
export const aodh = model({
  project: 'aodh',
  images: { 'aodh-api': { root: true }, 'aodh-evaluator': {}, 'aodh-notifier': {}, 'aodh-listener': {} },
  programs: {
    'aodh-dbsync': {
      takes,
      files,
      run: async (context) => {
        await upgrade(context, new Database(context, aodhDatabase), aodhDatabase, { takes: dbSync });
        return 0;
      },
    },
    'aodh-expirer': {
      takes,
      files,
      run: async (context) => {
        const isKept = context.config.integer('database', 'alarm_history_time_to_live') <= 0;
        const words = 'Nothing to clean, database alarm history time to live is disabled';
        if (isKept) context.log.info('aodh.cmd.storage', words);
        else
          await new Database(context, aodhDatabase).transaction('DELETE', (schema) => rowsOf(schema, 'alarm_history'));
        return 0;
      },
    },
    'aodh-status': {
      takes,
      files,
      commands: { 'upgrade check': upgradeCheck({ Placeholder: () => Promise.resolve(undefined) }) },
    },
    'aodh-evaluator': aodhEvaluator,
    'aodh-listener': aodhListener,
    'aodh-notifier': aodhNotifier,
  },
  applications: { 'aodh.api.app:build_wsgi_app()': { takes: startTimes.aodhApi, serves: serveApi } },
});

/** It connects to nothing before it is asked; of the broker it reads the URL when it tells of the first change. */
function serveApi(context: ServiceContext) {
  const database = new Database(context, aodhDatabase);
  return apiHandler(context, {
    prefix: 'v2',
    open: { '/': versions(200, 'v2'), '/healthcheck': plain(200, 'OK') },
    words: {
      body: ({ message }) => ({ error_message: { debuginfo: null, faultcode: 'Client', faultstring: message } }),
      notFound: (_item, id) => `Alarm ${id} not found`,
      required: (_item, column) =>
        `Invalid input for field/attribute ${column}. Value: 'None'. Mandatory field missing.`,
    },
    database: aodhDatabase,
    collections: [
      {
        path: 'alarms',
        table: 'alarm',
        id: 'alarm_id',
        required: ['name', 'type'],
        defaults: { state: 'insufficient data', state_reason: 'Not evaluated yet', enabled: true, alarm_actions: [] },
        saving: (row, { project }) => {
          const { type } = row;
          if (!types.split(' ').includes(String(type)))
            throw new Fault(400, `Invalid input for field/attribute type. Value: '${String(type)}'.`);
          row['project_id'] ??= project;
        },
        made: (alarm) => {
          broker(context);
          return recordChange(context, database, alarm, 'creation');
        },
      },
    ],
    routes: { alarms },
  });
}

/** Lists are bare, and so is a state. */
const alarms: Route = ({ request, identity, id, part, body, store }) => {
  if (id === undefined)
    return request.method === 'GET'
      ? store((schema) => json(200, rowsOf(schema, 'alarm', { project_id: identity.projectId })))
      : undefined;
  if (part === undefined) return undefined;
  return store((schema) => {
    const alarm = tableOf(schema, 'alarm').get(id);
    if (alarm === undefined) throw new Fault(404, `Alarm ${id} not found`);
    if (part === 'history') return json(200, rowsOf(schema, 'alarm_history', { alarm_id: id }));
    if (part !== 'state') throw new Fault(404, 'Not Found');
    if (request.method === 'PUT') Object.assign(alarm, { state: body, state_reason: 'Manually set via API' });
    return json(200, alarm['state']);
  });
};
