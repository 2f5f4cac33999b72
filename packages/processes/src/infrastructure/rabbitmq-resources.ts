import { createHash } from 'node:crypto';
import { addVirtualHost, type BrokerState } from './rabbitmq-broker.ts';

/** What a broker refuses of a resource; `message` is Erlang's term or sentence. */
export class ResourceError extends Error {
  override readonly name = 'ResourceError';
}

/** JSON of a resource. */
export type Body = Readonly<Record<string, unknown>>;

/** A kind of what a broker keeps, as its management API and definitions name it. */
export interface Resource {
  /** The names that identify one, in the order of the path; they are fields of what is shown. */
  readonly names: readonly string[];
  list(state: BrokerState): Body[];
  /** Makes one, or makes it as `body` says. @throws ResourceError */
  put(state: BrokerState, names: readonly string[], body: Body): void;
  remove(state: BrokerState, names: readonly string[]): void;
}

/** By the word of their path. */
export const resources: Readonly<Record<'vhosts' | 'users' | 'permissions' | 'policies', Resource>> = {
  vhosts: {
    names: ['name'],
    list: ({ virtualHosts }) => [...virtualHosts.keys()].map((name) => ({ name, tags: [] })),
    put: (state, [name = '']) => void addVirtualHost(state, name),
    remove: ({ users, virtualHosts }, [name = '']) => {
      virtualHosts.delete(name);
      for (const user of users.values()) user.permissions.delete(name);
    },
  },
  users: {
    names: ['name'],
    list: ({ users }) =>
      [...users].map(([name, { tags, password }]) => ({
        name,
        tags,
        password_hash: password === undefined ? '' : passwordHash(name, password),
        hashing_algorithm: 'rabbit_password_hashing_sha256',
        limits: {},
      })),
    put: ({ users }, [name = ''], { tags, password }) => {
      if (tags === undefined) throw new ResourceError('tags_not_present');
      users.set(name, {
        password: typeof password === 'string' && password !== '' ? password : undefined,
        tags: (typeof tags === 'string' ? tags.split(',') : (tags as string[])).filter((tag) => tag.trim() !== ''),
        permissions: users.get(name)?.permissions ?? new Map(),
      });
    },
    remove: ({ users }, [name = '']) => void users.delete(name),
  },
  permissions: {
    names: ['vhost', 'user'],
    list: ({ users }) =>
      [...users].flatMap(([user, { permissions }]) =>
        [...permissions].map(([vhost, rights]) => ({ user, vhost, ...rights })),
      ),
    // Users and vhosts that do not exist are refused (rabbitmq-server#1329).
    put: ({ users, virtualHosts }, [vhost = '', user = ''], { configure, write, read }) => {
      const account = users.get(user);
      if (account === undefined) throw new ResourceError(`{no_such_user,<<"${user}">>}`);
      if (!virtualHosts.has(vhost)) throw new ResourceError(`{no_such_vhost,<<"${vhost}">>}`);
      const lacking = Object.entries({ configure, write, read }).find(([, pattern]) => typeof pattern !== 'string');
      if (lacking !== undefined) throw new ResourceError(`[{key_missing,${lacking[0]}}]`);
      account.permissions.set(vhost, { configure: String(configure), write: String(write), read: String(read) });
    },
    remove: ({ users }, [vhost = '', user = '']) => void users.get(user)?.permissions.delete(vhost),
  },
  policies: {
    names: ['vhost', 'name'],
    list: ({ virtualHosts }) =>
      [...virtualHosts].flatMap(([vhost, { policies }]) =>
        [...policies].map(([name, policy]) => ({ vhost, name, ...policy })),
      ),
    put: ({ virtualHosts }, [vhost = '', name = ''], { pattern, definition, priority = 0, 'apply-to': to = 'all' }) => {
      if (typeof pattern !== 'string') throw new ResourceError('{key_missing,pattern}');
      if (typeof definition !== 'object' || definition === null) throw new ResourceError('{key_missing,definition}');
      const mirrored = Object.entries(definition).find(([key]) => key.startsWith('ha-'));
      if (mirrored !== undefined)
        throw new ResourceError(
          `Validation failed\n\n[{<<"${mirrored[0]}">>,${JSON.stringify(String(mirrored[1]))}}] are not recognised policy settings\n`,
        );
      virtualHosts.get(vhost)?.policies.set(name, { pattern, definition, priority, 'apply-to': to });
    },
    remove: ({ virtualHosts }, [vhost = '', name = '']) => void virtualHosts.get(vhost)?.policies.delete(name),
  },
};

/** The resource of those names, if there is one. */
export function resourceOf(resource: Resource, state: BrokerState, names: readonly string[]): Body | undefined {
  return resource.list(state).find((one) => resource.names.every((field, index) => one[field] === names[index]));
}

/**
 * Takes over definitions: they are added to what is there, and reset the passwords of users that are named.
 * @throws ResourceError
 */
export function importDefinitions(state: BrokerState, given: unknown): void {
  for (const [kind, resource] of Object.entries(resources))
    for (const body of (given as Readonly<Record<string, readonly Body[] | undefined>>)[kind] ?? []) {
      const names = resource.names.map((field) => String(body[field]));
      resource.put(state, names, kind === 'users' ? { tags: '', ...body } : body);
    }
}

/** Base64 of four bytes of salt and SHA-256 of salt and password (rabbit_password); the salt here follows from the name. */
function passwordHash(user: string, password: string): string {
  const salt = createHash('sha256').update(user).digest().subarray(0, 4);
  const digest = createHash('sha256').update(salt).update(password).digest();
  return Buffer.concat([salt, digest]).toString('base64');
}
