import { LibvirtError } from '../../infrastructure/libvirt-protocol.ts';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import { deviceName } from './nova-build.ts';
import type { Hypervisor } from './nova-hypervisor.ts';
import { initiatorOf, logIn } from './nova-iscsi.ts';
import type { NovaObjects } from './nova-objects.ts';
import { hostOf } from './nova-service.ts';
import { type AskCinder, cinderClient, says } from './nova-volume-client.ts';
import type { RequestContext } from './user-client.ts';

/** What a compute's work on disks takes. */
export interface DiskTools {
  readonly objects: NovaObjects;
  readonly hypervisor: Hypervisor;
}

/** Of which disk of which server a message is, and of whom. */
export interface DiskMessage {
  readonly id: string;
  readonly uuid: string;
  readonly user: RequestContext;
}

const logger = 'nova.compute.manager';

/** Disks of a server that are volumes. */
export const disksOf = async (objects: NovaObjects, uuid: string): Promise<readonly Row[]> =>
  (await objects.run<Row[]>('bdm_get', { instance_uuid: uuid })).filter(({ volume_id: volume }) => volume !== null);

/** What the hypervisor calls a disk: as Cinder says that it is reached. */
const sourceOf = ({ connection_info: info }: Row): string => String((info as { name?: string } | undefined)?.name);

/** What the hypervisor calls the disks of a server. */
export const sourcesOf = async (objects: NovaObjects, uuid: string): Promise<readonly string[]> =>
  (await disksOf(objects, uuid)).filter((row) => row['connection_info'] !== undefined).map(sourceOf);

/** A call of the API, while the server is locked: writes a disk down under the next free name. @throws PythonError */
export async function reserveName(
  { process }: ServiceContext,
  { objects }: DiskTools,
  { uuid, volume_id, device, delete_on_termination }: Row,
): Promise<Row> {
  const own = await objects.run<Row[]>('bdm_get', { instance_uuid: uuid });
  if (own.some((row) => row['volume_id'] === volume_id))
    throw new PythonError(
      'nova.exception.InvalidVolume',
      `Invalid volume: volume ${String(volume_id)} already attached`,
    );
  const taken = ['/dev/vda', ...own.map((row) => row['device_name'])];
  const free = Array.from({ length: 26 }, (_, place) => deviceName(place)).find((name) => !taken.includes(name));
  const id = Buffer.from(process.random.bytes(16)).toString('hex');
  const row = {
    id,
    instance_uuid: uuid,
    volume_id,
    device_name: device ?? free,
    boot_index: null,
    delete_on_termination,
  };
  await objects.run('bdm_save', row);
  return row;
}

/** Cinder says how a volume is reached from here. */
async function connect(context: ServiceContext, { objects }: DiskTools, cinder: AskCinder, row: Row): Promise<Row> {
  const connector = { host: hostOf(context), mountpoint: row['device_name'], ...initiatorOf(context.process) };
  const path = `/attachments/${String(row['attachment_id'])}`;
  const { attachment } = (await cinder('PUT', path, { attachment: { connector } })) as { attachment?: Row };
  const connected = { ...row, connection_info: attachment?.['connection_info'] };
  await objects.run('bdm_save', connected);
  await logIn(context.process, (connected.connection_info ?? {}) as Row);
  return connected;
}

const complete = (cinder: AskCinder, { attachment_id: id }: Row): Promise<Row> =>
  cinder('POST', `/attachments/${String(id)}/action`, { 'os-complete': null });

/** Gives up an attachment, that Cinder may know no more. @throws PythonError */
async function release(cinder: AskCinder, { attachment_id: id }: Row): Promise<void> {
  try {
    if (typeof id === 'string') await cinder('DELETE', `/attachments/${id}`);
  } catch (error) {
    if (!(error instanceof PythonError) || !says(error, 'NotFound')) throw error;
  }
}

/** The guest of a server, as far as it runs here. */
async function runs({ hypervisor }: DiskTools, uuid: string): Promise<boolean> {
  await hypervisor.facts();
  return ((await hypervisor.libvirt?.domains()) ?? []).some((domain) => domain.uuid === uuid);
}

/** Errors that what a compute does may end with. */
function known(error: unknown): PythonError {
  if (error instanceof LibvirtError) return new PythonError('libvirt.libvirtError', error.message);
  if (error instanceof PythonError) return error;
  throw error;
}

/** Milliseconds that a guest takes to see a disk, or to let go of it (virsh attach-device, detach-device). */
const plugging = 1000;

/** Cinder connects the volume, the guest gets it, Cinder knows that it has it; what fails in between leaves nothing (nova.virt.block_device). */
export async function attachVolume(context: ServiceContext, tools: DiskTools, message: DiskMessage): Promise<void> {
  const { id, uuid, user } = message;
  const { objects, hypervisor } = tools;
  const cinder = cinderClient(context, user);
  const [row = {}] = await objects.run<Row[]>('bdm_get', { id });
  const words = `[instance: ${uuid}] Failed to attach ${String(row['volume_id'])} at ${String(row['device_name'])}`;
  let attached: string | undefined;
  try {
    const source = sourceOf(await connect(context, tools, cinder, row));
    await pause(context.process, plugging);
    if (await runs(tools, uuid)) {
      await hypervisor.libvirt?.attach(uuid, source);
      attached = source;
    }
    await complete(cinder, row);
  } catch (error) {
    context.log.exception(logger, words, known(error));
    if (attached !== undefined) await unplug(context, tools, uuid, attached);
    try {
      await release(cinder, row);
    } finally {
      await objects.run('bdm_destroy', { id });
    }
  }
}

/** Takes back from a guest what Cinder did not know that it has. */
async function unplug({ log }: ServiceContext, { hypervisor }: DiskTools, uuid: string, source: string): Promise<void> {
  try {
    await hypervisor.libvirt?.detach(uuid, source);
  } catch (error) {
    log.warning(logger, `[instance: ${uuid}] Driver failed to detach volume ${source}: ${known(error).message}`);
  }
}

/** The guest lets go of it, then Cinder. A guest that does not keeps it; what Cinder does not answer stays written down. */
export async function detachVolume(context: ServiceContext, tools: DiskTools, message: DiskMessage): Promise<void> {
  const { id, uuid, user } = message;
  const { objects, hypervisor } = tools;
  const cinder = cinderClient(context, user);
  const [row] = await objects.run<Row[]>('bdm_get', { id });
  if (row === undefined) return;
  try {
    await pause(context.process, plugging);
    if (await runs(tools, uuid)) await hypervisor.libvirt?.detach(uuid, sourceOf(row));
  } catch (error) {
    const words = `[instance: ${uuid}] Failed to detach volume ${String(row['volume_id'])} from ${String(row['device_name'])}`;
    context.log.exception(logger, words, known(error));
    await cinder('POST', `/volumes/${String(row['volume_id'])}/action`, { 'os-roll_detaching': null });
    return;
  }
  await release(cinder, row);
  await objects.run('bdm_destroy', { id });
}

/** How often, and after how many milliseconds, a new volume is looked at (block_device_allocate_retries). */
const looks = { count: 60, spacing: 3000 };

/** Volumes that a new server has: made where they are not there yet, and attached before its guest begins. @throws PythonError */
export async function takeDisks(
  context: ServiceContext,
  tools: DiskTools,
  { uuid, user }: { readonly uuid: string; readonly user: RequestContext },
): Promise<void> {
  const rows = await tools.objects.run<Row[]>('bdm_get', { instance_uuid: uuid });
  if (rows.length === 0) return;
  const cinder = cinderClient(context, user);
  for (const row of rows) {
    const whole = row['volume_id'] === null ? await newDisk(context, tools, cinder, row) : row;
    await complete(cinder, await connect(context, tools, cinder, whole));
  }
}

async function newDisk({ process }: ServiceContext, { objects }: DiskTools, cinder: AskCinder, row: Row): Promise<Row> {
  const { source_type: from, source, volume_size: size, instance_uuid } = row;
  const of = from === 'image' ? { imageRef: source } : from === 'snapshot' ? { snapshot_id: source } : {};
  const { volume } = (await cinder('POST', '/volumes', { volume: { ...of, size, name: '' } })) as { volume: Row };
  const id = String(volume['id']);
  await objects.run('bdm_save', { ...row, volume_id: id });
  for (let look = 0; look < looks.count; look += 1) {
    const { status } = (await cinder('GET', `/volumes/${id}`))['volume'] as Row;
    if (status === 'available') {
      const asked = { volume_uuid: id, instance_uuid };
      const { attachment } = (await cinder('POST', '/attachments', { attachment: asked })) as { attachment: Row };
      const whole = { ...row, volume_id: id, attachment_id: attachment['id'] };
      await objects.run('bdm_save', whole);
      return whole;
    }
    if (status === 'error') break;
    await pause(process, looks.spacing);
  }
  throw new PythonError(
    'nova.exception.VolumeNotCreated',
    `Volume ${id} did not finish being created even after we waited ${looks.count * 3} seconds or ${looks.count} attempts. And its status is error.`,
  );
}

/** Gives the volumes of a server free that goes, and removes those that were to go with it; what Cinder refuses stays there. */
export async function freeVolumes(
  context: ServiceContext,
  user: RequestContext | undefined,
  disks: readonly Row[],
): Promise<void> {
  if (disks.length === 0) return;
  const cinder = cinderClient(context, user);
  for (const row of disks) {
    const volume = row['volume_id'] ?? (row['source_type'] === 'volume' ? row['uuid'] : undefined);
    if (typeof volume !== 'string') continue;
    try {
      await release(cinder, row);
      if (row['delete_on_termination'] === true) await cinder('DELETE', `/volumes/${volume}`);
    } catch (error) {
      context.log.warning(logger, `Ignoring unknown cinder exception for volume ${volume}: ${known(error).message}`);
    }
  }
}

/** A server has come here: Cinder keeps its volumes for this host, and no more for the one before. @throws PythonError */
export async function moveDisks(context: ServiceContext, tools: DiskTools, uuid: string): Promise<void> {
  for (const row of await disksOf(tools.objects, uuid)) {
    const cinder = cinderClient(context, undefined);
    const asked = { volume_uuid: row['volume_id'], instance_uuid: uuid };
    const { attachment } = (await cinder('POST', '/attachments', { attachment: asked })) as { attachment: Row };
    await complete(cinder, await connect(context, tools, cinder, { ...row, attachment_id: attachment['id'] }));
    await release(cinder, row);
  }
}

/** Before a guest is started anew: what only one of Nova and Cinder knows is forgotten (`_delete_dangling_bdms`). @throws PythonError */
export async function forgetDangling(context: ServiceContext, tools: DiskTools, message: DiskMessage): Promise<void> {
  const { uuid, user } = message;
  const cinder = cinderClient(context, user);
  let known: readonly Row[];
  try {
    known = (await cinder('GET', `/attachments?instance_id=${uuid}`))['attachments'] as readonly Row[];
  } catch (error) {
    if (error instanceof PythonError) return;
    throw error;
  }
  const own = await disksOf(tools.objects, uuid);
  for (const row of own)
    if (!known.some(({ id }) => id === row['attachment_id'])) await tools.objects.run('bdm_destroy', { id: row['id'] });
  for (const { id } of known)
    if (!own.some((row) => row['attachment_id'] === id)) await release(cinder, { attachment_id: id });
}
