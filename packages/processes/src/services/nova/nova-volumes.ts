import type { HttpReply } from '@openstack-operator/sandbox';
import { json, locationOf } from '../../http.ts';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { type Disk, isRoot } from './nova-build.ts';
import { novaDatabase } from './nova-cells.ts';
import { demandInstance, idleServer } from './nova-instances.ts';
import { localObjects, type NovaObjects } from './nova-objects.ts';
import { reserve } from './nova-reservations.ts';
import { isServed, supports } from './nova-server-list.ts';
import { type AskCinder, cinderClient, says } from './nova-volume-client.ts';
import { userOf } from './user-client.ts';

/** States in which a server gets a disk, or loses one. */
const states = ['active', 'paused', 'stopped', 'resized'];

/** `/servers/ID/os-volume_attachments`: what a server has of Cinder's (nova.api.openstack.compute.volumes). @throws Fault */
export async function volumeAttachments(context: ServiceContext, call: Call): Promise<HttpReply> {
  const { request, id = '' } = call;
  const volume = locationOf(request).path.split('/')[5];
  const { cell } = await demandInstance(context, id);
  const objects = localObjects({ ...context, database: new Database(context, novaDatabase, cell?.databaseConnection) });
  if (request.method === 'POST') return attach(context, objects, call);
  const own = cell === undefined ? [] : await objects.run<Row[]>('bdm_get', { instance_uuid: id });
  const all = own.filter(({ volume_id }) => typeof volume_id === 'string');
  if (volume === undefined) return json(200, { volumeAttachments: all.map((row) => shown(call, row)) });
  if (request.method === 'DELETE') await cinderVolume(cinderClient(context, userOf(call.identity)), volume);
  const row = all.find(({ volume_id }) => volume_id === volume);
  if (row === undefined) throw new Fault(404, `Instance ${id} is not attached to volume ${volume}`);
  if (request.method === 'GET') return json(200, { volumeAttachment: shown(call, row) });
  if (request.method !== 'DELETE') throw new Fault(405, 'The method is not allowed for the requested URL.');
  return detach(context, call, row as Row & Disk);
}

function shown({ request }: Call, row: Row): Row {
  const { volume_id: volume, instance_uuid: server, device_name, delete_on_termination } = row;
  const base = { volumeId: volume, serverId: server, device: device_name };
  const more = supports(request, 79) ? { delete_on_termination } : {};
  if (!supports(request, 89)) return { id: volume, ...base, ...more };
  return { ...base, ...more, attachment_id: row['attachment_id'], bdm_uuid: row['id'] };
}

/** A volume as Cinder shows it. @throws Fault 404 */
async function cinderVolume(cinder: AskCinder, id: string): Promise<Row> {
  try {
    return (await cinder('GET', `/volumes/${id}`))['volume'] as Row;
  } catch (error) {
    if (!(error instanceof PythonError) || !says(error, 'NotFound')) throw error;
    throw new Fault(404, `Volume ${id} could not be found.`);
  }
}

/** The compute writes the disk down, Cinder reserves the volume, the compute attaches it (nova.compute.api.API._attach_volume). */
async function attach(context: ServiceContext, objects: NovaObjects, call: Call): Promise<HttpReply> {
  const { body, id = '', request } = call;
  const { volumeAttachment: asked = {} } = body as { volumeAttachment?: Row };
  const {
    volumeId: volume_id = '',
    device = null,
    delete_on_termination = false,
  } = asked as { volumeId?: string } & Row;
  const user = userOf(call.identity);
  const cinder = cinderClient(context, user);
  const { cell, row: server } = await idleServer(context, id, 'attach_volume', states);
  const volume = await cinderVolume(cinder, volume_id);
  const has = await objects.run<Row[]>('bdm_get', { volume_id });
  const isShared = volume['multiattach'] === true;
  if (has.length > 0 && !isShared)
    throw new Fault(
      400,
      `Invalid volume: volume ${volume_id} is already attached to instances: ${has.map((row) => row['instance_uuid']).join(' ')}`,
    );
  if (has.some((row) => row['instance_uuid'] === id))
    throw new Fault(400, `Invalid volume: volume ${volume_id} already attached`);
  const messaging = new Messaging(context, cell.transportUrl);
  const compute = `compute.${String(server['host'])}`;
  const wanted = { uuid: id, volume_id, device, delete_on_termination };
  const bdm = await asking(objects, { instance_uuid: id, volume_id }, () =>
    messaging.call(compute, 'reserve_block_device_name', wanted),
  );
  try {
    if (isShared && !supports(request, 60))
      throw new Fault(400, 'Multiattach volumes are only supported starting with compute API version 2.60.');
    await objects.run('bdm_save', { id: bdm['id'], attachment_id: await reserve(cinder, volume_id, id) });
  } catch (error) {
    await objects.run('bdm_destroy', { id: bdm['id'] });
    throw error;
  }
  messaging.cast(compute, 'attach_volume', { id: bdm['id'], uuid: id, user });
  return json(200, { volumeAttachment: shown(call, { ...bdm, ...wanted, instance_uuid: id }) });
}

/** What a compute has written down for who asks; what nobody answered in time is not to stay. @throws PythonError */
async function asking(objects: NovaObjects, which: Row, ask: () => Promise<unknown>): Promise<Row> {
  try {
    return (await ask()) as Row;
  } catch (error) {
    for (const { id } of await objects.run<Row[]>('bdm_get', which)) await objects.run('bdm_destroy', { id });
    throw error;
  }
}

/** Cinder knows that a volume goes, then the compute takes it away (nova.compute.api.API._detach_volume). */
async function detach(context: ServiceContext, { identity, id: uuid = '' }: Call, row: Row & Disk): Promise<HttpReply> {
  if (isRoot(row)) throw new Fault(400, 'Cannot detach a root device volume');
  const user = userOf(identity);
  const { cell, row: server } = await idleServer(context, uuid, 'detach_volume', states);
  if (!(await isServed(context, cell, server))) throw new Fault(409, 'Service is unavailable at this time.');
  try {
    await cinderClient(context, user)('POST', `/volumes/${String(row['volume_id'])}/action`, {
      'os-begin_detaching': null,
    });
  } catch (error) {
    if (!(error instanceof PythonError) || !says(error, 'BadRequest')) throw error;
    throw new Fault(400, `Invalid volume: Invalid input received: ${error.message}`);
  }
  const queue = `compute.${String(server['host'])}`;
  new Messaging(context, cell.transportUrl).cast(queue, 'detach_volume', { id: row.id, uuid, user });
  return { status: 202 };
}
