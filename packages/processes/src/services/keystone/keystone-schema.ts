import type { Random } from '@openstack-operator/kube';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';

/** Revisions of the branches of the migrations, in the order in which they are run. */
export const [expandHead, contractHead] = ['47147121', 'c88cdce8f248'];

/** Keystone 27. */
export const keystoneDatabase: ProjectDatabase = {
  sqlite: true,
  heads: [expandHead, contractHead],
  tables:
    'access_rule application_credential application_credential_role assignment config_register credential endpoint endpoint_group federated_user federation_protocol group id_mapping identity_provider idp_remote_ids implied_role limit local_user mapping nonlocal_user password policy policy_association project project_endpoint project_option project_tag region registered_limit request_token revocation_event role role_option sensitive_config service service_provider system_assignment trust trust_role user user_group_membership user_option whitelisted_config',
};

/** An identifier as `uuid.uuid4().hex`. */
export function newId(random: Random): string {
  return Buffer.from(random.bytes(16)).toString('hex');
}

/** A row by its id. */
export function findRow(schema: Schema, table: string, id: string): Row | undefined {
  return tableOf(schema, table).get(id);
}

/** Grants a role; told whether it was new. `target` is a project's or domain's id, or `system`. */
export function addAssignment(schema: Schema, actor: string, target: string, role: string): boolean {
  const table = tableOf(schema, target === 'system' ? 'system_assignment' : 'assignment');
  const key = `${actor}/${target}/${role}`;
  if (table.has(key)) return false;
  table.set(key, { actor_id: actor, target_id: target, role_id: role });
  return true;
}

/** Roles of a user on a target, with those that they imply. */
export function rolesOf(schema: Schema, actor: string, target: string): Row[] {
  const table = tableOf(schema, target === 'system' ? 'system_assignment' : 'assignment');
  const found = new Set<string>();
  const queue = [...table.values()]
    .filter((row) => row['actor_id'] === actor && row['target_id'] === target)
    .map((row) => String(row['role_id']));
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    for (const row of rowsOf(schema, 'implied_role', { prior_role_id: id })) queue.push(String(row['implied_role_id']));
  }
  return [...found].map((id) => findRow(schema, 'role', id)).filter((row) => row !== undefined);
}
