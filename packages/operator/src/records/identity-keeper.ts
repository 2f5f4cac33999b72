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

  async service({ type, name, description, endpoints }: ServiceRecord): Promise<Entity> {
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

  async withdraw({ type, name, endpoints }: ServiceRecord): Promise<void> {
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

/** In the order that every run sees. */
function sorted(entities: readonly Entity[]): Entity[] {
  return [...entities].sort((a, b) => (a.id < b.id ? -1 : 1));
}
