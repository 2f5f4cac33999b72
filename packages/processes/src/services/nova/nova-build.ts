import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { aggregatesIn } from './nova-aggregates.ts';
import { type CellMapping, cell0, cellsOf, inApi, inCell } from './nova-cells.ts';
import { passes } from './nova-filters.ts';
import { isUp } from './nova-service.ts';
import type { PlacementClient } from './placement-client.ts';
import type { RequestContext } from './user-client.ts';

/** What a user asked for: one server. */
export interface BuildRequest {
  readonly uuid: string;
  readonly name: string;
  readonly image: string | undefined;
  readonly networks: readonly string[];
  readonly user: RequestContext;
  /** Disks that Cinder has: the first of all, or others. */
  readonly disks: readonly Disk[];
  /** The reservation whose hosts are wanted. */
  readonly reservation?: string | undefined;
  /** The zone that it stays in. */
  readonly zone?: string | undefined;
}

/** A volume that a server has from its beginning, or what one is made of: a row of its own, once the server has a cell. */
export interface Disk {
  readonly id: string;
  readonly source_type: 'volume' | 'image' | 'snapshot' | 'blank';
  /** Of the source. */
  readonly uuid?: string;
  readonly volume_size?: number;
  /** 0: it is what the server boots of. */
  readonly boot_index: number | null;
  readonly delete_on_termination: boolean;
  /** Of a volume that was there before, which Cinder keeps for the server. */
  readonly attachment_id?: string;
}

/** What a host is wanted for: a server that is built, or one that leaves its own. */
export interface PlacementRequest extends Pick<BuildRequest, 'uuid' | 'reservation' | 'zone'> {
  /** Hosts that are not meant. */
  readonly ignored?: readonly string[];
  /** The cell that it stays in. */
  readonly cell?: string;
}

/** A host that the scheduler has chosen. */
export interface Selection {
  readonly host: string;
  readonly node: string;
  readonly cell: string;
}

/** Whether a server boots of a disk. */
export const isRoot = (disk: Pick<Disk, 'boot_index'> | undefined): boolean => disk?.boot_index === 0;

/** What a guest's disk is called by its place. */
export const deviceName = (place: number): string => `/dev/vd${'abcdefghijklmnopqrstuvwxyz'[place]}`;

const noHost = (): PythonError => new PythonError('nova.exception.NoValidHost', 'No valid host was found. ');

/**
 * The scheduler's choice: a provider of Placement whose host is mapped to a cell, enabled, and has reported lately.
 * @throws PythonError NoValidHost
 */
export async function selectDestination(
  context: ServiceContext,
  placement: PlacementClient,
  request: PlacementRequest,
): Promise<Selection> {
  const { log } = context;
  const { zone } = request;
  const providers = await placement.candidates(zone === undefined ? [] : await aggregatesIn(context, zone));
  if (providers.length === 0) {
    log.info(
      'nova.scheduler.manager',
      'Got no allocation candidates from the Placement API. This could be due to insufficient resources or a temporary occurrence as compute nodes start up.',
    );
    throw noHost();
  }
  const isFree = await passes(context, request.reservation);
  const mapped = await inApi(context, 'SELECT', (schema) => new Set(tableOf(schema, 'host_mappings').keys()));
  for (const cell of await cellsOf(context)) {
    if (cell.uuid === cell0 || cell.disabled || ![undefined, cell.uuid].includes(request.cell)) continue;
    const found = await inCell(context, cell, 'SELECT', (schema) => {
      const services = tableOf(schema, 'services');
      return rowsOf(schema, 'compute_nodes')
        .filter((node) => providers.includes(String(node['uuid'])) && isFree(String(node['host'])))
        .filter((node) => request.ignored?.includes(String(node['host'])) !== true)
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
  throw noHost();
}

/** The super-conductor: asks the scheduler, writes the instance into its cell, tells the compute there. */
export async function scheduleAndBuild(
  context: ServiceContext,
  messaging: Messaging,
  request: BuildRequest,
): Promise<void> {
  const { log } = context;
  let selection: Selection;
  const cells = await cellsOf(context);
  const place = async (cell: CellMapping, row: Row): Promise<void> => {
    await inCell(context, cell, 'INSERT', (schema) => {
      tableOf(schema, 'instances').set(request.uuid, row);
      for (const [index, disk] of request.disks.entries()) {
        const { id, uuid: source, source_type: type } = disk;
        const volume_id = type === 'volume' ? source : null;
        const device_name = deviceName(index + (isRoot(request.disks[0]) ? 0 : 1));
        const own = { ...disk, instance_uuid: request.uuid, source, volume_id, device_name };
        tableOf(schema, 'block_device_mapping').set(id, own);
      }
    });
    await inApi(context, 'UPDATE', (schema) => {
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
  new Messaging(context, cell.transportUrl).cast(`compute.${selection.host}`, 'build_and_run_instance', request);
}
