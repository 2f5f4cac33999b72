import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { json, locationOf } from '../../http.ts';
import { type Row, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { Fault } from '../../model/fault.ts';
import type { Passwords } from './keystone-passwords.ts';
import { addAssignment, findRow, findRows, newId } from './keystone-schema.ts';

interface GrantCaller {
  readonly roles: readonly string[];
}

/** Role grants and assignments; undefined when the path is none of them. */
export function grants(
  schema: Schema,
  request: HttpMessage,
  segments: readonly string[],
  caller: GrantCaller,
  passwords: Passwords,
): HttpReply | undefined {
  if (segments[0] === 'role_assignments' && segments.length === 1) return assignments(schema, request);
  const path = segments.join('/');
  const grant = /^(?:(projects|domains)\/([^/]+)|(system))\/users\/([^/]+)\/roles(?:\/([^/]+))?$/.exec(path);
  if (grant !== null) {
    if (!caller.roles.includes('admin'))
      throw new Fault(403, 'You are not authorized to perform the requested action: identity:create_grant.');
    const [, kind, id = '', system, user = '', role] = grant;
    return grantReply(schema, request, { target: system ?? id, kind, user, role });
  }
  const implied = /^roles\/([^/]+)\/implies(?:\/([^/]+))?$/.exec(path);
  if (implied !== null) return impliedReply(schema, request, caller, { prior: implied[1] ?? '', implied: implied[2] });
  const credential = /^users\/([^/]+)\/application_credentials(?:\/([^/]+))?$/.exec(path);
  return credential === null
    ? undefined
    : applicationCredentials(schema, request, passwords, { user: credential[1] as string, id: credential[2] });
}

function grantReply(
  schema: Schema,
  request: HttpMessage,
  grant: { target: string; kind: string | undefined; user: string; role: string | undefined },
): HttpReply {
  const { target, kind, user, role } = grant;
  if (kind !== undefined && findRow(schema, 'project', target) === undefined) {
    throw new Fault(404, `Could not find ${kind.slice(0, -1)}: ${target}.`);
  }
  if (findRow(schema, 'user', user) === undefined) throw new Fault(404, `Could not find user: ${user}.`);
  const table = tableOf(schema, target === 'system' ? 'system_assignment' : 'assignment');
  const held = [...table.values()].filter((row) => row['actor_id'] === user && row['target_id'] === target);
  if (role === undefined) {
    return json(200, { roles: held.map((row) => findRow(schema, 'role', String(row['role_id']))), links: {} });
  }
  if (findRow(schema, 'role', role) === undefined) throw new Fault(404, `Could not find role: ${role}.`);
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
  if (request.method === 'DELETE') table.delete(`${user}/${target}/${role}`);
  return { status: 204 };
}

/** Implied roles (keystone.api.roles.RoleImplicationResource). */
function impliedReply(
  schema: Schema,
  request: HttpMessage,
  caller: GrantCaller,
  { prior, implied }: { prior: string; implied: string | undefined },
): HttpReply {
  const { method } = request;
  if (!caller.roles.includes('admin'))
    throw new Fault(
      403,
      `You are not authorized to perform the requested action: identity:${method === 'PUT' ? 'create' : 'check'}_implied_role.`,
    );
  const role = (id: string): Row => {
    const found = findRow(schema, 'role', id);
    if (found === undefined) throw new Fault(404, `Could not find role: ${id}.`);
    return { id, name: found['name'] };
  };
  const table = tableOf(schema, 'implied_role');
  const body = (...ids: string[]) => ({ prior_role: role(prior), implies: ids.map(role) });
  if (implied === undefined) {
    const ids = findRows(schema, 'implied_role', { prior_role_id: prior }).map((row) => String(row['implied_role_id']));
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

function assignments(schema: Schema, request: HttpMessage): HttpReply {
  const { query } = locationOf(request);
  const names = query.has('include_names');
  const entity = (table: string, id: unknown): Row => {
    const row = findRow(schema, table, String(id));
    const domain = row?.['domain_id'];
    return {
      id,
      ...(names && { name: row?.['name'] }),
      ...(names &&
        typeof domain === 'string' && { domain: { id: domain, name: findRow(schema, 'project', domain)?.['name'] } }),
    };
  };
  const wanted = (name: string, value: unknown): boolean => !query.has(name) || query.get(name) === value;
  const project = findRows(schema, 'assignment')
    .filter(
      (row) =>
        wanted('user.id', row['actor_id']) &&
        wanted('role.id', row['role_id']) &&
        wanted('scope.project.id', row['target_id']) &&
        !query.has('scope.system'),
    )
    .map((row) => ({
      role: entity('role', row['role_id']),
      user: entity('user', row['actor_id']),
      scope: { project: entity('project', row['target_id']) },
    }));
  const system = findRows(schema, 'system_assignment')
    .filter(
      (row) =>
        wanted('user.id', row['actor_id']) && wanted('role.id', row['role_id']) && !query.has('scope.project.id'),
    )
    .map((row) => ({
      role: entity('role', row['role_id']),
      user: entity('user', row['actor_id']),
      scope: { system: { all: true } },
    }));
  return json(200, { role_assignments: [...project, ...system], links: {} });
}

function applicationCredentials(
  schema: Schema,
  request: HttpMessage,
  passwords: Passwords,
  { user, id }: { user: string; id: string | undefined },
): HttpReply {
  const table = tableOf(schema, 'application_credential');
  const mine = [...table.values()].filter((row) => row['user_id'] === user);
  const visible = ({ secret: _secret, ...row }: Row): Row => row;
  if (request.method === 'POST') {
    const body = (JSON.parse(request.body) as { application_credential: Row }).application_credential;
    if (mine.some((row) => row['name'] === body['name']))
      throw new Fault(
        409,
        `Conflict occurred attempting to store application_credential - Duplicate entry found with name ${String(body['name'])}.`,
      );
    // Keystone makes the secret of whoever brings none: base64url of 64 bytes, 86 characters (keystone.api.users).
    const made = Buffer.alloc(64, table.size + 1).toString('base64url');
    const secret = typeof body['secret'] === 'string' ? body['secret'] : made;
    const row: Row = {
      project_id: null,
      ...body,
      secret,
      id: body['id'] ?? newId({ next: () => 0, bytes: (n) => new Uint8Array(n).fill(table.size + 1) }),
      user_id: user,
    };
    table.set(String(row['id']), { ...row, secret: passwords.hash(secret) });
    return json(201, { application_credential: row });
  }
  if (id === undefined) return json(200, { application_credentials: mine.map(visible), links: {} });
  const row = mine.find((candidate) => candidate['id'] === id);
  if (row === undefined) throw new Fault(404, `Could not find application credential: ${id}.`);
  if (request.method === 'DELETE') {
    table.delete(id);
    return { status: 204 };
  }
  return json(200, { application_credential: visible(row) });
}
