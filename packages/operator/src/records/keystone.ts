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
 * are changed in place, in their own region only; what others made there stays. Two runs at once end in the same
 * records: Keystone refuses a second project, role or user of a name, and of two services or endpoints that both runs
 * made every run keeps the one with the smallest id.
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

/**
 * Takes back what the records have made: endpoints of their region and URLs go, and a service that has no other ones;
 * users are disabled, because trusts and access rules hang on them. Roles and projects are shared, and stay.
 */
export async function removeIdentityRecords(records: IdentityRecords, http: Http): Promise<string[]> {
  const token = await login(http, records.url, records);
  const changes: string[] = [];
  const keeper = new Keeper(jsonApi(http, records.url, { 'x-auth-token': token }), changes);
  for (const service of records.services) await keeper.withdraw(service);
  for (const { name } of records.users) await keeper.disable(name);
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
    if (found === undefined) return await this.#create(title, collection, { ...attributes, ...more }, attributes);
    if (found['enabled'] === false) {
      await this.#enable(collection, found);
      this.#changes.push(`enabled ${title} ${attributes['name']}`);
    }
    return found;
  }

  async user(
    { name, password }: IdentityRecords['users'][number],
    project: Entity,
    works: () => Promise<boolean>,
  ): Promise<Entity> {
    const [found] = await this.#list('users', { name, domain_id: domain });
    if (found === undefined) {
      const account = { name, domain_id: domain, password, default_project_id: project.id };
      return await this.#create('user', 'users', account, { name, domain_id: domain });
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

  async service({ type, name, description, endpoints }: IdentityRecords['services'][number]): Promise<Entity> {
    const named = async () => (await this.#list('services', { type })).filter((one) => one['name'] === name);
    if ((await named()).length === 0) {
      await this.#api.call('POST', '/services', { service: { type, name, description, enabled: true } });
      this.#changes.push(`created service ${name}`);
    }
    const [kept, ...others] = sorted(await named());
    if (kept === undefined) throw new Error(`service ${name} of type ${type} is gone again: somebody deletes it`);
    for (const other of others) {
      if (!(await this.#isOurs(other, endpoints))) continue;
      await this.#remove(`/services/${other.id}`);
      this.#changes.push(`removed a second service ${name}`);
    }
    if (kept['enabled'] === false) {
      await this.#enable('services', kept);
      this.#changes.push(`enabled service ${name}`);
    }
    return kept;
  }

  /** Whether a service has no endpoints but those that the records speak of: only then nobody else uses it. */
  async #isOurs(
    service: Entity,
    { region, ...urls }: IdentityRecords['services'][number]['endpoints'],
  ): Promise<boolean> {
    const found = await this.#list('endpoints', { service_id: service.id });
    return found.every(
      (one) => one['region_id'] === region && one['url'] === (urls as Record<string, string>)[String(one['interface'])],
    );
  }

  async region(id: string): Promise<void> {
    try {
      await this.#api.call('GET', `/regions/${encodeURIComponent(id)}`);
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 404) throw error;
      await this.#api.call('POST', '/regions', { region: { id } }).catch(unless(409));
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
    const list = async () =>
      sorted(await this.#list('endpoints', { service_id: service.id, interface: interfaceName, region_id: region }));
    const [first] = await list();
    if (first === undefined) {
      const endpoint = { service_id: service.id, interface: interfaceName, region_id: region, url, enabled: true };
      await this.#api.call('POST', '/endpoints', { endpoint });
      this.#changes.push(`created ${title}: ${url}`);
    }
    const found = await list();
    const [same, ...again] = found.filter((one) => one['url'] === url);
    for (const one of again) {
      await this.#remove(`/endpoints/${one.id}`);
      this.#changes.push(`removed a second ${title}`);
    }
    const kept = same ?? found[0];
    if (kept !== undefined && (kept['url'] !== url || kept['enabled'] === false)) {
      await this.#api.call('PATCH', `/endpoints/${kept.id}`, { endpoint: { url, enabled: true } });
      this.#changes.push(`changed ${title}: ${url}`);
    }
  }

  async withdraw({ type, name, endpoints }: IdentityRecords['services'][number]): Promise<void> {
    const { region, ...urls } = endpoints;
    const named = (await this.#list('services', { type })).filter((one) => one['name'] === name);
    for (const service of named) {
      const all = await this.#list('endpoints', { service_id: service.id });
      const ours = all.filter(
        (one) =>
          one['region_id'] === region && one['url'] === (urls as Record<string, string>)[String(one['interface'])],
      );
      for (const one of ours) {
        await this.#remove(`/endpoints/${one.id}`);
        this.#changes.push(`removed ${String(one['interface'])} endpoint of ${name} in ${region}`);
      }
      if (ours.length === 0 || ours.length < all.length) continue;
      await this.#remove(`/services/${service.id}`);
      this.#changes.push(`removed service ${name}`);
    }
  }

  async disable(name: string): Promise<void> {
    const [found] = await this.#list('users', { name, domain_id: domain });
    if (found === undefined || found['enabled'] === false) return;
    await this.#api.call('PATCH', `/users/${found.id}`, { user: { enabled: false } });
    this.#changes.push(`disabled user ${name}`);
  }

  async #enable(collection: string, { id }: Entity): Promise<void> {
    await this.#api.call('PATCH', `/${collection}/${id}`, { [collection.slice(0, -1)]: { enabled: true } });
  }

  /** Another run may have been faster. */
  async #remove(path: string): Promise<void> {
    await this.#api.call('DELETE', path).catch(unless(404));
  }

  async #list(collection: string, filters: Record<string, string>): Promise<Entity[]> {
    const query = Object.entries(filters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const answer = (await this.#api.call('GET', `/${collection}?${query.join('&')}`)) as Record<string, Entity[]>;
    return answer[collection] ?? [];
  }

  /** `identity`: what Keystone holds unique. Another run may have made it meanwhile; then it is that one. */
  async #create(
    title: string,
    collection: string,
    attributes: Record<string, unknown>,
    identity: Record<string, string>,
  ): Promise<Entity> {
    const member = collection.slice(0, -1);
    const answer = (await this.#api.call('POST', `/${collection}`, { [member]: attributes }).catch(unless(409))) as
      | Record<string, Entity>
      | undefined;
    const entity = answer?.[member] ?? (await this.#list(collection, identity))[0];
    if (entity === undefined)
      throw new Error(`POST /${collection}: Keystone neither made nor has a ${member} ${String(attributes['name'])}`);
    if (answer !== undefined) this.#changes.push(`created ${title} ${String(attributes['name'])}`);
    return entity;
  }
}

/** Lets an error of this status pass: what was asked for is so already. */
function unless(status: number): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof HttpError && error.status === status) return undefined;
    throw error;
  };
}

/** In the order that every run sees. */
function sorted(entities: readonly Entity[]): Entity[] {
  return [...entities].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Who asks for a token, by names. */
export interface Login {
  readonly username: string;
  readonly password: string;
  readonly project: string;
  readonly userDomain: string;
  readonly projectDomain: string;
}

/** A token scoped to the project. @throws HttpError when Keystone gives none */
export async function login(http: Http, url: string, who: Login): Promise<string> {
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
