import { type Http, HttpError, type JsonApi, jsonApi } from './http.ts';

/** What a service has in Keystone. */
export interface IdentityRecords {
  /** Identity API, such as `http://keystone-api.openstack.svc:5000/v3`. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly project: string;
  readonly userDomain: string;
  readonly projectDomain: string;
  readonly projects: readonly { readonly name: string; readonly description: string }[];
  readonly roles: readonly { readonly name: string }[];
  readonly users: readonly {
    readonly name: string;
    readonly password: string;
    readonly project: string;
    readonly roles: readonly string[];
  }[];
  readonly services: readonly {
    readonly type: string;
    readonly name: string;
    readonly description: string;
    readonly endpoints: { readonly region: string } & Readonly<Record<'internal' | 'public' | 'admin', string>>;
  }[];
}

interface Entity {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** Users and projects of services live here; bootstrap creates it under this id. */
const domain = 'default';

/**
 * Makes projects, roles, users, services and endpoints what the records say; says in words what it changed. Endpoints
 * are changed in place, in their own region only; what others made there stays.
 */
export async function keepIdentityRecords(records: IdentityRecords, http: Http): Promise<string[]> {
  const token = await login(http, records.url, records);
  const changes: string[] = [];
  const keeper = new Keeper(jsonApi(http, records.url, { 'x-auth-token': token }), changes);
  const projects = new Map<string, Entity>();
  for (const { name, description } of records.projects) {
    projects.set(name, await keeper.ensure('project', 'projects', { name, domain_id: domain }, { description }));
  }
  const roles = new Map<string, Entity>();
  for (const { name } of records.roles) roles.set(name, await keeper.ensure('role', 'roles', { name }));
  for (const user of records.users) {
    const project =
      projects.get(user.project) ??
      (await keeper.ensure('project', 'projects', { name: user.project, domain_id: domain }));
    const entity = await keeper.user(user, project, () => worksFor(http, records.url, user));
    for (const name of user.roles) {
      const role = roles.get(name) ?? (await keeper.ensure('role', 'roles', { name }));
      await keeper.grant(project, entity, role, `${user.name} ${name} on project ${user.project}`);
    }
  }
  for (const service of records.services) {
    const entity = await keeper.service(service);
    const { region, ...urls } = service.endpoints;
    await keeper.region(region);
    for (const [interfaceName, url] of Object.entries(urls)) {
      await keeper.endpoint({ service: entity, name: service.name, interfaceName, url, region });
    }
  }
  return changes;
}

class Keeper {
  readonly #api: JsonApi;
  readonly #changes: string[];

  constructor(api: JsonApi, changes: string[]) {
    this.#api = api;
    this.#changes = changes;
  }

  /** The entity with these attributes, created with `more` when there is none. */
  async ensure(
    title: string,
    collection: string,
    attributes: Record<string, string>,
    more: Record<string, unknown> = {},
  ): Promise<Entity> {
    const [found] = await this.#list(collection, attributes);
    if (found !== undefined) return found;
    return await this.#create(title, collection, { ...attributes, ...more });
  }

  async user(
    { name, password }: IdentityRecords['users'][number],
    project: Entity,
    works: () => Promise<boolean>,
  ): Promise<Entity> {
    const [found] = await this.#list('users', { name, domain_id: domain });
    if (found === undefined) {
      return await this.#create('user', 'users', { name, domain_id: domain, password, default_project_id: project.id });
    }
    if (found['enabled'] === false || !(await works())) {
      await this.#api.call('PATCH', `/users/${found.id}`, { user: { password, enabled: true } });
      this.#changes.push(`set the password of user ${name}`);
    }
    return found;
  }

  async grant(project: Entity, user: Entity, role: Entity, title: string): Promise<void> {
    const path = `/projects/${project.id}/users/${user.id}/roles/${role.id}`;
    try {
      await this.#api.call('HEAD', path);
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 404) throw error;
      await this.#api.call('PUT', path);
      this.#changes.push(`granted ${title}`);
    }
  }

  async service({ type, name, description }: IdentityRecords['services'][number]): Promise<Entity> {
    const candidates = await this.#list('services', { type });
    const found = candidates.find((one) => one['name'] === name);
    if (found === undefined)
      return await this.#create('service', 'services', { type, name, description, enabled: true });
    if (found['enabled'] === false) {
      await this.#api.call('PATCH', `/services/${found.id}`, { service: { enabled: true } });
      this.#changes.push(`enabled service ${name}`);
    }
    return found;
  }

  async region(id: string): Promise<void> {
    try {
      await this.#api.call('GET', `/regions/${encodeURIComponent(id)}`);
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 404) throw error;
      await this.#api.call('POST', '/regions', { region: { id } });
      this.#changes.push(`created region ${id}`);
    }
  }

  async endpoint(wanted: {
    service: Entity;
    name: string;
    interfaceName: string;
    url: string;
    region: string;
  }): Promise<void> {
    const { service, name, interfaceName, url, region } = wanted;
    const title = `${interfaceName} endpoint of ${name} in ${region}`;
    const [found] = await this.#list('endpoints', {
      service_id: service.id,
      interface: interfaceName,
      region_id: region,
    });
    if (found === undefined) {
      const endpoint = { service_id: service.id, interface: interfaceName, region_id: region, url, enabled: true };
      await this.#api.call('POST', '/endpoints', { endpoint });
      this.#changes.push(`created ${title}: ${url}`);
    } else if (found['url'] !== url || found['enabled'] === false) {
      await this.#api.call('PATCH', `/endpoints/${found.id}`, { endpoint: { url, enabled: true } });
      this.#changes.push(`changed ${title}: ${url}`);
    }
  }

  async #list(collection: string, filters: Record<string, string>): Promise<Entity[]> {
    const query = Object.entries(filters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const answer = (await this.#api.call('GET', `/${collection}?${query.join('&')}`)) as Record<string, Entity[]>;
    return answer[collection] ?? [];
  }

  async #create(title: string, collection: string, attributes: Record<string, unknown>): Promise<Entity> {
    const member = collection.slice(0, -1);
    const answer = (await this.#api.call('POST', `/${collection}`, { [member]: attributes })) as Record<string, Entity>;
    const entity = answer[member];
    if (entity === undefined) throw new Error(`POST /${collection}: the answer holds no ${member}`);
    this.#changes.push(`created ${title} ${String(attributes['name'])}`);
    return entity;
  }
}

interface Login {
  readonly username: string;
  readonly password: string;
  readonly project: string;
  readonly userDomain: string;
  readonly projectDomain: string;
}

/** A token scoped to the project. */
async function login(http: Http, url: string, who: Login): Promise<string> {
  const call = {
    method: 'POST',
    url: `${url}/auth/tokens`,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify({
      auth: {
        identity: {
          methods: ['password'],
          password: { user: { name: who.username, password: who.password, domain: { name: who.userDomain } } },
        },
        scope: { project: { name: who.project, domain: { name: who.projectDomain } } },
      },
    }),
  };
  const answer = await http(call);
  const token = answer.headers['x-subject-token'];
  if (answer.status !== 201 || token === undefined) throw new HttpError(call, answer);
  return token;
}

/** Whether a user's password is the wanted one; a missing role on the project also answers 401, and is granted later. */
async function worksFor(http: Http, url: string, user: IdentityRecords['users'][number]): Promise<boolean> {
  const body = JSON.stringify({
    auth: {
      identity: {
        methods: ['password'],
        password: { user: { name: user.name, password: user.password, domain: { id: domain } } },
      },
      scope: 'unscoped',
    },
  });
  const answer = await http({
    method: 'POST',
    url: `${url}/auth/tokens`,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body,
  });
  return answer.status === 201;
}
