import type { Random } from '@openstack-operator/kube';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Passwords } from './keystone-passwords.ts';
import { addAssignment, newId } from './keystone-schema.ts';

/** What `keystone-manage bootstrap` is asked for. */
export interface BootstrapRequest {
  readonly username: string;
  readonly password: string;
  readonly projectName: string;
  readonly roleName: string;
  readonly serviceName: string;
  readonly regionId: string | undefined;
  readonly urls: Readonly<Record<'public' | 'internal' | 'admin', string | undefined>>;
}

const impliedRoles = [
  ['member', 'reader'],
  ['manager', 'member'],
] as const;

/** Makes the default domain, project, user, roles, region and identity endpoints; says what it did, line by line. */
export function bootstrap(
  schema: Schema,
  request: BootstrapRequest,
  { passwords, random }: { passwords: Passwords; random: Random },
): string[] {
  const said: string[] = [];
  /** Makes what is missing, and says so. */
  const make = (what: string, table: string, match: Row, more: Row, there = 'already exists'): Row => {
    const { row, created } = ensure(schema, table, match, random, more);
    said.push(created ? `Created ${what}` : `${what[0]?.toUpperCase()}${what.slice(1)} ${there}, skipping creation.`);
    return row;
  };
  const { username, password, projectName, roleName, regionId } = request;
  const domain = 'default';
  make(
    `domain ${domain}`,
    'project',
    { id: domain },
    {
      name: 'Default',
      is_domain: true,
      enabled: true,
      domain_id: null,
      description: 'The default domain',
    },
  );
  const project = make(
    `project ${projectName}`,
    'project',
    { name: projectName, domain_id: domain },
    {
      enabled: true,
      is_domain: false,
      parent_id: domain,
      description: 'Bootstrap project for initializing the cloud.',
    },
  );
  const hash = passwords.hash(password);
  const user = make(
    `user ${username}`,
    'user',
    { name: username, domain_id: domain },
    { enabled: true, password: hash },
  );
  if (!passwords.matches(password, user['password']) || user['enabled'] !== true) {
    Object.assign(user, { password: hash, enabled: true });
    said.push(`Reset password for user ${username}.`);
  }
  const roles = new Map<string, unknown>();
  for (const name of ['reader', 'member', 'manager', roleName, 'service']) {
    const role = make(`role ${name}`, 'role', { name, domain_id: null }, { options: { immutable: true } }, 'exists');
    roles.set(name, role['id']);
  }
  for (const [prior, implied] of [...impliedRoles, [roleName, 'manager']] as const) {
    const ids = { prior_role_id: roles.get(prior), implied_role_id: roles.get(implied) };
    tableOf(schema, 'implied_role').set(`${String(ids.prior_role_id)}/${String(ids.implied_role_id)}`, ids);
  }
  const role = String(roles.get(roleName));
  said.push(
    addAssignment(schema, String(user['id']), String(project['id']), role)
      ? `Granted role ${roleName} on project ${projectName} to user ${username}.`
      : `User ${username} already has role ${roleName} on project ${projectName}.`,
  );
  addAssignment(schema, String(user['id']), 'system', role);
  if (regionId !== undefined)
    make(`region ${regionId}`, 'region', { id: regionId }, { description: '', parent_region_id: null }, 'exists');
  catalog(schema, request, random, said);
  return said;
}

/** Endpoints of the region are changed in place; a new region gets a second set. */
function catalog(schema: Schema, request: BootstrapRequest, random: Random, said: string[]): void {
  const wanted = Object.entries(request.urls).filter(([, url]) => url !== undefined);
  if (wanted.length === 0) return;
  const service = { name: request.serviceName, enabled: true };
  const { row } = ensure(schema, 'service', { type: 'identity' }, random, service);
  const region = request.regionId === undefined ? {} : { region_id: request.regionId };
  for (const [kind, url] of wanted) {
    const match = { service_id: row['id'], interface: kind, ...region };
    const endpoint = ensure(schema, 'endpoint', match, random, { enabled: true });
    endpoint.row['url'] = url;
    said.push(endpoint.created ? `Created ${kind} endpoint ${url}` : `${kind} endpoint updated`);
  }
}

function ensure(schema: Schema, table: string, match: Row, random: Random, more: Row): { row: Row; created: boolean } {
  const known = rowsOf(schema, table, match)[0];
  if (known !== undefined) return { row: known, created: false };
  const row: Row = { id: newId(random), ...match, ...more };
  tableOf(schema, table).set(String(row['id']), row);
  return { row, created: true };
}
