import { uuid } from '@openstack-operator/kube';
import { type Row, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { now } from '../../model/service-rows.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

export const manilaDatabase: ProjectDatabase = {
  heads: ['0d8c8f6d54a4'],
  tables:
    'async_operation_data availability_zones backend_info drivers_private_data messages network_allocations project_share_type_quotas project_user_quotas quota_classes quota_usages quotas reservations resource_locks security_services services share_access_map share_access_rules_metadata share_backups share_group_share_type_mappings share_group_snapshots share_group_type_projects share_group_type_share_type_mappings share_group_type_specs share_group_types share_groups share_instance_access_map share_instance_export_locations share_instance_export_locations_metadata share_instances share_metadata share_network_security_service_association share_network_subnet_metadata share_network_subnets share_networks share_server_backend_details share_server_share_network_subnet_mappings share_servers share_snapshot_access_map share_snapshot_instance_access_map share_snapshot_instance_export_locations share_snapshot_instances share_snapshot_metadata share_snapshots share_type_extra_specs share_type_projects share_types shares transfers',
};

/** Whether a text of an extra spec, or a capability, says yes. */
export const isTrue = (value: unknown): boolean => String(value).toLowerCase() === 'true';

/** A new share, as it is before a scheduler has seen it. */
export function newShare(context: ServiceContext, share: Row): Row {
  return { id: uuid(context.process.random), status: 'creating', name: null, ...share, created_at: now(context) };
}

/** Changes a share that is there still. */
export function saveShare(schema: Schema, id: string, change: Row): void {
  Object.assign(tableOf(schema, 'shares').get(id) ?? {}, change);
}
