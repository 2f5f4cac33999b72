import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';

export const octaviaDatabase: ProjectDatabase = {
  heads: ['fabf4983846b'],
  tables:
    'additional_vip algorithm amphora amphora_build_request amphora_build_slots amphora_health amphora_member_port amphora_roles availability_zone availability_zone_profile client_authentication_mode flavor flavor_profile health_monitor health_monitor_type l7policy l7policy_action l7rule l7rule_compare_type l7rule_type lb_topology listener listener_cidr listener_statistics load_balancer member operating_status pool protocol provisioning_status quotas session_persistence session_persistence_type sni vip vip_security_group vrrp_auth_method vrrp_group',
};

/** Collections of the API, with what bodies call an item, and its table. */
export const kinds = {
  loadbalancers: { item: 'loadbalancer', table: 'load_balancer' },
  listeners: { item: 'listener', table: 'listener' },
  pools: { item: 'pool', table: 'pool' },
  members: { item: 'member', table: 'member' },
} as const;

/** One of them. */
export type Kind = keyof typeof kinds;

/** What has become of a load balancer and its parts, as a provider tells it. */
export interface Told {
  readonly balancer: string;
  readonly status: string;
}

/** What belongs to a load balancer, by collection. */
export function partsOf(schema: Schema, balancer: string): Readonly<Record<Exclude<Kind, 'loadbalancers'>, Row[]>> {
  const rows = (kind: Kind) => rowsOf(schema, kinds[kind].table, { balancer });
  return { listeners: rows('listeners'), pools: rows('pools'), members: rows('members') };
}

/** Writes it down: what is deleted goes, but a load balancer, whose row housekeeping removes later (driver_updater). */
export function settle(schema: Schema, { balancer, status }: Told, now: number): void {
  const row = tableOf(schema, 'load_balancer').get(balancer);
  if (row !== undefined) Object.assign(row, { provisioning_status: status, updated_at: now });
  for (const [kind, parts] of Object.entries(partsOf(schema, balancer)) as [Kind, Row[]][])
    for (const part of parts)
      if (status === 'DELETED') tableOf(schema, kinds[kind].table).delete(String(part['id']));
      else part['provisioning_status'] = status;
}
