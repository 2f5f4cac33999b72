import { uuid as newId } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { plain } from '../../http.ts';
import { LibvirtError } from '../../infrastructure/libvirt-protocol.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { makeDirectories, pause } from '../../program-support.ts';
import type { Selection } from './nova-build.ts';
import { inApi, inCell } from './nova-cells.ts';
import { moveDisks } from './nova-disks.ts';
import { findInstance, idleServer, saveTask } from './nova-instances.ts';
import type { MigrationTools } from './nova-live-migration.ts';
import { portsOf, takePorts } from './nova-ports.ts';
import { hostOf } from './nova-service.ts';
import { instanceDirectory, startDomain, unplug } from './nova-spawn.ts';

/** What a server is moved for. A move by `migrate` changes nothing of it, one by `resize` its flavor. */
type Action = 'migrate' | 'resize';

/** `migrate` and `resize`: the API answers when the scheduler has found another host (nova.compute.api.API.resize). */
export async function migrateCold(
  context: ServiceContext,
  messaging: Messaging,
  { body, id = '' }: Call,
  action: Action,
): Promise<HttpReply> {
  const { flavorRef } = (body[action] ?? {}) as { flavorRef?: string };
  if (action === 'migrate' ? body[action] !== null : flavorRef === undefined)
    throw new Fault(400, 'this model moves servers by migrate without a host, or by resize to a flavor');
  if (flavorRef !== undefined) {
    const isThere = await inApi(context, 'SELECT', (schema) => tableOf(schema, 'flavors').has(flavorRef));
    if (!isThere) throw new Fault(404, `Flavor ${flavorRef} could not be found.`);
  }
  const { cell } = await idleServer(context, id, action, ['active', 'stopped']);
  await saveTask(context, cell, id, 'resize_prep');
  try {
    await messaging.call('conductor', 'migrate_server', { uuid: id, action });
  } catch (error) {
    if (!(error instanceof PythonError) || !error.type.endsWith('NoValidHost')) throw error;
    throw new Fault(400, error.message);
  }
  return plain(202, '');
}

/** The super-conductor: finds a host, which is to make ready for it (nova.conductor.tasks.migrate). @throws PythonError */
export async function findNewHost(
  context: ServiceContext,
  messaging: Messaging,
  { uuid, action }: { uuid: string; action: Action },
): Promise<void> {
  const found = await findInstance(context, uuid);
  if (found?.cell === undefined)
    throw new PythonError('nova.exception.InstanceNotFound', `Instance ${uuid} could not be found.`);
  const { cell, row } = found;
  try {
    const asked = { uuid, cell: cell.uuid, ignored: [String(row['host'])] };
    const { host, node } = (await messaging.call('scheduler', 'select_destinations', asked)) as Selection;
    const move: ColdMove = { uuid, action, node, source: String(row['host']), state: String(row['vm_state']) };
    new Messaging(context, cell.transportUrl).cast(`compute.${host}`, 'prep_resize', move);
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    await saveTask(context, cell, uuid, null);
    throw error;
  }
}

/** A server that goes from a host to another one. */
export interface ColdMove {
  readonly uuid: string;
  readonly action: Action;
  /** What the new host is called by its hypervisor. */
  readonly node: string;
  readonly source: string;
  /** Its state before. */
  readonly state: string;
  /** The record of the move, the new host, and the address where its disks are taken. */
  readonly id?: string;
  readonly dest?: string;
  readonly address?: string;
}

/** The new host: writes the move down, and tells the old one. */
export async function prepResize(context: ServiceContext, tools: MigrationTools, move: ColdMove): Promise<void> {
  const { process, config } = context;
  const [id, dest] = [newId(process.random), hostOf(context)];
  await tools.objects.run('migration_save', {
    uuid: id,
    instance_uuid: move.uuid,
    source_compute: move.source,
    dest_compute: dest,
    status: 'pre-migrating',
    migration_type: move.action === 'migrate' ? 'migration' : 'resize',
  });
  const address = config.text('libvirt', 'migration_inbound_addr', '$my_ip') || process.pod.ip;
  tools.messaging.cast(`compute.${move.source}`, 'resize_instance', { ...move, id, dest, address });
}

/**
 * The old host: makes the directory there, ends the guest, copies its disk, and gives the server away
 * (nova.virt.libvirt.driver, migrate_disk_and_power_off). Before anything is done a failure leaves the server as it was.
 */
export async function resizeInstance(context: ServiceContext, tools: MigrationTools, move: ColdMove): Promise<void> {
  const { process, log } = context;
  const { objects, hypervisor, messaging, placement, provider } = tools;
  const { uuid, id, dest = '', address = '', node } = move;
  const directory = instanceDirectory(context, uuid);
  const [kept, disk] = [`${directory}_resize`, `${directory}/disk`];
  const step = async (status: string, task: string, more: Row = {}): Promise<void> => {
    await objects.run('migration_save', { uuid: id, status });
    await objects.run('instance_save', { uuid, task_state: task, ...more });
  };
  try {
    await step('migrating', 'resize_migrating');
    await execute(context, ['ssh', '-o', 'BatchMode=yes', address, 'mkdir', '-p', directory]);
    const isRunning = move.state === 'active';
    if (isRunning) {
      await hypervisor.facts();
      await hypervisor.libvirt?.destroy(uuid);
    }
    makeDirectories(process, kept);
    if (process.files.exists(disk)) {
      process.files.rename(disk, `${kept}/disk`);
      await pause(process, copying);
      await execute(context, ['scp', '-C', '-r', `${kept}/disk`, `${address}:${disk}`]);
    }
    for (const port of await portsOf(context, uuid)) await unplug(context, port);
    await step('post-migrating', 'resize_migrated', { host: dest, node });
    messaging.cast(`compute.${dest}`, 'finish_resize', move);
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    log.info(
      'nova.compute.manager',
      `[instance: ${uuid}] Setting instance back to ${move.state} after: ${error.message}`,
    );
    log.exception('oslo_messaging.rpc.server', 'Exception during message handling', error);
    if (process.files.exists(`${kept}/disk`)) {
      process.files.rename(`${kept}/disk`, disk);
      process.files.remove(kept);
    }
    await placement?.allocate(uuid, provider);
    await objects.run('migration_save', { uuid: id, status: 'error' });
    await objects.run('instance_save', { uuid, task_state: null });
  }
}

/** Milliseconds that the copy of a small disk took (42 MiB by scp: 0.2 to 1.5 s). */
const copying = 1500;

/** Runs a command as oslo.concurrency does. @throws PythonError ResizeError with its words */
async function execute({ process }: ServiceContext, argv: readonly string[]): Promise<void> {
  let [stdout, stderr] = ['', ''];
  const status = await process.run(argv, {
    stdout: (text) => void (stdout += text),
    stderr: (text) => void (stderr += text),
  });
  if (status === 0) return;
  const quoted = (text: string) => `'${text.replaceAll('\n', String.raw`\n`).replaceAll('\r', String.raw`\r`)}'`;
  const words = `Unexpected error while running command.\nCommand: ${argv.join(' ')}\nExit code: ${status}\nStdout: ${quoted(stdout)}\nStderr: ${quoted(stderr)}`;
  throw new PythonError('nova.exception.ResizeError', `Resize error: not able to execute ssh command: ${words}`);
}

/** The new host: has the ports of the server, starts it where it ran, and waits for a word. */
export async function finishResize(context: ServiceContext, tools: MigrationTools, move: ColdMove): Promise<void> {
  const { objects } = tools;
  const { uuid, id, state } = move;
  await objects.run('instance_save', { uuid, task_state: 'resize_finish' });
  try {
    await takePorts(context, uuid, await portsOf(context, uuid));
    await moveDisks(context, tools, uuid);
    if (state === 'active') await startDomain(context, tools, { uuid, name: uuid });
    await objects.run('instance_save', { uuid, vm_state: 'resized', old_vm_state: state, task_state: null });
    await objects.run('migration_save', { uuid: id, status: 'finished' });
  } catch (error) {
    if (!(error instanceof LibvirtError || error instanceof PythonError)) throw error;
    const words = `[instance: ${uuid}] Setting instance vm_state to ERROR: ${error.message}`;
    context.log.error('nova.compute.manager', words);
    await objects.run('instance_save', { uuid, vm_state: 'error', fault: error.message, task_state: null });
    await objects.run('migration_save', { uuid: id, status: 'error' });
  }
}

/** `confirmResize`: the old host forgets the server (nova.compute.api.API.confirm_resize). */
export async function confirmResize(context: ServiceContext, uuid: string): Promise<HttpReply> {
  const { cell } = await idleServer(context, uuid, 'confirmResize', ['resized']);
  const migration = await inCell(context, cell, 'UPDATE', (schema) => {
    const row = rowsOf(schema, 'migrations', { instance_uuid: uuid, status: 'finished' })[0];
    Object.assign(row ?? {}, { status: 'confirming' });
    return row && { ...row };
  });
  if (migration === undefined) throw new Fault(400, 'Instance has not been resized.');
  const source = String(migration['source_compute']);
  new Messaging(context, cell.transportUrl).cast(`compute.${source}`, 'confirm_resize', {
    uuid,
    id: migration['uuid'],
  });
  return plain(204, '');
}

/** The old host: removes what it has kept of the disk. */
export async function forgetDisk(
  context: ServiceContext,
  { objects }: MigrationTools,
  { uuid, id }: { uuid: string; id: string },
): Promise<void> {
  const { files } = context.process;
  const kept = `${instanceDirectory(context, uuid)}_resize`;
  for (const path of [`${kept}/disk`, kept]) if (files.exists(path)) files.remove(path);
  const { old_vm_state: state } = await objects.run<Row>('instance_save', { uuid });
  await objects.run('instance_save', { uuid, vm_state: state });
  await objects.run('migration_save', { uuid: id, status: 'confirmed' });
}
