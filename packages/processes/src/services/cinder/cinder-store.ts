import { parseTimestamp, uuid } from '@openstack-operator/kube';
import { type Row, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { isoTime } from '../../program-support.ts';

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

const now = ({ process }: ServiceContext): string => isoTime(Math.floor(process.clock.now() / 1000));

/** Writes a service down, when it starts and every so often; what it can do is told to schedulers by a fan-out in truth. */
export function report(context: ServiceContext, schema: Schema, host: string, binary: string, more: Row = {}): void {
  const services = tableOf(schema, 'services');
  const known = services.get(`${host}/${binary}`) ?? { host, binary, topic: binary, disabled: false };
  services.set(`${host}/${binary}`, { ...known, ...more, updated_at: now(context) });
}

/** Whether a service has reported lately (`service_down_time`). */
export function isUp({ process, config }: ServiceContext, row: Row): boolean {
  const seen = parseTimestamp(String(row['updated_at']));
  return process.clock.now() - seen <= config.integer('DEFAULT', 'service_down_time') * 1000;
}

/** A new volume, as it is before a scheduler has seen it. */
export function newVolume(context: ServiceContext, volume: Row): Row {
  return {
    id: uuid(context.process.random),
    status: 'creating',
    name: null,
    description: null,
    bootable: 'false',
    attachments: [],
    ...volume,
    created_at: now(context),
  };
}

/** Changes a volume that is there still. */
export function saveVolume(schema: Schema, id: string, change: Row): void {
  Object.assign(tableOf(schema, 'volumes').get(id) ?? {}, change);
}
