import { uuid } from '@openstack-operator/kube';
import { parse } from 'yaml';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import { now } from '../../model/service-rows.ts';
import { joinCoordination } from '../../oslo/coordination.ts';
import { Database } from '../../oslo/database.ts';
import { httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { Messaging } from '../../oslo/messaging.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

/** The queue of processors. */
export const topic = 'cloudkitty';

/** Modules that rate. */
export const ratings: readonly string[] = ['hashmap', 'noop', 'pyscripts'];

/** What was rated, and up to when (its first version, in the database). */
export const storage: ProjectDatabase = {
  heads: ['d875621d0384', '9feccd32'],
  tables: 'rated_data_frames cloudkitty_storage_states storage_scope_reprocessing_schedule',
};

/** @throws PythonError for a storage that no model knows */
export function storageOf(context: ServiceContext): Database {
  const [kind, version] = [context.config.text('storage', 'backend'), context.config.integer('storage', 'version')];
  if (version === 1 && kind === 'sqlalchemy') return new Database(context, storage);
  const words = `No 'cloudkitty.storage.v${version}.backends' driver found, looking for '${kind}'`;
  if (version === 1) throw new PythonError('stevedore.exception.NoMatches', words);
  throw new PythonError('NotImplementedError', `no model knows the storage ${kind}`);
}

interface Metric {
  readonly alt_name?: string;
  readonly unit: string;
  readonly extra_args?: { readonly resource_type?: string };
}

/** `cloudkitty-processor`: quotes, and rates every so often what projects have used (cloudkitty.orchestrator). */
export const cloudkittyProcessor: ServiceProgram = {
  takes: startTimes.cloudkittyProcessor,
  files: ['cloudkitty'],
  run: async (context) => {
    const { process, config, log } = context;
    const database = storageOf(context);
    const work = async () => {
      const collect = collectorOf(context);
      await database.transaction('SELECT', (schema) => rowsOf(schema, 'cloudkitty_storage_states').length);
      await joinCoordination(context, config.text('orchestrator', 'coordination_url'));
      const quotes = new Messaging(context).serve(topic, (_method, parameters) =>
        database.transaction('SELECT', (schema) => {
          const { resources } = parameters as { resources: Row[] };
          // A Decimal, which JSON has as a string.
          return String(resources.reduce((sum, one) => sum + costOf(schema, one.service) * Number(one.volume), 0));
        }),
      );
      await Promise.race([quotes, terminated(process)]);
      const period = config.integer('collect', 'period') * 1000;
      do {
        const projects = await ratedProjects(context);
        log.info(
          'cloudkitty.orchestrator',
          `[Worker: 0] Tenants loaded for fetcher ${config.text('fetcher', 'backend')}`,
        );
        for (const project of projects) {
          try {
            await rate(context, database, { project, used: await collect(project) });
          } catch (error) {
            if (!(error instanceof PythonError)) throw error;
            const words = `Error processing scope ${project}, we will try it again later.`;
            log.exception('cloudkitty.orchestrator', words, error);
          }
        }
      } while (await pause(process, period));
    };
    await respawning(context, work);
    return 0;
  },
};

/** Writes down what resources of a project cost, by the names of their services. */
function rate(context: ServiceContext, database: Database, { project, used }: { project: string; used: string[] }) {
  const begin = now(context);
  return database.transaction('INSERT', (schema) => {
    for (const name of used) {
      const frame = { tenant_id: project, res_type: name, rate: costOf(schema, name), begin };
      tableOf(schema, 'rated_data_frames').set(uuid(context.process.random), frame);
    }
    tableOf(schema, 'cloudkitty_storage_states').set(project, { identifier: project, last: begin });
  });
}

/** What one of a service costs: by the enabled module's mapping of the service itself. */
function costOf(schema: Schema, name: unknown): number {
  if (tableOf(schema, 'modules_state').get('hashmap')?.['enabled'] !== true) return 0;
  const [service] = rowsOf(schema, 'hashmap_services', { name });
  const [mapping] = service ? rowsOf(schema, 'hashmap_mappings', { service_id: service['service_id'] }) : [];
  return Number(mapping?.['cost'] ?? 0);
}

async function asked(session: KeystoneSession, { process }: ServiceContext, url: string): Promise<unknown> {
  const reply = await session.request('GET', url);
  if (reply.status !== 200) throw httpError(reply, uuid(process.random));
  return JSON.parse(reply.body ?? 'null');
}

const metricUrl = (session: KeystoneSession, { config }: ServiceContext, group: string): Promise<string> => {
  const interfaces = [config.text(group, 'interface').replace('URL', '')];
  return session.endpoint({ type: 'metric', interfaces, region: config.text(group, 'region_name') });
};

/** Projects in which its user has the role, asked at the public endpoint; or all that have something in Gnocchi. */
async function ratedProjects(context: ServiceContext): Promise<string[]> {
  const { process, config } = context;
  const backend = config.text('fetcher', 'backend');
  const session = new KeystoneSession(process, config, `fetcher_${backend}`);
  if (backend === 'gnocchi') {
    const url = await metricUrl(session, context, 'fetcher_gnocchi');
    const resources = (await asked(session, context, `${url}/v1/resource/generic`)) as Row[];
    return [...new Set(resources.flatMap(({ project_id: id }) => (typeof id === 'string' ? [id] : [])))];
  }
  if (backend !== 'keystone') throw new PythonError('NotImplementedError', `no model knows the fetcher ${backend}`);
  const url = await session.endpoint({ type: 'identity', interfaces: ['public'], region: undefined });
  const { projects } = (await asked(session, context, `${url}/projects`)) as { projects: { id: string }[] };
  const { users } = (await asked(
    session,
    context,
    `${url}/users?name=${config.text('keystone_authtoken', 'username')}`,
  )) as {
    users: { id: string }[];
  };
  const rated: string[] = [];
  for (const { id } of projects) {
    const path = `${url}/projects/${id}/users/${users[0]?.id}/roles`;
    const { roles } = (await asked(session, context, path)) as { roles: { name: string }[] };
    if (roles.some(({ name }) => name === 'rating')) rated.push(id);
  }
  return rated;
}

/** What tells which services of `metrics.yml` a project has used, one name for each resource. @throws PythonError */
function collectorOf(context: ServiceContext): (project: string) => Promise<string[]> {
  const { process, config } = context;
  const path = config.text('collect', 'metrics_conf');
  if (!process.files.exists(path)) throw new PythonError('FileNotFoundError', `[Errno 2] No such file: '${path}'`);
  const { metrics = {} } = (parse(process.files.read(path)) ?? {}) as { metrics?: Record<string, Metric> };
  if (Object.keys(metrics).length === 0)
    throw new PythonError('voluptuous.error.MultipleInvalid', 'Not a dict with at least one key');
  const collector = config.text('collect', 'collector');
  if (collector === 'prometheus') {
    const words = `no model knows what ${config.text('collector_prometheus', 'prometheus_url')} has`;
    return () => Promise.reject(new PythonError('NotImplementedError', words));
  }
  const lacking = Object.entries(metrics).find(([, { extra_args: more }]) => more?.resource_type === undefined);
  if (lacking !== undefined)
    throw new PythonError('voluptuous.error.MultipleInvalid', "required key not provided @ data['extra_args']");
  const session = new KeystoneSession(process, config, 'collector_gnocchi');
  return async (project) => {
    const url = await metricUrl(session, context, 'collector_gnocchi');
    const resources = (await asked(session, context, `${url}/v1/resource/generic`)) as Row[];
    return resources
      .filter(({ project_id: owner }) => owner === project)
      .flatMap(({ type }) => Object.entries(metrics).filter(([, { extra_args: more }]) => more?.resource_type === type))
      .map(([name, { alt_name: other }]) => other ?? name);
  };
}
