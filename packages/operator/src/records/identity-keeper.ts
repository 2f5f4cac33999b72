import { HttpError, type JsonApi } from './http.ts';

/** Something in Keystone. */
export interface Entity {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** An entry of the catalogue. */
export interface ServiceRecord {
  readonly type: string;
  readonly name: string;
  readonly description: string;
  readonly endpoints: { readonly region: string } & Readonly<Record<'internal' | 'public' | 'admin', string>>;
  /** Registered limits of its region: what a project may have of a resource. */
  readonly limits?: Readonly<Record<string, number>>;
}

/** Makes single things in Keystone what they should be, and notes in words what it changed. */
export class IdentityKeeper {
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
    const found = await this.find(collection, attributes);
    if (found === undefined) return await this.#create(title, collection, { ...attributes, ...more }, attributes);
    if (found['enabled'] === false) {
      await this.#setEnabled(collection, found, true);
      this.#changes.push(`enabled ${title} ${attributes['name']}`);
    }
    return found;
  }

  /** `more`: what a new one is created with. */
  async user(
    { name, password, domain }: { readonly name: string; readonly password: string; readonly domain: string },
    works: () => Promise<boolean>,
    more: Record<string, string> = {},
  ): Promise<Entity> {
    const identity = { name, domain_id: domain };
    const [found] = await this.#list('users', identity);
    if (found === undefined) return await this.#create('user', 'users', { ...identity, password, ...more }, identity);
    if (found['enabled'] === false || !(await works())) {
      await this.#api.call('PATCH', `/users/${found.id}`, { user: { password, enabled: true } });
      this.#changes.push(`set the password of user ${name}`);
    }
    return found;
  }

  /** What has no body: a grant, an implied role. `title` says it was made. */
  async link(path: string, title: string): Promise<void> {
    try {
      await this.#api.call('HEAD', path);
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 404) throw error;
      await this.#api.call('PUT', path);
      this.#changes.push(title);
    }
  }

  async service(record: ServiceRecord): Promise<Entity> {
    const { type, name, description, endpoints } = record;
    const named = async () => (await this.#list('services', { type })).filter((one) => one['name'] === name);
    if ((await named()).length === 0) {
      await this.#api.call('POST', '/services', { service: { type, name, description, enabled: true } });
      this.#changes.push(`created service ${name}`);
    }
    const [kept, ...others] = sorted(await named());
    if (kept === undefined) throw new Error(`service ${name} of type ${type} is gone again: somebody deletes it`);
    for (const other of others) {
      if (!(await this.#isOurs(other, endpoints))) continue;
      await this.#removeLimits(other, record);
      await this.#removeService(other, `a second service ${name}`);
    }
    if (kept['enabled'] === false) {
      await this.#setEnabled('services', kept, true);
      this.#changes.push(`enabled service ${name}`);
    }
    return kept;
  }

  /** Whether a service has no endpoints but those that the records speak of: only then nobody else uses it. */
  async #isOurs(service: Entity, { region, ...urls }: ServiceRecord['endpoints']): Promise<boolean> {
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

  /** Gives the identifier. */
  async endpoint(wanted: {
    service: Entity;
    name: string;
    interfaceName: string;
    url: string;
    region: string;
  }): Promise<string> {
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
    if (kept === undefined) throw new Error(`${title} is gone again: somebody deletes it`);
    return kept.id;
  }

  async withdraw(record: ServiceRecord): Promise<void> {
    const { type, name, endpoints } = record;
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
      if (ours.length === 0) continue;
      await this.#removeLimits(service, record);
      if (ours.length < all.length) continue;
      await this.#removeService(service, `service ${name}`);
    }
  }

  /** A service that has registered limits is kept: Keystone would not remove it. */
  async #removeService({ id }: Entity, title: string): Promise<void> {
    if ((await this.#list('registered_limits', { service_id: id })).length > 0) return;
    await this.#remove(`/services/${id}`);
    this.#changes.push(`removed ${title}`);
  }

  /** Registered limits of a record. Those that a project has a limit of its own for stay, and so do those of others. */
  async #removeLimits({ id }: Entity, { limits = {}, endpoints: { region } }: ServiceRecord): Promise<void> {
    const registered = await this.#list('registered_limits', { service_id: id, region_id: region });
    for (const one of registered.filter((each) => String(each['resource_name']) in limits)) {
      try {
        await this.#remove(`/registered_limits/${one.id}`);
      } catch (error) {
        if (!isHeld(error)) throw error;
      }
    }
  }

  /** A registered limit; gives words of why it stays what it is, where Keystone holds it. */
  async limit(wanted: {
    service: Entity;
    name: string;
    region: string;
    resource: string;
    limit: number;
  }): Promise<string[]> {
    const { service, name, region, resource, limit } = wanted;
    const title = `registered limit ${resource} of ${name} in ${region}`;
    const key = { service_id: service.id, region_id: region, resource_name: resource };
    const list = async () => sorted(await this.#list('registered_limits', key));
    if ((await list()).length === 0) {
      const registered_limits = [{ ...key, default_limit: limit }];
      await this.#api.call('POST', '/registered_limits', { registered_limits }).catch(unless(409));
      this.#changes.push(`created ${title}: ${limit}`);
    }
    const [kept, ...again] = await list();
    for (const one of again) await this.#remove(`/registered_limits/${one.id}`);
    if (kept === undefined || kept['default_limit'] === limit) return [];
    try {
      await this.#api.call('PATCH', `/registered_limits/${kept.id}`, { registered_limit: { default_limit: limit } });
      this.#changes.push(`changed ${title}: ${limit}`);
      return [];
    } catch (error) {
      if (!isHeld(error)) throw error;
      return [
        `${title} stays ${String(kept['default_limit'])}, and does not become ${limit}: ${error.words} State ${String(kept['default_limit'])}, or delete those (openstack limit list --resource-name ${resource}), and make them again when this is done`,
      ];
    }
  }

  /** The entity with these attributes; undefined when there is none. */
  async find(collection: string, attributes: Record<string, string>): Promise<Entity | undefined> {
    return (await this.#list(collection, attributes))[0];
  }

  async disable(title: string, collection: string, attributes: Record<string, string>): Promise<void> {
    const found = await this.find(collection, attributes);
    if (found === undefined || found['enabled'] === false) return;
    await this.#setEnabled(collection, found, false);
    this.#changes.push(`disabled ${title} ${attributes['name']}`);
  }

  async #setEnabled(collection: string, { id }: Entity, enabled: boolean): Promise<void> {
    await this.#api.call('PATCH', `/${collection}/${id}`, { [collection.slice(0, -1)]: { enabled } });
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

/** Whether Keystone refuses it: limits of projects hang on a registered one. */
const isHeld = (error: unknown): error is HttpError => error instanceof HttpError && error.status === 403;

/** In the order that every run sees. */
function sorted(entities: readonly Entity[]): Entity[] {
  return [...entities].sort((a, b) => (a.id < b.id ? -1 : 1));
}
