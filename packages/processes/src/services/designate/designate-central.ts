import { uuid } from '@openstack-operator/kube';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { CommandContext, ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import { now } from '../../model/service-rows.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging } from '../../oslo/messaging.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

export const designateDatabase: ProjectDatabase = {
  group: 'storage:sqlalchemy',
  heads: ['9099de8ae11c'],
  tables:
    'blacklists pool_also_notifies pool_attributes pool_nameservers pool_ns_records pool_target_masters pool_target_options pool_targets pools quotas records recordsets service_statuses shared_zones tlds tsigkeys zone_attributes zone_masters zone_tasks zone_transfer_accepts zone_transfer_requests zones',
};

/** A server of a pool that is told of zones. */
export interface Target {
  readonly type: string;
  readonly options: Readonly<Record<string, string | number>>;
  readonly masters: readonly { readonly host: string; readonly port: number }[];
}

/** A pool, as `pools.yaml` has it. */
export interface Pool extends Row {
  readonly id: string;
  readonly name: string;
  readonly targets: readonly Target[];
  readonly nameservers: readonly { readonly host: string; readonly port: number }[];
  readonly ns_records: readonly { readonly hostname: string }[];
}

/** What the API and others send to central. */
export interface CentralCall extends Row {
  readonly project?: string;
  readonly id?: string;
}

const failure = (name: string, message: string) => new PythonError(`designate.exceptions.${name}`, message);

/** A program that serves RPC of its name; what it raises at the start ends it, as it has no further process. */
export function rpcProgram(
  name: string,
  serve: (context: CommandContext, messaging: Messaging) => Promise<void>,
): ServiceProgram {
  return {
    takes: startTimes.designateService,
    files: ['designate', `designate-${name}`],
    run: async (context) => {
      const messaging = new Messaging(context);
      context.log.info('designate.service', `Starting ${name} service (version: 20.0.0)`);
      await respawning(
        context,
        async () => {
          await Promise.race([serve(context, messaging), terminated(context.process)]);
          await terminated(context.process);
        },
        { once: true },
      );
      return 0;
    },
  };
}

/** `designate-central`: all that is known of zones, and who is told of changes. */
export const central = rpcProgram('central', async (context, messaging) => {
  const database = new Database(context, designateDatabase);
  await messaging.serve('central', (method, parameters) => {
    const run = methods[method];
    if (run === undefined) throw new PythonError('NotImplementedError', `no model knows ${method}`);
    return run({ context, messaging, database }, parameters as CentralCall);
  });
});

interface Central {
  readonly context: ServiceContext;
  readonly messaging: Messaging;
  readonly database: Database;
}

const methods: Readonly<Record<string, (central: Central, call: CentralCall) => Promise<unknown>>> = {
  find_zones: ({ database }, { project, pool_id: pool }) =>
    database.transaction('SELECT', (schema) =>
      rowsOf(schema, 'zones', { ...(project && { project }), ...(typeof pool === 'string' && { pool_id: pool }) }),
    ),
  find_recordsets: ({ database }, { id }) =>
    database.transaction('SELECT', (schema) => rowsOf(schema, 'recordsets', { zone_id: id })),
  get_pool: ({ database }, { id = '' }) => database.transaction('SELECT', (schema) => poolIn(schema, id)),
  create_zone: async ({ context, messaging, database }, { project, name, email }) => {
    const id = uuid(context.process.random);
    const row = await database.transaction('INSERT', (schema) => {
      const pool = poolIn(schema, context.config.text('service:central', 'default_pool_id'));
      if ((pool.ns_records ?? []).length === 0) throw failure('NoServersConfigured', '');
      if (rowsOf(schema, 'zones', { name }).length > 0) throw failure('DuplicateZone', 'Duplicate Zone');
      const { context: _context, ...zone } = { context, id, project, name, email, pool_id: pool.id };
      tableOf(schema, 'zones').set(id, { ...zone, serial: 1, created_at: now(context) });
      return pending(schema, id, 'CREATE');
    });
    messaging.cast('worker', 'create_zone', { id });
    return row;
  },
  /** Of a new master or server the zone's serial is raised, too. */
  update_zone: (central, { id = '' }) => changed(central, id, 'UPDATE'),
  delete_zone: (central, { id = '' }) => changed(central, id, 'DELETE'),
  create_recordset: async (central, { id: zone = '', name, type, records }) => {
    const id = uuid(central.context.process.random);
    await central.database.transaction('INSERT', (schema) => {
      if (rowsOf(schema, 'recordsets', { zone_id: zone, name, type }).length > 0)
        throw failure('DuplicateRecordSet', 'Duplicate RecordSet');
      tableOf(schema, 'recordsets').set(id, { id, zone_id: zone, name, type, records });
    });
    await changed(central, zone, 'UPDATE');
    return { id, zone_id: zone, name, type, records, status: 'PENDING', action: 'CREATE' };
  },
  /** What the worker has found; a zone that was deleted everywhere is gone. */
  update_status: ({ database }, { id = '', status, serial }) =>
    database.transaction('UPDATE', (schema) => {
      const zones = tableOf(schema, 'zones');
      const zone = zones.get(id);
      if (zone === undefined || (status === 'SUCCESS' && Number(serial) < Number(zone['serial']))) return;
      if (status === 'SUCCESS' && zone['action'] === 'DELETE') zones.delete(id);
      else Object.assign(zone, status === 'SUCCESS' ? { status: 'ACTIVE', action: 'NONE' } : { status: 'ERROR' });
    }),
  update_pool: ({ context, database }, { pool }) =>
    database.transaction('UPDATE', (schema) => {
      const said = pool as Partial<Pool>;
      const known = rowsOf(schema, 'pools').find(({ id, name }) => id === said.id || name === said.name) as
        | Pool
        | undefined;
      const id = said.id ?? known?.id ?? uuid(context.process.random);
      tableOf(schema, 'pools').set(id, { ...said, id });
      return id;
    }),
};

async function changed({ messaging, database }: Central, id: string, action: 'UPDATE' | 'DELETE'): Promise<Row> {
  const row = await database.transaction('UPDATE', (schema) => pending(schema, id, action));
  messaging.cast('worker', `${action.toLowerCase()}_zone`, { id });
  return row;
}

/** @throws PythonError */
function pending(schema: Schema, id: string, action: string): Row {
  const zone = tableOf(schema, 'zones').get(id);
  if (zone === undefined) throw failure('ZoneNotFound', 'Could not find Zone');
  Object.assign(zone, { status: 'PENDING', action, serial: Number(zone['serial']) + 1 });
  return { ...zone };
}

/** The pool `default` is there since the first migration, without servers. @throws PythonError */
function poolIn(schema: Schema, id: string): Pool {
  const found = tableOf(schema, 'pools').get(id);
  if (found !== undefined) return found as Pool;
  if (id !== '794ccc2c-d751-44fe-b57f-8894c9f5c842') throw failure('PoolNotFound', 'Could not find Pool');
  return { id, name: 'default', targets: [], nameservers: [], ns_records: [] };
}
