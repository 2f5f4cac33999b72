import { uuid } from '@openstack-operator/kube';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { hostOf, now } from '../../model/service-rows.ts';
import { Database } from '../../oslo/database.ts';
import { httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

export const watcherDatabase: ProjectDatabase = {
  heads: ['609bec748f2a'],
  tables:
    'action_descriptions action_plans actions apscheduler_jobs audit_templates audits efficacy_indicators goals scoring_engines services strategies',
};

/** What a decision engine knows; of other goals than the first no model says what is done for them. */
const goals = ['dummy', 'server_consolidation', 'workload_balancing'];

/** `watcher-decision-engine`: what it knows is written down before anybody reaches it (watcher.cmd.decisionengine). */
export const watcherDecisionEngine: ServiceProgram = {
  takes: startTimes.watcherServer,
  run: (context) =>
    serve(context, 'decision-engine', 'ONGOING audit', {
      topic: context.config.text('watcher_decision_engine', 'conductor_topic'),
      known: ['goals', goals],
      mine: 'audits',
      methods: (database) => ({
        trigger_audit: ({ audit_uuid: id }) => audit(context, database, String(id)),
        get_data_model_info: () => dataModel(context),
      }),
    }),
};

/** `watcher-applier`: as the decision engine, with actions and their plans (watcher.cmd.applier). */
export const watcherApplier: ServiceProgram = {
  takes: startTimes.watcherServer,
  run: (context) =>
    serve(context, 'applier', 'ONGOING action plan', {
      topic: context.config.text('watcher_applier', 'conductor_topic'),
      known: ['action_descriptions', ['migrate', 'nop', 'sleep']],
      mine: 'action_plans',
      methods: (database) => ({
        launch_action_plan: ({ action_plan_uuid: id }) => work(context, database, 'action_plans', String(id)),
      }),
    }),
};

type Methods = Readonly<Record<string, (parameters: Row) => Promise<unknown>>>;

interface Served {
  readonly topic: string;
  /** A table, and names in it. */
  readonly known: readonly [string, readonly string[]];
  /** Table of what is given up when whoever did it comes back. */
  readonly mine: string;
  readonly methods: (database: Database) => Methods;
}

async function serve(context: ServiceContext, name: string, what: string, served: Served): Promise<number> {
  const { process, log } = context;
  const messaging = new Messaging(context);
  const database = new Database(context, watcherDatabase);
  const host = hostOf(context);
  const beat = () =>
    database.transaction('UPDATE', (schema) => {
      const id = `watcher-${name}/${host}`;
      tableOf(schema, 'services').set(id, { id, name: `watcher-${name}`, host, last_seen_up: now(context) });
    });
  log.info(`watcher.cmd.${name.replace('-', '')}`, `Starting Watcher ${name} service in PID ${process.pid}`);
  await database.transaction('INSERT', (schema) => {
    const [table, names] = served.known;
    for (const name of names) tableOf(schema, table).set(name, { uuid: name, name });
    for (const row of rowsOf(schema, served.mine, { state: 'ONGOING', hostname: host })) {
      row['state'] = 'CANCELLED';
      log.info('watcher', `${what} ${String(row['uuid'])} has been cancelled because ${host} had been stopped.`);
    }
  });
  await beat();
  const methods = served.methods(database);
  const handler: RpcHandler = async (method, parameters) => {
    const run = methods[method];
    if (run === undefined) throw new PythonError('NotImplementedError', `no model knows ${method}`);
    return run(parameters as Row);
  };
  await Promise.race([messaging.serve(served.topic, handler), terminated(process)]);
  while (await pause(process, 60_000)) await beat().catch(() => undefined);
  return 0;
}

/** Marks what is done, which takes its time, and says that it is done. @returns its row */
async function work(context: ServiceContext, database: Database, table: string, id: string): Promise<Row> {
  const save = (change: Row) =>
    database.transaction<Row>('UPDATE', (schema) => Object.assign(tableOf(schema, table).get(id) ?? {}, change));
  await save({ state: 'ONGOING', hostname: hostOf(context) });
  // Who is ended meanwhile says nothing more of it.
  if (!(await pause(context.process, startTimes.watcherWork))) return new Promise(() => undefined);
  return save({ state: 'SUCCEEDED' });
}

/** An audit ends with a plan that somebody may start. Whoever asked for it waits for nothing. */
async function audit(context: ServiceContext, database: Database, id: string): Promise<void> {
  const { goal_name: goal } = await work(context, database, 'audits', id);
  const plan = uuid(context.process.random);
  await database.transaction('INSERT', (schema) => {
    if (goal === goals[0])
      return void tableOf(schema, 'action_plans').set(plan, { uuid: plan, audit_uuid: id, state: 'RECOMMENDED' });
    Object.assign(tableOf(schema, 'audits').get(id) ?? {}, { state: 'FAILED' });
    context.log.error('watcher.decision_engine.audit.base', `no model knows what is done for ${String(goal)}`);
  });
}

/** The picture of the cloud: each hypervisor of Nova, with what Placement has of it (watcher.decision_engine.model.collector.nova). */
async function dataModel({ process, config }: ServiceContext): Promise<{ context: Row[] }> {
  const session = new KeystoneSession(process, config, 'watcher_clients_auth');
  const ask = async (type: string, option: string, path: string): Promise<Row> => {
    const group = `${type === 'compute' ? 'nova' : type}_client`;
    const region = config.optional(group, 'region_name');
    const interfaces = [config.text(group, option).replace('URL', '')];
    const reply = await session.request('GET', `${await session.endpoint({ type, interfaces, region })}${path}`);
    if (reply.status !== 200) throw httpError(reply, uuid(process.random));
    return JSON.parse(reply.body ?? '{}') as Row;
  };
  const { hypervisors } = (await ask('compute', 'endpoint_type', '/os-hypervisors')) as { hypervisors: Row[] };
  const shown = hypervisors.map(async ({ id, hypervisor_hostname: host }) => {
    const path = `/resource_providers/${String(id)}/inventories`;
    const { inventories } = (await ask('placement', 'interface', path)) as { inventories: Record<string, Row> };
    return { node_uuid: id, node_hostname: host, node_vcpus: inventories['VCPU']?.['total'] };
  });
  return { context: await Promise.all(shown) };
}
