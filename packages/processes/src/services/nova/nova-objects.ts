import { uuid } from '@openstack-operator/kube';
import type { Process } from '@openstack-operator/sandbox';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Config } from '../../oslo/config.ts';
import type { Database } from '../../oslo/database.ts';
import type { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import { isoTime } from '../../program-support.ts';

/** The version that services of Nova 31 write into their rows (nova.objects.service, SERVICE_VERSION). */
export const serviceVersion = 68;

/** What Nova's objects do in a cell's database: by a conductor, or in the process itself. */
export interface NovaObjects {
  run<T>(action: NovaAction, parameters: Row): Promise<T>;
}

/** Actions of objects that this model knows. */
export type NovaAction = 'ping' | keyof typeof actions;

/** Objects of a process that has the database. `enable_new_services` counts where the row is written. */
export function localObjects(options: { process: Process; config: Config; database: Database }): NovaObjects {
  const { process, config, database } = options;
  const enabled = config.boolean('DEFAULT', 'enable_new_services');
  const now = (): string => isoTime(Math.floor(process.clock.now() / 1000));
  return {
    run: <T>(action: NovaAction, parameters: Row) => {
      if (action === 'ping') return Promise.resolve(parameters as T);
      const privilege = /_(?:get|get_by_host|version)$/.test(action) ? 'SELECT' : 'INSERT';
      return database.transaction(
        privilege,
        (schema) => actions[action](schema, parameters, { now: now(), enabled, id: () => uuid(process.random) }) as T,
      );
    },
  };
}

/** Objects of a process without a database: it asks the conductor of its cell. */
export function remoteObjects(messaging: Messaging): NovaObjects {
  return {
    run: async <T>(action: NovaAction, parameters: Row) =>
      (await messaging.call('conductor', action, parameters, action === 'ping' ? 10_000 : undefined)) as T,
  };
}

interface Surroundings {
  readonly now: string;
  readonly enabled: boolean;
  readonly id: () => string;
}

type Act = (schema: Schema, parameters: Row, surroundings: Surroundings) => unknown;

const keyOf = (row: Row): string => `${String(row['host'])}/${String(row['binary'])}`;

const actions = {
  service_get: (schema, parameters) => copy(tableOf(schema, 'services').get(keyOf(parameters))),
  service_create: (schema, parameters, { now, enabled, id }) => {
    const services = tableOf(schema, 'services');
    const known = services.get(keyOf(parameters));
    // Two workers of one host race for their row: the second takes the first one's.
    if (known !== undefined) return copy(known);
    const disabled = !enabled && parameters['binary'] === 'nova-compute';
    const row: Row = {
      id: services.size + 1,
      uuid: id(),
      version: serviceVersion,
      report_count: 0,
      disabled,
      disabled_reason: disabled ? 'New compute service disabled due to config option.' : null,
      forced_down: false,
      created_at: now,
      last_seen_up: null,
      ...parameters,
    };
    services.set(keyOf(row), row);
    return copy(row);
  },
  service_save: (schema, parameters, { now }) => {
    const row = demanded('Service', parameters['id'], tableOf(schema, 'services').get(keyOf(parameters)));
    Object.assign(row, parameters, { last_seen_up: now });
    return copy(row);
  },
  service_minimum_version: (schema, { binary }) =>
    Math.min(...rowsOf(schema, 'services', { binary }).map((row) => Number(row['version'])), Number.POSITIVE_INFINITY),
  instance_save: (schema, parameters) => {
    const id = String(parameters['uuid']);
    const row = demanded('Instance', id, tableOf(schema, 'instances').get(id));
    Object.assign(row, parameters);
    return copy(row);
  },
  instance_get_by_host: (schema, { host }) => rowsOf(schema, 'instances', { host }).map((row) => ({ ...row })),
  bdm_get: (schema, columns) => rowsOf(schema, 'block_device_mapping', columns).map((row) => ({ ...row })),
  bdm_save: (schema, { id, ...change }) => {
    const rows = tableOf(schema, 'block_device_mapping');
    rows.set(String(id), { ...rows.get(String(id)), id, ...change });
    return undefined;
  },
  bdm_destroy: (schema, { id }) => tableOf(schema, 'block_device_mapping').delete(String(id)),
  migration_save: (schema, parameters) => {
    const migrations = tableOf(schema, 'migrations');
    const id = String(parameters['uuid']);
    migrations.set(id, { ...migrations.get(id), ...parameters });
    return undefined;
  },
  instance_destroy: (schema, { uuid }) => {
    for (const { id } of rowsOf(schema, 'block_device_mapping', { instance_uuid: uuid }))
      tableOf(schema, 'block_device_mapping').delete(String(id));
    return tableOf(schema, 'instances').delete(String(uuid));
  },
  console_token_create: (schema, parameters, { id }) => {
    const token = id();
    tableOf(schema, 'console_auth_tokens').set(token, { ...parameters, token });
    return token;
  },
  compute_node_get: (schema, parameters) => copy(tableOf(schema, 'compute_nodes').get(String(parameters['uuid']))),
  compute_node_save: (schema, parameters) => {
    const nodes = tableOf(schema, 'compute_nodes');
    const id = String(parameters['uuid']);
    const { host, hypervisor_hostname } = parameters;
    if (rowsOf(schema, 'compute_nodes', { host, hypervisor_hostname }).some((row) => row['uuid'] !== id))
      throw new PythonError(
        'nova.exception.InvalidConfiguration',
        `Duplicate compute node record found for host ${String(host)} node ${String(hypervisor_hostname)}`,
      );
    nodes.set(id, { ...nodes.get(id), ...parameters });
    return undefined;
  },
} satisfies Readonly<Record<string, Act>>;

/** @throws PythonError */
function demanded(what: string, id: unknown, row: Row | undefined): Row {
  if (row === undefined)
    throw new PythonError(`nova.exception.${what}NotFound`, `${what} ${String(id)} could not be found.`);
  return row;
}

function copy(row: Row | undefined): Row | undefined {
  return row === undefined ? undefined : { ...row };
}
