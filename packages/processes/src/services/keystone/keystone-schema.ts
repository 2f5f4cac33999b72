import type { Random } from '@openstack-operator/kube';
import { hasColumns, type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { Fault } from '../../model/fault.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { keystoneWords } from './keystone-words.ts';

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

/** A row that must be there: a domain, a user, a role, ... @throws Fault 404 */
export function demandRow(schema: Schema, item: string, id: string, columns?: Row): Row {
  const row = findRow(schema, item === 'domain' ? 'project' : item, id);
  if (row !== undefined && hasColumns(row, columns)) return row;
  throw new Fault(404, keystoneWords.notFound(item, id));
}

/** Table of the roles on a target: a project's or domain's id, or `system`. */
export function assignmentsOf(target: string): string {
  return target === 'system' ? 'system_assignment' : 'assignment';
}

/** Grants a role; told whether it was new. */
export function addAssignment(schema: Schema, actor: string, target: string, role: string): boolean {
  const table = tableOf(schema, assignmentsOf(target));
  const key = `${actor}/${target}/${role}`;
  if (table.has(key)) return false;
  table.set(key, { actor_id: actor, target_id: target, role_id: role });
  return true;
}

/** Roles of a user on a target, with those that they imply. */
export function rolesOf(schema: Schema, actor: string, target: string): Row[] {
  const found = new Set<string>();
  const granted = rowsOf(schema, assignmentsOf(target), { actor_id: actor, target_id: target });
  const queue = granted.map((row) => String(row['role_id']));
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    for (const row of rowsOf(schema, 'implied_role', { prior_role_id: id })) queue.push(String(row['implied_role_id']));
  }
  return [...found].map((id) => findRow(schema, 'role', id)).filter((row) => row !== undefined);
}
