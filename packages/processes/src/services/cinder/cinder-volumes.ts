import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../../http.ts';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { demanded } from '../../model/owned.ts';
import type { Messaging } from '../../oslo/messaging.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { actOnVolume } from './cinder-actions.ts';
import { evict, imageOf } from './cinder-images.ts';
import { demandQuota, newVolume, queueOf, saveVolume } from './cinder-store.ts';

/** @throws Fault */
export async function volumes(
  context: ServiceContext,
  messaging: Messaging,
  call: Call,
): Promise<HttpReply | undefined> {
  const { request, id, part, store, identity, query, body } = call;
  if (part === 'action' && request.method === 'POST') return actOnVolume(context, messaging, call);
  if (part !== undefined) throw new Fault(404, 'The resource could not be found.');
  if (request.method === 'POST')
    return json(202, { volume: await createVolume(context, messaging, call, (body['volume'] ?? {}) as AskedVolume) });
  const isList = id === undefined || id === 'detail';
  // One of another project an administrator finds by its identifier alone.
  const isAll = identity.roles.includes('admin') && (!isList || query.get('all_tenants') === '1');
  const rows = await store((schema) =>
    [...tableOf(schema, 'volumes').values()]
      .filter((row) => isAsked(row, isAll ? undefined : identity.projectId, query.get('host')))
      .map((row) => shown(row, schema)),
  );
  if (isList) return json(200, { volumes: rows });
  const volume = rows.find((row) => row['id'] === id);
  if (volume === undefined) throw new Fault(404, `Volume ${id} could not be found.`);
  if (request.method === 'GET') return json(200, { volume });
  if (request.method !== 'DELETE') throw new Fault(405, 'The method is not allowed for the requested URL.');
  return remove(messaging, call, id);
}

/** What may go (cinder.volume.api.API.delete): nobody has it, and there is no snapshot of it. */
const removable = ['available', 'error', 'error_restoring', 'error_extending', 'error_managing'];

async function remove(messaging: Messaging, { store }: Call, id: string): Promise<HttpReply> {
  const volume = await store((schema) => {
    const volume = tableOf(schema, 'volumes').get(id) ?? {};
    const isHeld = ['snapshots', 'volume_attachment'].some(
      (table) => rowsOf(schema, table, { volume_id: id }).length > 0,
    );
    if (isHeld || !removable.includes(String(volume['status'])))
      throw new Fault(
        400,
        'Invalid volume: Volume status must be available or error or error_restoring or error_extending or error_managing and must not be migrating, attached, belong to a group, have snapshots, awaiting a transfer, or be disassociated from snapshots after volume transfer.',
      );
    evict(schema, id);
    // What no backend has seen is gone at once.
    if (typeof volume['host'] !== 'string') tableOf(schema, 'volumes').delete(id);
    else saveVolume(schema, id, { status: 'deleting' });
    return volume;
  });
  if (typeof volume['host'] === 'string') messaging.cast(queueOf(volume), 'delete_volume', { volume: id });
  return { status: 202 };
}

/** Whether a volume is in a list. A backend's name finds those of all its pools (cinder.db.sqlalchemy.api._filter_host). */
function isAsked(row: Row, project: string | undefined, host: string | null): boolean {
  const own = typeof row['host'] === 'string' ? row['host'] : '';
  const isThere = host === null || own === host || own.startsWith(`${host}#`) || own.startsWith(`${host}@`);
  return isThere && (project === undefined || row['project_id'] === project);
}

/** What a volume may be a copy of, how that is called in refusals, and its states (cinder.volume.flows.api.create_volume). */
const sources = [
  {
    column: 'snapshot_id',
    table: 'snapshots',
    words: ['Invalid snapshot', 'Originating snapshot', 'Snapshot', 'the snapshot size ', 'snapshot'],
    states: ['available', 'backing-up'],
  },
  {
    column: 'source_volid',
    table: 'volumes',
    words: ['Invalid volume', 'Originating source volume', 'Volume', 'original volume size  ', 'volume'],
    states: ['available', 'in-use'],
  },
] as const;

/** Columns of a volume that follow from what it is a copy of; none of an empty one. @throws Fault */
function copied(schema: Schema, call: Call, asked: Row): Row {
  for (const { column, table, states, words } of sources) {
    const [invalid, originating, what, size, original] = words;
    const id = asked[column];
    if (typeof id !== 'string') continue;
    const source = demanded(schema, call, table, id, `${what} ${id} could not be found.`);
    if (!states.some((state) => state === source['status']))
      throw new Fault(400, `${invalid}: ${originating} status must be one of '${states.join(', ')}' values`);
    const volume = table === 'volumes' ? source : tableOf(schema, 'volumes').get(String(source['volume_id']));
    const least = Number(source['volume_size'] ?? source['size']);
    const wanted = Number(asked['size'] ?? least);
    if (wanted < least)
      throw new Fault(
        400,
        `Invalid input received: Volume size '${wanted}'GB cannot be smaller than ${size}${least}GB. They must be >= original ${original} size.`,
      );
    const { bootable, volume_image_metadata, volume_type_id } = volume ?? {};
    const backend = queueOf(volume ?? {}).replace('cinder-volume.', '');
    return { [column]: id, size: wanted, bootable, volume_image_metadata, volume_type_id, backend };
  }
  return {};
}

/** What is asked of a new volume. */
type AskedVolume = Row & { readonly volume_type?: string | null; readonly imageRef?: string };

/** Writes a volume down, and asks a scheduler for its place; gives it as it is shown. @throws Fault */
export async function createVolume(
  context: ServiceContext,
  messaging: Messaging,
  call: Call,
  asked: AskedVolume,
): Promise<Row> {
  const { store, identity } = call;
  const { name = null, volume_type, imageRef, metadata = {} } = asked;
  const stated = volume_type ?? undefined;
  const image = imageRef === undefined ? {} : { image: await imageOf(context, identity, imageRef) };
  const fallback = context.config.text('DEFAULT', 'default_volume_type');
  const { volume, backend } = await store((schema) => {
    const { backend, ...source } = copied(schema, call, asked);
    const size = source['size'] ?? asked['size'];
    if (!Number.isInteger(size) || Number(size) <= 0)
      throw new Fault(
        400,
        `Invalid input received: Volume size '${JSON.stringify(size)}' must be an integer and greater than 0`,
      );
    const wanted = stated ?? source['volume_type_id'] ?? fallback;
    const type = [...tableOf(schema, 'volume_types').values()].find(
      ({ id, name, is_public: isPublic }) =>
        [id, name].includes(wanted) && (isPublic !== false || identity.roles.includes('admin') || stated === undefined),
    );
    if (type === undefined)
      throw stated === undefined
        ? new Fault(500, `The request cannot be fulfilled as the default volume type ${fallback} cannot be found.`)
        : new Fault(404, `Volume type with name ${stated} could not be found.`);
    if (type['encryption'] !== undefined) throw new Fault(400, 'this simulated Cinder knows no encrypted volumes');
    demandQuota(context, schema, identity.projectId, { gigabytes: Number(size), volumes: 1 });
    const { multiattach } = (type['extra_specs'] ?? {}) as Row;
    const row = newVolume(context, {
      ...source,
      name,
      metadata,
      size,
      volume_type_id: type['id'],
      project_id: identity.projectId,
      multiattach: multiattach === '<is> True',
    });
    tableOf(schema, 'volumes').set(String(row['id']), row);
    return { volume: shown(row, schema), backend };
  });
  // A copy is made where its source is (snapshot_same_host).
  messaging.cast('cinder-scheduler', 'create_volume', { volume: volume['id'], ...image, backend });
  return volume;
}

function shown({ host, volume_type_id: type, project_id: project, ...row }: Row, schema: Schema): Row {
  const attached = rowsOf(schema, 'volume_attachment', { volume_id: row['id'], attach_status: 'attached' });
  return {
    ...row,
    attachments: attached.map(({ id, instance_uuid, attached_host, mountpoint }) => ({
      id: row['id'],
      attachment_id: id,
      volume_id: row['id'],
      server_id: instance_uuid,
      host_name: attached_host,
      device: mountpoint,
    })),
    volume_type: tableOf(schema, 'volume_types').get(String(type))?.['name'] ?? null,
    'os-vol-tenant-attr:tenant_id': project,
    'os-vol-host-attr:host': host ?? null,
  };
}
