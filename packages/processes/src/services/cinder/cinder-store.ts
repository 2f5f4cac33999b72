import { uuid } from '@openstack-operator/kube';
import { type Row, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
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
    attachments: [],
    ...volume,
    created_at: now(context),
  };
}

/** Changes a volume that is there still. */
export function saveVolume(schema: Schema, id: string, change: Row): void {
  Object.assign(tableOf(schema, 'volumes').get(id) ?? {}, change);
}

/** What a project may have at most; -1: as much as it likes. Who has no quota of its own has that of all. */
export function quotaOf({ config }: ServiceContext, schema: Schema, project: unknown, resource: string): number {
  const own = tableOf(schema, 'quotas').get(`${String(project)}/${resource}`)?.['hard_limit'];
  return own === undefined ? config.integer('DEFAULT', `quota_${resource}`) : Number(own);
}
