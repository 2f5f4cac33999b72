import { type Http, jsonApi } from './http.ts';
import { type Entity, IdentityKeeper, type ServiceRecord } from './identity-keeper.ts';
import { hasPassword, login } from './identity-login.ts';

/** What a service has in Keystone. What may be absent is so in lists that earlier versions have made. */
export interface IdentityRecords {
  /** Identity API, such as `http://keystone-api.openstack.svc:5000/v3`. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly project: string;
  readonly userDomain: string;
  readonly projectDomain: string;
  readonly domains?: readonly { readonly name: string; readonly description: string }[];
  /** Of the default domain. */
  readonly projects: readonly { readonly name: string; readonly description: string }[];
  readonly roles: readonly { readonly name: string }[];
  readonly impliedRoles?: readonly { readonly role: string; readonly implies: string }[];
  readonly users: readonly UserRecord[];
  /** Users that nobody may log in as for now: they are disabled, where they are. */
  readonly idleUsers?: readonly Pick<UserRecord, 'name' | 'domain'>[];
  readonly services: readonly ServiceRecord[];
}

/** A user, with roles on its project; or one of a domain of the service, with roles on that. */
export interface UserRecord {
  readonly name: string;
  readonly password: string;
  readonly project?: string;
  /** Name of one of the records' domains; absent: the default domain. */
  readonly domain?: string;
  readonly roles: readonly string[];
  /** Roles on the system as a whole. */
  readonly systemRoles?: readonly string[];
}

/** Users and projects of services live here; bootstrap creates it under this id. */
const defaultDomain = 'default';

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** Whether a record is of who logs in to keep the records. Keystone compares names without case. */
function isAdministrator({ username, userDomain }: IdentityRecords, { name, domain = 'Default' }: UserRecord): boolean {
  return isSame(name, username) && isSame(domain, userDomain);
}

/** What of the records is never a service's own. */
function refuseForeign(records: IdentityRecords): void {
  const user = records.users.find((one) => isAdministrator(records, one));
  const domain = records.domains?.find(({ name }) => isSame(name, defaultDomain));
  if (user !== undefined)
    throw new Error(
      `user ${user.name} of domain ${records.userDomain} keeps these records, and is no service's: expected another name in spec.identity`,
    );
  if (domain !== undefined)
    throw new Error(`domain ${domain.name} is that of all users: expected another name in spec.identity.domains`);
}

/**
 * Makes domains, projects, roles, users, services and endpoints what the records say; says in words what it changed.
 * Endpoints are changed in place, in their own region only; what others made there stays. Two runs at once end in the same
 * records: Keystone refuses a second domain, project, role or user of a name, and of two services or endpoints that both
 * runs made every run keeps the one with the smallest id.
 * @param tell is called with `{endpoint <type>: <identifier>}` of the internal endpoint of a service that has limits
 * @throws Error when the records have their own keeper, or the domain of all users, or when Keystone keeps a limit as it is
 */
export async function keepIdentityRecords(
  records: IdentityRecords,
  http: Http,
  tell: (line: string) => void = () => undefined,
): Promise<string[]> {
  refuseForeign(records);
  const stuck: string[] = [];
  const { keeper, changes } = await keeperOf(records, http);
  const domains = new Map<string, Entity>();
  for (const { name, description } of records.domains ?? [])
    domains.set(name, await keeper.ensure('domain', 'domains', { name }, { description }));
  const projectOf = async (name: string, more: Record<string, unknown> = {}) =>
    await keeper.ensure('project', 'projects', { name, domain_id: defaultDomain }, more);
  const projects = new Map<string, Entity>();
  for (const { name, description } of records.projects) projects.set(name, await projectOf(name, { description }));
  const roles = new Map<string, Entity>();
  const roleOf = async (name: string) => roles.get(name) ?? (await keeper.ensure('role', 'roles', { name }));
  for (const { name } of records.roles) roles.set(name, await roleOf(name));
  for (const { role, implies } of records.impliedRoles ?? []) {
    const [prior, implied] = [await roleOf(role), await roleOf(implies)];
    await keeper.link(`/roles/${prior.id}/implies/${implied.id}`, `made role ${role} imply ${implies}`);
  }
  for (const user of records.users) {
    const { name, password, project = '' } = user;
    const domain = user.domain === undefined ? undefined : domains.get(user.domain);
    if (user.domain !== undefined && domain === undefined)
      throw new Error(`user ${name}: its domain ${user.domain} is not among the records`);
    const target = domain ?? projects.get(project) ?? (await projectOf(project));
    const account = { name, password, domain: domain?.id ?? defaultDomain };
    const more: Record<string, string> = domain === undefined ? { default_project_id: target.id } : {};
    const entity = await keeper.user(account, () => hasPassword(http, records.url, account), more);
    const [path, title] =
      domain === undefined ? ['projects', `project ${project}`] : ['domains', `domain ${user.domain}`];
    for (const role of user.roles) {
      const { id } = await roleOf(role);
      await keeper.link(`/${path}/${target.id}/users/${entity.id}/roles/${id}`, `granted ${name} ${role} on ${title}`);
    }
    for (const role of user.systemRoles ?? []) {
      const { id } = await roleOf(role);
      await keeper.link(`/system/users/${entity.id}/roles/${id}`, `granted ${name} ${role} on the system`);
    }
  }
  for (const { name, domain } of records.idleUsers ?? [])
    await keeper.disable('user', 'users', {
      name,
      domain_id: domain === undefined ? defaultDomain : (domains.get(domain)?.id ?? ''),
    });
  for (const service of records.services) {
    const entity = await keeper.service(service);
    const { region, ...urls } = service.endpoints;
    await keeper.region(region);
    for (const [interfaceName, url] of Object.entries(urls)) {
      const id = await keeper.endpoint({ service: entity, name: service.name, interfaceName, url, region });
      if (service.limits !== undefined && interfaceName === 'internal') tell(`{endpoint ${service.type}: ${id}}`);
    }
    for (const [resource, limit] of Object.entries(service.limits ?? {}))
      stuck.push(...(await keeper.limit({ service: entity, name: service.name, region, resource, limit })));
  }
  // All else is as it should be by then.
  if (stuck.length > 0) throw new Error(stuck.join('; '));
  return changes;
}

/**
 * Takes back what the records have made: endpoints of their region and URLs go, and a service that has no other ones;
 * users and domains are disabled, because trusts, access rules and users of others hang on them. Roles and projects are
 * shared, and stay.
 */
export async function removeIdentityRecords(records: IdentityRecords, http: Http): Promise<string[]> {
  const { keeper, changes } = await keeperOf(records, http);
  for (const service of records.services) await keeper.withdraw(service);
  // Lists that earlier versions have made may have the administrator, or the domain of all users.
  for (const user of records.users) {
    const { name, domain } = user;
    if (isAdministrator(records, user)) continue;
    const id = domain === undefined ? defaultDomain : (await keeper.find('domains', { name: domain }))?.id;
    if (id !== undefined) await keeper.disable('user', 'users', { name, domain_id: id });
  }
  for (const { name } of records.domains ?? [])
    if (!isSame(name, defaultDomain)) await keeper.disable('domain', 'domains', { name });
  return changes;
}

async function keeperOf(records: IdentityRecords, http: Http) {
  const token = await login(http, records.url, records);
  const changes: string[] = [];
  return { changes, keeper: new IdentityKeeper(jsonApi(http, records.url, { 'x-auth-token': token }), changes) };
}
