import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { json, locationOf } from '../../http.ts';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { Fault } from '../../model/fault.ts';
import { addAssignment, assignmentsOf, demandRow, findRow } from './keystone-schema.ts';
import { keystoneWords } from './keystone-words.ts';

/** Role grants and implied roles; undefined when the path is none of them. */
export function grants(
  schema: Schema,
  request: HttpMessage,
  segments: readonly string[],
  roles: readonly string[],
): HttpReply | undefined {
  const path = segments.join('/');
  if (path === 'role_assignments') return assignmentReply(schema, request, roles);
  const grant = /^(?:(projects|domains)\/([^/]+)|(system))\/users\/([^/]+)\/roles(?:\/([^/]+))?$/.exec(path);
  if (grant !== null) {
    demandAdmin(roles, 'create_grant');
    const [, kind, id = '', system, user = '', role] = grant;
    return grantReply(schema, request, { target: system ?? id, kind, user, role });
  }
  const implied = /^roles\/([^/]+)\/implies(?:\/([^/]+))?$/.exec(path);
  if (implied !== null) return impliedReply(schema, request, roles, { prior: implied[1] ?? '', implied: implied[2] });
  return undefined;
}

/** @throws Fault 403 */
function demandAdmin(roles: readonly string[], action: string): void {
  if (!roles.includes('admin')) throw new Fault(403, keystoneWords.forbidden(`identity:${action}`));
}

function grantReply(
  schema: Schema,
  request: HttpMessage,
  grant: { target: string; kind: string | undefined; user: string; role: string | undefined },
): HttpReply {
  const { target, kind, user, role } = grant;
  if (kind !== undefined) demandRow(schema, kind.slice(0, -1), target);
  demandRow(schema, 'user', user);
  const table = assignmentsOf(target);
  const held = rowsOf(schema, table, { actor_id: user, target_id: target });
  if (role === undefined) {
    return json(200, { roles: held.map((row) => findRow(schema, 'role', String(row['role_id']))), links: {} });
  }
  demandRow(schema, 'role', role);
  if (request.method === 'PUT') {
    addAssignment(schema, user, target, role);
    return { status: 204 };
  }
  const found = held.some((row) => row['role_id'] === role);
  if (!found)
    throw new Fault(
      404,
      `Could not find role assignment with role: ${role}, user or group: ${user}, project, domain, or system: ${target}.`,
    );
  if (request.method === 'DELETE') tableOf(schema, table).delete(`${user}/${target}/${role}`);
  return { status: 204 };
}

/** Roles that were granted on projects, by whom and where (keystone.api.role_assignments). */
function assignmentReply(schema: Schema, request: HttpMessage, roles: readonly string[]): HttpReply {
  demandAdmin(roles, 'list_role_assignments');
  const { query } = locationOf(request);
  const found = rowsOf(schema, assignmentsOf('project'), {
    ...(query.has('user.id') && { actor_id: query.get('user.id') }),
    ...(query.has('scope.project.id') && { target_id: query.get('scope.project.id') }),
  });
  return json(200, {
    role_assignments: found.map((row) => ({
      role: { id: row['role_id'] },
      user: { id: row['actor_id'] },
      scope: { project: { id: row['target_id'] } },
    })),
  });
}

/** Implied roles (keystone.api.roles.RoleImplicationResource). */
function impliedReply(
  schema: Schema,
  request: HttpMessage,
  roles: readonly string[],
  { prior, implied }: { prior: string; implied: string | undefined },
): HttpReply {
  const { method } = request;
  demandAdmin(roles, `${method === 'PUT' ? 'create' : 'check'}_implied_role`);
  const role = (id: string): Row => ({ id, name: demandRow(schema, 'role', id)['name'] });
  const table = tableOf(schema, 'implied_role');
  const body = (...ids: string[]) => ({ prior_role: role(prior), implies: ids.map(role) });
  if (implied === undefined) {
    const ids = rowsOf(schema, 'implied_role', { prior_role_id: prior }).map((row) => String(row['implied_role_id']));
    return json(200, { role_inference: body(...ids) });
  }
  const key = `${prior}/${implied}`;
  const { prior_role, implies } = body(implied);
  if (method === 'PUT') table.set(key, { prior_role_id: prior, implied_role_id: implied });
  else if (!table.has(key)) throw new Fault(404, `Could not find role inference rule: ${prior} implies ${implied}.`);
  if (method === 'HEAD') return { status: 204 };
  if (method === 'DELETE') {
    table.delete(key);
    return { status: 204 };
  }
  return json(method === 'PUT' ? 201 : 200, { role_inference: { prior_role, implies: implies[0] } });
}
