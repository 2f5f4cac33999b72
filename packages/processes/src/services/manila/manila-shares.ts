import { json, locationOf } from '../../http.ts';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { demanded, type Owned } from '../../model/owned.ts';
import type { Messaging } from '../../oslo/messaging.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { actOnShare } from './manila-actions.ts';
import { demandQuota, demandShareSize, isTrue, newRow, queueOf, saveShare } from './manila-store.ts';
import { demandSize, promises, seesType } from './manila-types.ts';
import { demandVersion } from './manila-versions.ts';

/** Protocols that the configuration has. */
export const protocolsOf = ({ config }: ServiceContext): string[] =>
  config.list('DEFAULT', 'enabled_share_protocols').map((name) => name.toUpperCase());

/** Shares (manila.api.v2.shares). */
export const shares = (context: ServiceContext, messaging: Messaging): Owned => ({
  table: 'shares',
  item: 'share',
  filters: { name: 'name', status: 'status', host: 'host', snapshot_id: 'snapshot_id' },
  missing: (id) => `Share ${id} could not be found.`,
  shown,
  async make(call) {
    const made = await call.store((schema) => create(context, schema, call));
    const { share, source } = made;
    // A copy is made where its source is, and no scheduler is asked (use_scheduler_creating_share_from_snapshot).
    messaging.cast(source ?? 'manila-scheduler', 'create_share_instance', { share: share['id'] });
    return json(200, { share });
  },
  async remove({ store }, { id, host }) {
    await store((schema) => {
      const share = tableOf(schema, 'shares').get(String(id)) ?? {};
      const states = ['available', 'error', 'inactive'];
      if (!states.includes(String(share['status'])))
        throw new Fault(403, "Invalid share: Share status must be one of ('available', 'error', 'inactive').");
      const { length } = rowsOf(schema, 'share_snapshots', { share_id: id });
      if (length > 0) throw new Fault(403, `Invalid share: Share still has ${length} dependent snapshots..`);
      // What no backend has seen is gone at once.
      if (typeof host === 'string') saveShare(schema, String(id), { status: 'deleting' });
      else tableOf(schema, 'shares').delete(String(id));
    });
    if (typeof host === 'string') messaging.cast(queueOf({ host }), 'delete_share_instance', { share: id });
    return { status: 202 };
  },
  parts: {
    action(call) {
      if (call.request.method !== 'POST') throw new Fault(404, 'The resource could not be found.');
      return actOnShare(context, messaging, call);
    },
    export_locations: exportLocations,
  },
});

/** Where clients find a share (manila.api.v2.share_export_locations): all of it, or one place. @throws Fault */
async function exportLocations(call: Call, { id }: Row) {
  demandVersion(call, 9);
  if (call.request.method !== 'GET') throw new Fault(405, 'The method is not allowed for the requested URL.');
  const [, wanted] = /\/export_locations\/([^/]+)$/u.exec(locationOf(call.request).path) ?? [];
  const locations = await call.store((schema) =>
    rowsOf(schema, 'share_instance_export_locations', { share_id: id }).map(({ share_id: _share, ...row }) => row),
  );
  if (wanted === undefined) return json(200, { export_locations: locations });
  const location = locations.find((one) => one['id'] === wanted);
  if (location === undefined) throw new Fault(404, `Export location '${wanted}' not found.`);
  return json(200, { export_location: location });
}

/** Writes a share down: an empty one, or a copy of a snapshot. @returns the queue of the process that has its source @throws Fault */
function create(context: ServiceContext, schema: Schema, call: Call): { share: Row; source?: string } {
  const { body, identity } = call;
  const {
    name = null,
    share_proto: asked,
    share_type: wanted,
    snapshot_id: copied,
    size: stated,
  } = (body['share'] ?? {}) as Record<string, string>;
  const { projectId: project } = identity;
  const source = copied === undefined ? undefined : sourceOf(schema, call, copied);
  const protocol = String(asked).toUpperCase();
  const protocols = protocolsOf(context);
  const size = Number(stated ?? source?.size ?? Number.NaN);
  const invalid = (words: string) => new Fault(400, `Invalid input received: ${words}.`);
  if (!Number.isInteger(size) || size <= 0)
    throw invalid(`Share size '${String(stated)}' must be an integer and greater than 0`);
  if (source !== undefined && size < source.size)
    throw invalid(`Share size '${size}' must be equal or greater than snapshot size`);
  const type = typeOf(context, schema, call, wanted, source?.share);
  demandSize(type ?? {}, size, 'create');
  if (!protocols.includes(protocol))
    throw invalid(
      `Invalid share protocol provided: ${protocol}. It is either disabled or unsupported. Available protocols: ${protocols.join(', ')}`,
    );
  demandShareSize(context, schema, project, size);
  demandQuota(context, schema, project, { gigabytes: size, shares: 1 });
  const row = {
    ...newRow(context),
    name,
    size,
    share_proto: protocol,
    share_type_id: type?.['id'] ?? null,
    project_id: project,
    access_rules_status: 'active',
    ...promises(type),
    ...(source === undefined ? {} : { snapshot_id: copied, host: source.share['host'] }),
  };
  tableOf(schema, 'shares').set(row.id, row);
  return { share: shown(row, schema), ...(source === undefined ? {} : { source: queueOf(source.share) }) };
}

/** The snapshot that a share is to be a copy of. @throws Fault */
function sourceOf(schema: Schema, call: Call, id: string): { readonly share: Row; readonly size: number } {
  const snapshot = demanded(schema, call, 'share_snapshots', id, `Snapshot ${id} could not be found.`);
  const share = tableOf(schema, 'shares').get(String(snapshot['share_id'])) ?? {};
  if (share['create_share_from_snapshot_support'] !== true)
    throw new Fault(
      400,
      `A new share may not be created from snapshot '${id}', because the snapshot's parent share does not have that capability.`,
    );
  if (snapshot['status'] !== 'available') throw new Fault(400, "Invalid share snapshot: status must be 'available'.");
  return { share, size: Number(snapshot['size']) };
}

/** The type of a new share: the one that is asked for, that of its source, or the default. @throws Fault */
function typeOf(
  { config }: ServiceContext,
  schema: Schema,
  { identity }: Call,
  wanted: string | undefined,
  source: Row | undefined,
): Row | undefined {
  const sought = wanted ?? source?.['share_type_id'] ?? config.text('DEFAULT', 'default_share_type');
  // The default is looked up as an administrator, so that one which is not public is everybody's.
  const type = [...tableOf(schema, 'share_types').values()].find(
    (row) => [row['id'], row['name']].includes(sought) && (wanted === undefined || seesType(identity, row)),
  );
  if (type === undefined && wanted !== undefined) throw new Fault(404, 'Share type not found.');
  if (source !== undefined && type?.['id'] !== source['share_type_id'])
    throw new Fault(
      400,
      'Invalid input received: Invalid share type specified: the requested share type must match the type of the source share. If a share type is not specified when requesting a new share from a snapshot, the share type of the source share will be applied to the new share..',
    );
  const { driver_handles_share_servers: servers } = (type?.['extra_specs'] ?? {}) as Row;
  if (isTrue(servers)) throw new Fault(400, 'Share network must be set when the driver_handles_share_servers is true.');
  return type;
}

function shown({ share_type_id: type, ...row }: Row, schema: Schema): Row {
  const name = tableOf(schema, 'share_types').get(String(type))?.['name'];
  return { ...row, share_type: type, share_type_name: name ?? null };
}
