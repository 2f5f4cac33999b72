import { uuid } from '@openstack-operator/kube';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { Fault } from '../../model/fault.ts';
import { oversOf, type Quotas, quotaOf } from '../../model/quotas.ts';
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

/** Columns that a new row of any table has. */
export const newRow = (context: ServiceContext) => ({
  id: uuid(context.process.random),
  status: 'creating',
  name: null,
  created_at: now(context),
});

/** Changes a share that is there still. */
export function saveShare(schema: Schema, id: string, change: Row): void {
  Object.assign(tableOf(schema, 'shares').get(id) ?? {}, change);
}

/** The process that has a share, by the host of its row: its queue. */
export const queueOf = ({ host }: Row): string => `manila-share.${String(host).split('#')[0]}`;

/** Rules of a share. */
export const rulesOf = (schema: Schema, share: unknown): Row[] =>
  rowsOf(schema, 'share_access_map', { share_id: share });

/** What Manila lets a project have. */
export const quotas: Quotas = {
  resources: ['shares', 'gigabytes', 'snapshots', 'snapshot_gigabytes', 'per_share_gigabytes'],
  option: (resource) => ['quota', resource],
  usage: (schema, project) => {
    const [shares, snapshots] = ['shares', 'share_snapshots'].map((table) =>
      rowsOf(schema, table, { project_id: project }),
    ) as [Row[], Row[]];
    const gigabytes = (rows: Row[]) => rows.reduce((sum, { size }) => sum + Number(size), 0);
    return {
      shares: shares.length,
      gigabytes: gigabytes(shares),
      snapshots: snapshots.length,
      snapshot_gigabytes: gigabytes(snapshots),
    };
  },
  rule: 'quota_set:update',
  unknown: (resource) => `Bad key(s) ${resource} in quota_set.`,
  exceeded: (resource, limit, used) =>
    `Quota value ${String(limit)} for ${resource} is smaller than already used and reserved ${used}.`,
};

/** The words of what a resource is refused with (manila.exception). */
const limits: Readonly<Record<string, (allowed: number) => string>> = {
  gigabytes: () => 'Requested share exceeds allowed project/user or share type gigabytes quota.',
  snapshot_gigabytes: () => 'Requested snapshot exceeds allowed project/user or share type gigabytes quota.',
  shares: (allowed) =>
    `Maximum number of shares allowed (${allowed}) either per project/user or share type quota is exceeded.`,
  snapshots: (allowed) =>
    `Maximum number of snapshots allowed (${allowed}) either per project/user or share type quota is exceeded.`,
};

/** Refuses what a project may not have beside what it has. @throws Fault 413, or `status` */
export function demandQuota(
  context: ServiceContext,
  schema: Schema,
  project: unknown,
  more: Readonly<Record<string, number>>,
  status = 413,
): void {
  const [over] = oversOf(quotas, context, schema, project, more);
  if (over === undefined) return;
  throw new Fault(status, limits[over]?.(quotaOf(quotas, context, schema, project, over)) ?? over);
}

/** Refuses a share that is larger than any may be. @throws Fault 413 */
export function demandShareSize(context: ServiceContext, schema: Schema, project: unknown, size: number): void {
  const limit = quotaOf(quotas, context, schema, project, 'per_share_gigabytes');
  if (limit >= 0 && size > limit)
    throw new Fault(413, `Requested share size ${size} is larger than maximum allowed limit ${limit}.`);
}
