import { hash } from 'node:crypto';
import { uuid } from '@openstack-operator/kube';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import { now } from '../../model/service-rows.ts';
import { Database } from '../../oslo/database.ts';
import { makeInDomain } from '../../oslo/domain-admin.ts';
import { KeystoneSession } from '../../oslo/keystone-session.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

export const heatDatabase: ProjectDatabase = {
  heads: ['c6214ca60943'],
  tables:
    'event raw_template raw_template_files resource resource_data resource_properties_data service snapshot software_config software_deployment stack stack_lock stack_tag sync_point user_creds',
};

/** What the APIs send to an engine: a method, and whose stack it is about; a list is of all projects without one. */
export interface StackCall {
  readonly project?: string;
  readonly id?: string;
  readonly name?: string;
}

/** `heat-engine`: its configuration is looked at before anything is connected to (heat.common.config.startup_sanity_check). */
export const heatEngine: ServiceProgram = {
  takes: startTimes.heatEngine,
  run: async (context) => {
    const messaging = new Messaging(context);
    checkConfig(context);
    const database = new Database(context, heatDatabase);
    const run = async () => {
      context.log.info('heat.engine.service', 'Starting engine_worker (1.4) in engine');
      const id = uuid(context.process.random);
      await database.transaction('INSERT', (schema) =>
        tableOf(schema, 'service').set(id, { id, hostname: context.process.pod.hostname, updated_at: now(context) }),
      );
      await Promise.race([messaging.serve('engine', engine(context, database)), terminated(context.process)]);
      await terminated(context.process);
    };
    // One worker is the process itself.
    await respawning(context, run, { once: context.config.integer('DEFAULT', 'num_engine_workers') === 1 });
    return 0;
  },
};

/** @throws PythonError */
function checkConfig({ config }: ServiceContext): void {
  const option = (name: string) => config.optional('DEFAULT', name);
  const fail = (words: string): never => {
    throw new PythonError('heat.common.exception.Error', `heat.conf misconfigured, ${words}`);
  };
  const hasDomain = option('stack_user_domain_id') !== undefined || option('stack_user_domain_name') !== undefined;
  if (hasDomain && !(option('stack_domain_admin') && option('stack_domain_admin_password')))
    fail(
      'cannot specify "stack_user_domain_id" or "stack_user_domain_name" without "stack_domain_admin" and "stack_domain_admin_password"',
    );
  if (![16, 24, 32].includes(config.text('DEFAULT', 'auth_encryption_key').length))
    fail('auth_encryption_key must be 32 characters');
}

function engine(context: ServiceContext, database: Database): RpcHandler {
  const { process, config } = context;
  const mark = hash('sha256', config.text('DEFAULT', 'auth_encryption_key'));
  const save = (id: string, change: Row) =>
    database.transaction('UPDATE', (schema) => void Object.assign(tableOf(schema, 'stack').get(id) ?? {}, change));
  const methods: Readonly<Record<string, (call: StackCall) => Promise<unknown>>> = {
    list_stacks: ({ project }) =>
      database.transaction('SELECT', (schema) => rowsOf(schema, 'stack', project === undefined ? {} : { project })),
    create_stack: async ({ project, name = '' }) => {
      const id = uuid(process.random);
      const row: Row = { id, project, stack_name: name, creation_time: now(context), mark };
      await database.transaction('INSERT', (schema) => {
        if (rowsOf(schema, 'stack', { project, stack_name: name }).length > 0)
          throw new PythonError('heat.common.exception.StackExists', `The Stack (${name}) already exists.`);
        tableOf(schema, 'stack').set(id, { ...row, stack_status: 'CREATE_IN_PROGRESS', stack_status_reason: '' });
      });
      void work(context, id).then(
        () => save(id, { stack_status: 'CREATE_COMPLETE', stack_status_reason: 'Stack CREATE completed successfully' }),
        (error: unknown) => save(id, { stack_status: 'CREATE_FAILED', stack_status_reason: wordsOf(error) }),
      );
      return { id, stack_name: name };
    },
    delete_stack: async ({ id = '' }) => {
      const row = await database.transaction('SELECT', (schema) => tableOf(schema, 'stack').get(id));
      // What its credentials are encrypted under is the key of the engine that made it.
      if (row?.['mark'] === mark)
        return database.transaction('DELETE', (schema) => tableOf(schema, 'stack').delete(id));
      return save(id, { stack_status: 'DELETE_FAILED', stack_status_reason: 'InvalidToken: ' });
    },
  };
  return async (method, parameters) => {
    const run = methods[method];
    if (run === undefined) throw new PythonError('NotImplementedError', `no model knows ${method}`);
    return run(parameters as StackCall);
  };
}

const wordsOf = (error: unknown): string => (error instanceof PythonError ? error.message : String(error));

/**
 * Whoever makes a stack trusts Heat, as `[trustee]`; its users live in a project of the stack's own, which the administrator
 * of the stacks' domain makes (heat.engine.clients.os.keystone.heat_keystoneclient). @throws PythonError
 */
async function work({ process, config }: ServiceContext, stack: string): Promise<void> {
  const session = new KeystoneSession(process, config, 'trustee');
  await session.token();
  const uri =
    config.optional('clients_keystone', 'auth_uri') ?? config.text('keystone_authtoken', 'www_authenticate_uri');
  const admin = {
    uri,
    domain: config.optional('DEFAULT', 'stack_user_domain_name') ?? 'Default',
    name: config.text('DEFAULT', 'stack_domain_admin'),
    password: config.text('DEFAULT', 'stack_domain_admin_password'),
  };
  await makeInDomain(process, session, admin, 'project', { name: `stack-${stack}` });
  await pause(process, startTimes.heatStack);
}
