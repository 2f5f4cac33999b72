import { uuid } from '@openstack-operator/kube';
import { type Row, type Schema, tableOf } from '../infrastructure/mysql-protocol.ts';
import { Database } from '../oslo/database.ts';
import { Messaging } from '../oslo/messaging.ts';
import { PythonError } from '../oslo/python-error.ts';
import { apiDatabase, type CellMapping, cell0, cellMapping, cellRows } from './nova-cells.ts';
import { isUp, type NovaContext } from './nova-service.ts';
import type { PlacementClient } from './placement-client.ts';
import type { RequestContext } from './user-client.ts';

/** What a user asked for: one server. */
export interface BuildRequest {
  readonly uuid: string;
  readonly name: string;
  readonly image: string | undefined;
  readonly networks: readonly string[];
  readonly user: RequestContext;
}

/** A host that the scheduler has chosen. */
export interface Selection {
  readonly host: string;
  readonly node: string;
  readonly cell: string;
}

const noHost = (reason: string): PythonError =>
  new PythonError('nova.exception.NoValidHost', `No valid host was found. ${reason}`);

/**
 * The scheduler's choice: a provider of Placement whose host is mapped to a cell, enabled, and has reported lately.
 * @throws PythonError NoValidHost
 */
export async function selectDestination(
  context: NovaContext,
  placement: PlacementClient,
  request: BuildRequest,
): Promise<Selection> {
  const { config, log } = context;
  const providers = await placement.candidates();
  if (providers.length === 0) {
    log.info(
      'nova.scheduler.manager',
      'Got no allocation candidates from the Placement API. This could be due to insufficient resources or a temporary occurrence as compute nodes start up.',
    );
    throw noHost('');
  }
  const api = apiDatabase(context);
  const [cells, mapped] = await api.transaction('SELECT', (schema) => [
    cellRows(schema),
    new Map([...tableOf(schema, 'host_mappings')].map(([host, row]) => [host, String(row['cell'])])),
  ]);
  api.close();
  for (const row of cells) {
    const cell = cellMapping(row, config, log);
    if (cell.uuid === cell0 || cell.disabled) continue;
    const found = await inCell(context, cell, (schema) => {
      const services = tableOf(schema, 'services');
      return [...tableOf(schema, 'compute_nodes').values()]
        .filter((node) => providers.includes(String(node['uuid'])))
        .find((node) => {
          const service = services.get(`${String(node['host'])}/nova-compute`);
          return service !== undefined && service['disabled'] !== true && isUp(context, service);
        });
    });
    if (found === undefined) continue;
    const host = String(found['host']);
    if (!mapped.has(host)) {
      log.warning('nova.scheduler.host_manager', `No cell mapping found for host ${host}`);
      throw new PythonError('nova.exception.HostMappingNotFound', `Host '${host}' is not mapped to any cell`);
    }
    await placement.allocate(request.uuid, String(found['uuid']));
    return { host, node: String(found['hypervisor_hostname']), cell: cell.uuid };
  }
  throw noHost('');
}

/** The super-conductor: asks the scheduler, writes the instance into its cell, tells the compute there. */
export async function scheduleAndBuild(
  context: NovaContext,
  messaging: Messaging,
  request: BuildRequest,
): Promise<void> {
  const { config, log } = context;
  let selection: Selection;
  const api = apiDatabase(context);
  const cells = (await api.transaction('SELECT', cellRows)).map((row) => cellMapping(row, config, log));
  const place = async (cell: CellMapping, row: Row): Promise<void> => {
    await inCell(context, cell, (schema) => tableOf(schema, 'instances').set(request.uuid, row), 'INSERT');
    await api.transaction('UPDATE', (schema) => {
      tableOf(schema, 'instance_mappings').set(request.uuid, { instance_uuid: request.uuid, cell: cell.uuid });
      tableOf(schema, 'build_requests').delete(request.uuid);
    });
  };
  const row: Row = { uuid: request.uuid, display_name: request.name, project_id: request.user.project };
  try {
    selection = (await messaging.call('scheduler', 'select_destinations', request)) as Selection;
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    log.error('nova.conductor.manager', `Failed to schedule instances: ${error.lastLine}`);
    const cell = cells.find((one) => one.uuid === cell0);
    if (cell === undefined) {
      log.error(
        'nova.conductor.manager',
        'No cell mapping found for cell0 while trying to record scheduling failure. Setup is incomplete.',
      );
      return;
    }
    await place(cell, { ...row, vm_state: 'error', fault: error.message });
    return;
  }
  const cell = cells.find((one) => one.uuid === selection.cell) as CellMapping;
  await place(cell, { ...row, vm_state: 'building', host: selection.host, node: selection.node });
  api.close();
  const own = new Messaging({ ...context, url: cell.transportUrl });
  void own.call(`compute.${selection.host}`, 'build_and_run_instance', request).catch(() => undefined);
}

/** Runs a transaction in a cell's database. @throws PythonError */
export async function inCell<T>(
  context: NovaContext,
  cell: CellMapping,
  run: (schema: Schema) => T,
  privilege: 'SELECT' | 'INSERT' | 'UPDATE' = 'SELECT',
): Promise<T> {
  const database = new Database({ ...context, url: cell.databaseConnection });
  try {
    return await database.transaction(privilege, run);
  } finally {
    database.close();
  }
}

/** A new instance's identifier. */
export function newInstance({ process }: NovaContext): string {
  return uuid(process.random);
}
