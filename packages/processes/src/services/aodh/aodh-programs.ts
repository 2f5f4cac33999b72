import { uuid } from '@openstack-operator/kube';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import { now } from '../../model/service-rows.ts';
import { Database } from '../../oslo/database.ts';
import { KeystoneSession } from '../../oslo/keystone-session.ts';
import { notificationTransport, notify } from '../../oslo/notifier.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

export const aodhDatabase: ProjectDatabase = { heads: ['007'], tables: 'alarm alarm_history quota' };

/** An event as Ceilometer makes it of a notification. */
export interface AodhEvent {
  readonly event_type: string;
  readonly message_id: string;
}

/** Workers of a program, which are followed by others when they fail. */
const workers = (run: (context: ServiceContext) => Promise<unknown>): ServiceProgram => ({
  takes: startTimes.aodhProgram,
  files: ['aodh'],
  run: async (context) => {
    await respawning(context, () => run(context));
    return 0;
  },
});

/** `aodh-evaluator`: looks at all alarms but those on events, every so often. */
export const aodhEvaluator = workers(async (context) => {
  const { process, config, log } = context;
  const logger = 'aodh.evaluator';
  const database = new Database(context, aodhDatabase);
  const session = new KeystoneSession(process, config, 'service_credentials');
  do {
    try {
      const alarms = await database.transaction('SELECT', (schema) =>
        rowsOf(schema, 'alarm', { enabled: true }).filter(({ type }) => type !== 'event'),
      );
      log.info(logger, `initiating evaluation cycle on ${alarms.length} alarms`);
      if (alarms.length > 0) await measures(context, session);
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      log.exception(logger, 'alarm evaluation cycle failed', error);
    }
  } while (await pause(process, config.integer('evaluator', 'evaluation_interval') * 1000));
});

/** Where measures are asked for; what is compared with them no model knows. */
async function measures({ config, log }: ServiceContext, session: KeystoneSession): Promise<void> {
  const [interfaces, region] = [config.text('service_credentials', 'interface'), 'region_name'];
  const filter = { type: 'metric', interfaces: [interfaces], region: config.optional('service_credentials', region) };
  try {
    await session.endpoint(filter);
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    log.warning('aodh.evaluator.gnocchi', `alarm statistics retrieval failed: ${error.message}`);
  }
}

/** `aodh-listener`: compares events with alarms, and tells the notifier of those that fire. */
export const aodhListener = workers(async (context) => {
  const { process, config, log } = context;
  const transport = notificationTransport(context);
  const database = new Database(context, aodhDatabase);
  const session = new KeystoneSession(process, config, 'service_credentials');
  const fire = async ({ event_type: type, message_id: id }: AodhEvent) => {
    const reason = `Event <id=${id},event_type=${type}> hits the query <query=[]>.`;
    const fired = await database.transaction('UPDATE', (schema) => {
      const hit = rowsOf(schema, 'alarm', { enabled: true, type: 'event' }).filter(
        (alarm) => alarm['state'] !== 'alarm' && matches(alarm, type),
      );
      for (const alarm of hit) Object.assign(alarm, { state: 'alarm', state_reason: reason });
      return hit;
    });
    for (const alarm of fired) {
      await session.token();
      await recordChange(context, database, alarm, 'state transition');
      const actions = alarm['alarm_actions'];
      transport.cast(`${config.text('DEFAULT', 'notifier_topic')}.sample`, 'alarm.update', {
        payload: { actions, alarm_id: alarm['alarm_id'], current: 'alarm', reason },
      });
    }
  };
  const handler = async (_event: string, message: unknown) => {
    for (const event of (message as { payload: AodhEvent[] }).payload)
      await fire(event).catch((error: unknown) => {
        if (!(error instanceof PythonError)) throw error;
        log.exception('aodh.evaluator', 'alarm state update failed', error);
      });
  };
  const serving = transport.serve(`${config.text('listener', 'event_alarm_topic')}.sample`, handler);
  await Promise.race([serving, terminated(process)]);
  await terminated(process);
});

/** A pattern of a shell, of which only the asterisk is known. */
function matches({ event_rule: rule }: Row, type: string): boolean {
  const { event_type: pattern = '*' } = (rule ?? {}) as { event_type?: string };
  return new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(type);
}

/** What has become of an alarm, for its history and for whoever reads notifications. */
export async function recordChange(context: ServiceContext, database: Database, alarm: Row, type: string) {
  const { alarm_id: alarmId, project_id: project, state } = alarm;
  const id = uuid(context.process.random);
  const change = { event_id: id, alarm_id: alarmId, type, detail: JSON.stringify({ state }), timestamp: now(context) };
  await database.transaction('INSERT', (schema) => tableOf(schema, 'alarm_history').set(id, change));
  await notify(context, `alarm.${type.replaceAll(' ', '_')}`, { ...change, project_id: project });
}

/** `aodh-notifier`: does what alarms ask for: a line of the log, or a request. */
export const aodhNotifier = workers(async (context) => {
  const { process, config, log } = context;
  const transport = notificationTransport(context);
  const session = new KeystoneSession(process, config, 'service_credentials');
  const handler = async (_event: string, message: unknown) => {
    const { payload } = message as { payload: { actions: string[]; alarm_id: string } };
    for (const action of payload.actions) {
      if (action.startsWith('log://')) log.info('aodh.notifier.log', `Notifying alarm ${payload.alarm_id}`);
      else
        await session.send('POST', action, {}, payload).catch((error: unknown) => {
          if (!(error instanceof PythonError)) throw error;
          log.exception('aodh.notifier', `Unable to notify alarm ${payload.alarm_id}`, error);
        });
    }
  };
  await Promise.race([
    transport.serve(`${config.text('DEFAULT', 'notifier_topic')}.sample`, handler),
    terminated(process),
  ]);
  await terminated(process);
});
