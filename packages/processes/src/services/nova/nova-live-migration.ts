import type { HttpReply } from '@openstack-operator/sandbox';
import { plain } from '../../http.ts';
import { LibvirtError } from '../../infrastructure/libvirt-protocol.ts';
import { tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import type { Selection } from './nova-build.ts';
import { inCell } from './nova-cells.ts';
import { type DiskTools, moveDisks } from './nova-disks.ts';
import { findInstance, idleServer, saveTask } from './nova-instances.ts';
import { portsOf, takePorts } from './nova-ports.ts';
import { supports } from './nova-server-list.ts';
import { hostOf, isUp } from './nova-service.ts';
import { instanceDirectory, makeInstanceDirectory, unplug } from './nova-spawn.ts';
import type { PlacementClient } from './placement-client.ts';

/** Milliseconds that a small guest took on two hosts, emulated (virsh migrate with --tls: 2.3 to 3.4 s). */
const moving = 3000;

/**
 * `os-migrateLive` without a host: before microversion 2.34 the API answers when both hosts have looked whether it goes, and
 * says why not; from then on it answers at once (nova.api.openstack.compute.migrate_server).
 */
export async function migrateLive(
  context: ServiceContext,
  messaging: Messaging,
  { request, body, id = '' }: Call,
): Promise<HttpReply> {
  const { host, block_migration: mode } = body['os-migrateLive'] as { host?: unknown; block_migration?: unknown };
  if (host !== null || mode !== 'auto' || !supports(request, 25))
    throw new Fault(400, 'this model moves servers with host null and block_migration auto, from microversion 2.25 on');
  const { cell } = await idleServer(context, id, 'os-migrateLive', ['active', 'paused']);
  await saveTask(context, cell, id, 'migrating');
  if (supports(request, 34)) {
    messaging.cast('conductor', 'live_migrate_instance', { uuid: id });
    return plain(202, '');
  }
  try {
    await messaging.call('conductor', 'live_migrate_instance', { uuid: id });
  } catch (error) {
    if (!(error instanceof PythonError) || !/NoValidHost|ComputeServiceUnavailable|PreCheck/.test(error.type))
      throw error;
    throw new Fault(400, error.message);
  }
  return plain(202, '');
}

/** The super-conductor: finds a host (nova.conductor.tasks.live_migrate), and tells the one that the server is on. @throws PythonError */
export async function liveMigrate(
  context: ServiceContext,
  messaging: Messaging,
  { uuid }: { uuid: string },
): Promise<void> {
  const found = await findInstance(context, uuid);
  if (found?.cell === undefined)
    throw new PythonError('nova.exception.InstanceNotFound', `Instance ${uuid} could not be found.`);
  const { cell, row } = found;
  const source = String(row['host']);
  try {
    const service = await inCell(context, cell, 'SELECT', (schema) =>
      tableOf(schema, 'services').get(`${source}/nova-compute`),
    );
    if (service === undefined || !isUp(context, service))
      throw new PythonError(
        'nova.exception.ComputeServiceUnavailable',
        `Compute service of ${source} is unavailable at this time.`,
      );
    const asked = { uuid, cell: cell.uuid, ignored: [source] };
    const { host: dest, node } = (await messaging.call('scheduler', 'select_destinations', asked)) as Selection;
    await inCell(context, cell, 'UPDATE', (schema) => {
      Object.assign(tableOf(schema, 'instances').get(uuid) ?? {}, { migrating_to: dest });
    });
    new Messaging(context, cell.transportUrl).cast(`compute.${source}`, 'live_migration', { uuid, dest, node });
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    await saveTask(context, cell, uuid, null);
    throw error;
  }
}

/** What moving a server takes on the computes. */
export interface MigrationTools extends DiskTools {
  readonly messaging: Messaging;
  readonly placement: PlacementClient | undefined;
  /** Provider of the own node. */
  readonly provider: string;
}

/** What the target tells of itself: where it is called, and where its screens are shown. */
interface Target {
  readonly address: string;
  readonly vncListen: string | undefined;
}

/** The target makes room: the directory, with a disk where the guest has one that is a file. */
export function preLiveMigration(context: ServiceContext, { uuid, disk }: { uuid: string; disk?: string }): Target {
  const { config } = context;
  makeInstanceDirectory(context, uuid, disk);
  return {
    address: config.text('libvirt', 'live_migration_inbound_addr') || hostOf(context),
    vncListen: config.boolean('vnc', 'enabled') ? config.text('vnc', 'server_listen') : undefined,
  };
}

/** The source: has libvirt move the guest; a guest that cannot be moved goes on, and its server is as before. */
export async function moveGuest(
  context: ServiceContext,
  { objects, hypervisor, messaging, placement, provider }: MigrationTools,
  { uuid, dest, node }: { uuid: string; dest: string; node: string },
): Promise<void> {
  const { config, log, process } = context;
  const logger = 'nova.virt.libvirt.driver';
  try {
    const isFile = process.files.exists(`${instanceDirectory(context, uuid)}/disk`);
    const room = { uuid, ...(isFile && { disk: '' }) };
    const target = (await messaging.call(`compute.${dest}`, 'pre_live_migration', room)) as Target;
    await hypervisor.facts();
    await pause(process, moving);
    await hypervisor.libvirt?.migrate({
      uuid,
      uri: `qemu+${config.text('libvirt', 'live_migration_scheme') || 'tcp'}://${target.address}/system`,
      tls: config.boolean('libvirt', 'live_migration_with_native_tls'),
      vncListen: target.vncListen,
    });
    log.info('nova.compute.manager', `[instance: ${uuid}] _post_live_migration() is started..`);
    const ports = await portsOf(context, uuid);
    for (const id of ports) await unplug(context, id);
    await messaging.call(`compute.${dest}`, 'post_live_migration_at_destination', { uuid, node, ports });
    log.info('nova.compute.manager', `[instance: ${uuid}] Migrating instance to ${dest} finished successfully.`);
  } catch (error) {
    const failed = error instanceof LibvirtError || error instanceof PythonError;
    if (!failed) throw error;
    log.error(logger, `[instance: ${uuid}] Live Migration failure: ${error.message}`);
    await placement?.allocate(uuid, provider);
    await objects.run('instance_save', { uuid, task_state: null });
  }
}

/** The target, once the guest is there: its ports are bound here, and the server is here. */
export async function postLiveMigration(
  context: ServiceContext,
  tools: DiskTools,
  { uuid, node, ports }: { uuid: string; node: string; ports: readonly string[] },
): Promise<void> {
  await takePorts(context, uuid, ports);
  await moveDisks(context, tools, uuid);
  await tools.objects.run('instance_save', { uuid, host: hostOf(context), node, task_state: null });
}
