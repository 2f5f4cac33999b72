import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { CommandContext, ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import { now } from '../../model/service-rows.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import { demandTables, type ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError, SystemExit } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

export const mistralDatabase: ProjectDatabase = {
  heads: ['044'],
  tables:
    'action_definitions_v2 action_executions_v2 code_sources cron_triggers_v2 delayed_calls_v2 dynamic_action_definitions environments_v2 event_triggers_v2 mistral_metrics named_locks resource_members_v2 scheduled_jobs_v2 task_executions_v2 workbooks_v2 workflow_definitions_v2 workflow_executions_v2',
};

/** What goes between the servers about an execution. */
interface ExecutionCall {
  readonly id: string;
  readonly project?: string;
  readonly workflow?: string;
  readonly action?: string;
  readonly failure?: string;
}

/** What a server of a name answers, once it has connected to what it needs. */
const servers: Readonly<Record<string, (context: CommandContext, messaging: Messaging) => Promise<RpcHandler>>> = {
  engine,
  executor: (context, messaging) => Promise.resolve(executor(context, messaging)),
  'event-engine': async (context) => {
    await open(context);
    return notModelled;
  },
};

/** `mistral-server`: the broker's URL is parsed, then the servers that it is told of start (mistral.cmd.launch). */
export const mistralServer: ServiceProgram = {
  takes: startTimes.mistralServer,
  values: 'server',
  run: async (context) => {
    const { config, line, log, process } = context;
    const messaging = new Messaging(context);
    const name = line.value('server') ?? 'all';
    const serve = servers[name];
    if (serve === undefined)
      throw new PythonError(
        'Exception',
        `Valid options are 'all' or any combination of [${Object.keys(servers).join(', ')}]`,
      );
    const topic = config.text(name.replace('-', '_'), 'topic');
    const start = async () => {
      await messaging.serve(topic, await serve(context, messaging));
      const words = name.replace('-', ' ');
      log.info(`mistral.${name}`, `${words[0]?.toUpperCase()}${words.slice(1)} server started.`);
    };
    const run = async () => {
      await Promise.race([start(), terminated(process)]);
      await terminated(process);
      return true;
    };
    // The launcher ends with its service (oslo_service.service.ServiceLauncher).
    if ((await respawning(context, run, { once: true })) === undefined) throw new SystemExit(1);
    return 0;
  },
};

/** Every table is there, or the program ends: it fills one of them (mistral.db.v2.sqlalchemy.api.setup_db). @throws PythonError */
export async function open(context: ServiceContext): Promise<Database> {
  const database = new Database(context, mistralDatabase);
  await database.transaction('INSERT', (schema) => demandTables(schema, mistralDatabase.tables));
  return database;
}

/** Workflows are run: each has one task, whose action an executor is told of. */
async function engine(context: CommandContext, messaging: Messaging): Promise<RpcHandler> {
  const { config } = context;
  const database = await open(context);
  const run = config.text('executor', 'type') === 'local' ? executor(context, messaging) : undefined;
  const methods: Readonly<Record<string, (call: ExecutionCall) => Promise<unknown>>> = {
    start_workflow: async ({ id, project, workflow = '' }) => {
      const definition = await database.transaction('INSERT', (schema) => {
        const found = rowsOf(schema, 'workflow_definitions_v2', { project_id: project }).find(
          (row) => row['name'] === workflow || row['id'] === workflow,
        );
        if (found === undefined)
          throw new PythonError(
            'mistral.exceptions.DBEntityNotFoundError',
            `Workflow not found [workflow_identifier=${workflow}, namespace=]`,
          );
        const row = { id, project_id: project, workflow_name: found['name'], created_at: now(context) };
        tableOf(schema, 'workflow_executions_v2').set(id, { ...row, state: 'RUNNING', state_info: null });
        return found;
      });
      const [, action] = /"?action"?: *"?([\w.]+)/.exec(String(definition['definition'])) ?? [];
      if (run === undefined) messaging.cast(config.text('executor', 'topic'), 'run_action', { id, action });
      else void run('run_action', { id, action });
      return { id, workflow_name: definition['name'], state: 'RUNNING' };
    },
    on_action_complete: ({ id, failure }) =>
      database.transaction('UPDATE', (schema) => {
        const ended: Row =
          failure === undefined
            ? { state: 'SUCCESS' }
            : { state: 'ERROR', state_info: `Failure caused by error in tasks: ${failure}` };
        Object.assign(tableOf(schema, 'workflow_executions_v2').get(id) ?? {}, ended);
      }),
  };
  return (method, parameters) => methods[method]?.(parameters as ExecutionCall) ?? notModelled(method, parameters);
}

/** Actions are run, and the engine is told how they ended. */
function executor({ config, process }: CommandContext, messaging: Messaging): RpcHandler {
  return async (method, parameters) => {
    if (method !== 'run_action') return notModelled(method, parameters);
    const { id, action = '' } = parameters as ExecutionCall;
    await pause(process, startTimes.mistralAction);
    const isKnown = ['std.echo', 'std.noop'].includes(action);
    const failure = isKnown ? undefined : `no model knows the action ${action}`;
    await messaging.call(config.text('engine', 'topic'), 'on_action_complete', { id, failure });
  };
}

const notModelled: RpcHandler = (method) =>
  Promise.reject(new PythonError('NotImplementedError', `no model knows ${method}`));
