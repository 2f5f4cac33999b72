import type { Random } from '@openstack-operator/kube';
import type { Row, Schema } from '../../infrastructure/mysql-protocol.ts';
import { tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Passwords } from './keystone-passwords.ts';
import { addAssignment, findRows, newId } from './keystone-schema.ts';

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
  const domain = 'default';
  const projects = tableOf(schema, 'project');
  if (projects.has(domain)) said.push(`Domain ${domain} already exists, skipping creation.`);
  else {
    projects.set(domain, {
      id: domain,
      name: 'Default',
      is_domain: true,
      enabled: true,
      domain_id: null,
      description: 'The default domain',
    });
    said.push(`Created domain ${domain}`);
  }
  const project = ensure(schema, 'project', { name: request.projectName, domain_id: domain }, random, () => ({
    enabled: true,
    is_domain: false,
    parent_id: domain,
    description: 'Bootstrap project for initializing the cloud.',
  }));
  said.push(
    project.created
      ? `Created project ${request.projectName}`
      : `Project ${request.projectName} already exists, skipping creation.`,
  );
  const user = ensure(schema, 'user', { name: request.username, domain_id: domain }, random, () => ({
    enabled: true,
    password: passwords.hash(request.password),
  }));
  if (user.created) said.push(`Created user ${request.username}`);
  else {
    said.push(`User ${request.username} already exists, skipping creation.`);
    if (!passwords.matches(request.password, user.row['password']) || user.row['enabled'] !== true) {
      Object.assign(user.row, { password: passwords.hash(request.password), enabled: true });
      said.push(`Reset password for user ${request.username}.`);
    }
  }
  const roles = new Map<string, string>();
  for (const name of ['reader', 'member', 'manager', request.roleName, 'service']) {
    const role = ensure(schema, 'role', { name, domain_id: null }, random, () => ({ options: { immutable: true } }));
    roles.set(name, String(role.row['id']));
    said.push(role.created ? `Created role ${name}` : `Role ${name} exists, skipping creation.`);
  }
  for (const [prior, implied] of [...impliedRoles, [request.roleName, 'manager']] as const) {
    const ids = { prior_role_id: roles.get(prior), implied_role_id: roles.get(implied) };
    tableOf(schema, 'implied_role').set(`${ids.prior_role_id}/${ids.implied_role_id}`, ids);
  }
  const role = roles.get(request.roleName) as string;
  const granted = addAssignment(schema, String(user.row['id']), String(project.row['id']), role);
  said.push(
    granted
      ? `Granted role ${request.roleName} on project ${request.projectName} to user ${request.username}.`
      : `User ${request.username} already has role ${request.roleName} on project ${request.projectName}.`,
  );
  addAssignment(schema, String(user.row['id']), 'system', role);
  if (request.regionId !== undefined) {
    const regions = tableOf(schema, 'region');
    said.push(
      regions.has(request.regionId)
        ? `Region ${request.regionId} exists, skipping creation.`
        : `Created region ${request.regionId}`,
    );
    if (!regions.has(request.regionId))
      regions.set(request.regionId, { id: request.regionId, description: '', parent_region_id: null });
  }
  catalog(schema, request, random, said);
  return said;
}

/** Endpoints of the region are changed in place; a new region gets a second set. */
function catalog(schema: Schema, request: BootstrapRequest, random: Random, said: string[]): void {
  const wanted = Object.entries(request.urls).filter(([, url]) => url !== undefined);
  if (wanted.length === 0) return;
  const known = findRows(schema, 'service', { type: 'identity' })[0];
  const service =
    known ??
    ensure(schema, 'service', { name: request.serviceName, type: 'identity' }, random, () => ({ enabled: true })).row;
  for (const [kind, url] of wanted) {
    const match: Row = {
      service_id: service['id'],
      interface: kind,
      ...(request.regionId !== undefined && { region_id: request.regionId }),
    };
    const endpoint = findRows(schema, 'endpoint', match)[0];
    if (endpoint === undefined) {
      ensure(schema, 'endpoint', { ...match, url }, random, () => ({ enabled: true }));
      said.push(`Created ${kind} endpoint ${url}`);
    } else {
      endpoint['url'] = url;
      said.push(`${kind} endpoint updated`);
    }
  }
}

function ensure(
  schema: Schema,
  table: string,
  match: Row,
  random: Random,
  more: () => Row,
): { row: Row; created: boolean } {
  const known = findRows(schema, table, match)[0];
  if (known !== undefined) return { row: known, created: false };
  const id = newId(random);
  const row: Row = { id, ...match, ...more() };
  tableOf(schema, table).set(id, row);
  return { row, created: true };
}
