import { uuid } from '@openstack-operator/kube';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { Fault } from '../../model/fault.ts';
import { oversOf, type Quotas, quotaOf } from '../../model/quotas.ts';
import { now } from '../../model/service-rows.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

export const cinderDatabase: ProjectDatabase = {
  heads: ['9c74c1c6971f'],
  tables:
    'attachment_specs backup_metadata backups cgsnapshots clusters consistencygroups default_volume_types driver_initiator_data encryption group_snapshots group_type_projects group_type_specs group_types group_volume_type_mapping groups image_volume_cache_entries messages quality_of_service_specs quota_classes quota_usages quotas reservations services snapshot_metadata snapshots transfers volume_admin_metadata volume_attachment volume_glance_metadata volume_metadata volume_type_extra_specs volume_type_projects volume_types volumes workers',
};

/** The type that the first migration leaves, for volumes of before there were any. */
export function seedTypes({ process }: ServiceContext, schema: Schema): void {
  const types = tableOf(schema, 'volume_types');
  const id = uuid(process.random);
  if (![...types.values()].some(({ name }) => name === '__DEFAULT__'))
    types.set(id, { id, name: '__DEFAULT__', description: 'Default Volume Type', is_public: true, extra_specs: {} });
}

/** A new volume, as it is before a scheduler has seen it. */
export function newVolume(context: ServiceContext, volume: Row): Row {
  return {
    id: uuid(context.process.random),
    status: 'creating',
    name: null,
    description: null,
    bootable: 'false',
    multiattach: false,
    ...volume,
    created_at: now(context),
  };
}

/** Changes a volume that is there still. */
export function saveVolume(schema: Schema, id: string, change: Row): void {
  Object.assign(tableOf(schema, 'volumes').get(id) ?? {}, change);
}

/** The process that has a volume, by the host of its row: its queue. */
export const queueOf = ({ host }: Row): string => `cinder-volume.${String(host).split('#')[0]}`;

/** The state of a volume that follows from its attachments: `attached` counts before `attaching`, that before `reserved`. */
export function statusByAttachments(schema: Schema, volume: string): string {
  const states = rowsOf(schema, 'volume_attachment', { volume_id: volume }).map((row) => String(row['attach_status']));
  const [first = 'available'] = ['attached', 'attaching', 'reserved'].filter((state) => states.includes(state));
  return first === 'attached' ? 'in-use' : first;
}

/** How much of each resource a project has; snapshots take room as their volumes do. */
function usageOf(schema: Schema, project: unknown): Readonly<Record<string, number>> {
  const [volumes, snapshots, backups] = ['volumes', 'snapshots', 'backups'].map((table) =>
    rowsOf(schema, table, { project_id: project }),
  ) as [Row[], Row[], Row[]];
  const gigabytes = (rows: Row[]) => rows.reduce((sum, row) => sum + Number(row['volume_size'] ?? row['size']), 0);
  return {
    volumes: volumes.length,
    snapshots: snapshots.length,
    gigabytes: gigabytes(volumes) + gigabytes(snapshots),
    backups: backups.length,
    backup_gigabytes: gigabytes(backups),
  };
}

/** What Cinder lets a project have. */
export const quotas: Quotas = {
  resources: ['volumes', 'snapshots', 'gigabytes', 'backups', 'backup_gigabytes'],
  option: (resource) => ['DEFAULT', `quota_${resource}`],
  usage: usageOf,
  rule: 'volume_extension:quotas:update',
  unknown: (resource) => `Bad key(s) in quota set: ${resource}`,
};

/** The exceptions that a resource is refused with (cinder.quota_utils.process_reserve_over_quota). */
const limits: Readonly<Record<string, (allowed: number) => string>> = {
  volumes: (allowed) =>
    `VolumeLimitExceeded: Maximum number of volumes allowed (${allowed}) exceeded for quota 'volumes'.`,
  snapshots: (allowed) => `SnapshotLimitExceeded: Maximum number of snapshots allowed (${allowed}) exceeded`,
  backups: (allowed) => `BackupLimitExceeded: Maximum number of backups allowed (${allowed}) exceeded`,
};

/** Refuses what a project may not have beside what it has. @throws Fault 413 */
export function demandQuota(
  context: ServiceContext,
  schema: Schema,
  project: unknown,
  more: Readonly<Record<string, number>>,
): void {
  const [over] = oversOf(quotas, context, schema, project, more);
  if (over === undefined) return;
  const allowed = quotaOf(quotas, context, schema, project, over);
  const size =
    over === 'backup_gigabytes' ? 'VolumeBackupSizeExceedsAvailableQuota' : 'VolumeSizeExceedsAvailableQuota';
  const what = over === 'backup_gigabytes' ? 'backup' : 'volume or snapshot';
  throw new Fault(
    413,
    limits[over]?.(allowed) ??
      `${size}: Requested ${what} exceeds allowed ${over} quota. Requested ${more[over]}G, quota is ${allowed}G and ${usageOf(schema, project)[over]}G has been consumed.`,
  );
}
