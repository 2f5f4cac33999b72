import { uuid } from '@openstack-operator/kube';
import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import type { Config } from '../../oslo/config.ts';
import { joinCoordination } from '../../oslo/coordination.ts';
import { Database } from '../../oslo/database.ts';
import { httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { notificationTransport } from '../../oslo/notifier.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

export const vitrageDatabase: ProjectDatabase = {
  heads: ['4e44c9414dff'],
  tables: 'events active_actions graph_snapshots templates webhooks alarms edges changes',
};

/** What the graph has of a service: where it asks, and what a list is called. */
const sources: Readonly<Record<string, readonly [type: string, path: string, list: string]>> = {
  'nova.host': ['compute', '/os-services?binary=nova-compute', 'services'],
  'nova.instance': ['compute', '/servers/detail?all_tenants=1', 'servers'],
  'nova.zone': ['compute', '/os-availability-zone/detail', 'availabilityZoneInfo'],
  'neutron.network': ['network', '/v2.0/networks', 'networks'],
  'neutron.port': ['network', '/v2.0/ports', 'ports'],
  'cinder.volume': ['block-storage', '/volumes/detail?all_tenants=1', 'volumes'],
  'heat.stack': ['orchestration', '/stacks?global_tenant=1', 'stacks'],
  aodh: ['alarming', '/v2/alarms', ''],
};

/** Something in the graph. */
interface Node {
  readonly vitrage_type: string;
  readonly id: unknown;
  readonly name: unknown;
}

/** Whether there is a backend to coordinate by. One that is not there is told of, and done without. */
export async function joined(context: ServiceContext): Promise<boolean> {
  const url = context.config.optional('coordination', 'backend_url');
  if (url === undefined) return false;
  try {
    await joinCoordination(context, url);
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    context.log.exception('vitrage.coordination', 'Error connecting to coordination backend.', error);
  }
  return true;
}

/** A program that reads notifications of the graph. */
export function listener(topic: (config: Config) => string): ServiceProgram {
  return {
    takes: startTimes.vitrageProgram,
    files: ['vitrage'],
    run: async (context) => {
      const { process, config } = context;
      await new Database(context, vitrageDatabase).transaction('SELECT', () => undefined);
      await joined(context);
      const transport = notificationTransport(context);
      await Promise.race([
        transport.serve(`${topic(config)}.info`, () => Promise.resolve(undefined)),
        terminated(process),
      ]);
      await terminated(process);
      return 0;
    },
  };
}

/** `vitrage-graph`: asks all sources, answers the API from then on, and hears what changes (vitrage.entity_graph). */
export const vitrageGraph: ServiceProgram = {
  takes: startTimes.vitrageProgram,
  files: ['vitrage'],
  run: async (context) => {
    await respawning(context, () => graph(context));
    return 0;
  },
};

async function graph(context: ServiceContext): Promise<void> {
  const { process, config, log } = context;
  const database = new Database(context, vitrageDatabase);
  await database.transaction('DELETE', (schema) => tableOf(schema, 'active_actions').clear());
  await joined(context);
  const types = config.list('datasources', 'types').filter((type) => type !== '');
  const nodes = new Map<string, readonly Node[]>();
  const snapshot = async () => {
    for (const type of types)
      try {
        nodes.set(type, await entities(context, type));
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        log.exception('vitrage.entity_graph.driver_exec', `run driver get_all: ${type} Failed`, error);
      }
  };
  await snapshot();
  await database.transaction('UPDATE', (schema) => tableOf(schema, 'graph_snapshots').set('1', { id: 1 }));
  const answers: Readonly<Record<string, (parameters: Row) => unknown>> = {
    is_alive: () => true,
    get_topology: () => ({ nodes: [...nodes.values()].flat(), links: [] }),
    validate_template: ({ templates }) => ({
      results: (templates as [string, Row][]).map(([path, one]) => ({ 'file path': path, ...validated(one) })),
    }),
    add_template: ({ templates, template_type: type }) =>
      database.transaction('INSERT', (schema) =>
        (templates as [string, Row][]).map(([, one]) => {
          const isValid = validated(one).status === 'validation OK';
          const { name } = one['metadata'] as Row;
          const row = { uuid: uuid(process.random), name, type, status: isValid ? 'ACTIVE' : 'ERROR' };
          tableOf(schema, 'templates').set(row.uuid, row);
          return row;
        }),
      ),
  };
  const rpc = new Messaging(context).serve(config.text('DEFAULT', 'rpc_topic'), async (method, parameters) => {
    const answer = answers[method];
    if (answer === undefined) throw new PythonError('NotImplementedError', `no model knows ${method}`);
    return answer(parameters as Row);
  });
  const heard = config.list('datasources', 'notification_topics').map((topic) =>
    notificationTransport(context).serve(`${topic}.info`, async (event) => {
      log.info('vitrage.entity_graph.driver_exec', `EVENTS ENQUEUED:[${event}]`);
      await snapshot();
    }),
  );
  await Promise.race([Promise.all([rpc, ...heard]), terminated(process)]);
  log.info('vitrage.entity_graph.graph_init', 'Init Finished');
  while (await pause(process, config.integer('datasources', 'snapshots_interval') * 1000)) await snapshot();
}

/** What a service has, which is asked at its public endpoint: clients are told of no other (vitrage.os_clients). */
async function entities({ process, config }: ServiceContext, type: string): Promise<Node[]> {
  const source = sources[type];
  if (source === undefined)
    throw new PythonError('ModuleNotFoundError', `No module named 'vitrage.datasources.${type}'`);
  const [service, path, list] = source;
  const session = new KeystoneSession(process, config, 'service_credentials');
  const region = config.optional('service_credentials', 'region_name');
  const url = await session.endpoint({ type: service, interfaces: ['public'], region });
  const reply = await session.request('GET', `${url}${path}`);
  if (reply.status !== 200) throw httpError(reply, uuid(process.random));
  const body = JSON.parse(reply.body ?? '{}') as Row[] & Record<string, Row[]>;
  const found = list === '' ? body : (body[list] ?? []);
  return found.map((one) => ({
    vitrage_type: type,
    id: one['id'],
    name: one['name'] ?? one['host'] ?? one['zoneName'],
  }));
}

/** Versions are texts: a number is none of them (vitrage.evaluator.template_schema_factory). */
function validated({ metadata }: Row): { status: string; message: string } {
  const { version = '1' } = (metadata ?? {}) as { version?: unknown };
  if (['1', '2', '3'].some((known) => known === version))
    return { status: 'validation OK', message: 'Template validation' };
  return { status: 'validation failed', message: 'Unsupported version. Version must be one of: dict_keys([])' };
}
