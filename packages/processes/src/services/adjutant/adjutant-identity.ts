import { uuid } from '@openstack-operator/kube';
import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { attempt } from '../../attempt.ts';
import { headerOf } from '../../http.ts';
import { pasteConfig } from '../../oslo/config.ts';
import { httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import type { Settings } from './adjutant-settings.ts';

/** Who asks, as tasks keep it (adjutant.middleware.KeystoneHeaderUnwrapper). */
export interface KeystoneUser {
  readonly project_domain_id: string;
  readonly project_name: string;
  readonly project_id: string;
  readonly roles: readonly string[];
  readonly user_domain_id: string;
  readonly username: string;
  readonly user_id: string;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** A user in Keystone. */
export interface User extends Named {
  readonly email?: string;
  readonly enabled: boolean;
}

interface Assignment {
  readonly role: Named;
  readonly user: { readonly id: string };
}

interface TokenAnswer {
  readonly token: {
    readonly user: Named & { readonly domain: { readonly id: string } };
    readonly project?: Named & { readonly domain: { readonly id: string } };
    readonly roles?: readonly Named[];
  };
}

const group = 'keystone_authtoken';

/** Keystone as Adjutant uses it: whose a token is, and what an administrator may do. */
export class IdentityManager {
  readonly #context: ServiceContext;
  readonly #interface: string;
  readonly #session: KeystoneSession;

  constructor(context: ServiceContext, { auth, interface: side }: Settings) {
    this.#context = context;
    this.#interface = side;
    const config = pasteConfig(context.process, group, { options: 'adjutant', values: auth });
    this.#session = new KeystoneSession(context.process, config, group);
  }

  /** keystonemiddleware with `delay_auth_decision`: nobody, where Keystone does not know the token or is not there. */
  async whoAsks(request: HttpMessage): Promise<KeystoneUser | undefined> {
    const token = headerOf(request, 'x-auth-token');
    if (!token) return undefined;
    const found = await attempt(
      PythonError,
      () => this.#ask(this.#interface, 'GET', '/auth/tokens', undefined, { 'x-subject-token': token }),
      ({ message }) => {
        this.#context.log.warning('keystonemiddleware.auth_token', `Unable to validate token: ${message}`);
        return undefined;
      },
    );
    const { user, project, roles = [] } = (found as TokenAnswer | undefined)?.token ?? {};
    if (user === undefined || project === undefined) return undefined;
    return {
      project_domain_id: project.domain.id,
      project_name: project.name,
      project_id: project.id,
      roles: roles.map(({ name }) => name),
      user_domain_id: user.domain.id,
      username: user.name,
      user_id: user.id,
    };
  }

  async find(item: 'user' | 'project', name: string, domain: string): Promise<User | undefined> {
    const query = new URLSearchParams({ name, domain_id: domain });
    return (await this.#list<User>(`${item}s`, query))[0];
  }

  /** Undefined where there is none. */
  async get(item: 'user' | 'project' | 'domain', id: string): Promise<Named | undefined> {
    const found = await this.#admin('GET', `/${item}s/${id}`);
    return (found as Record<string, Named> | undefined)?.[item];
  }

  async create(item: 'user' | 'project', columns: object): Promise<Named> {
    const made = await this.#admin('POST', `/${item}s`, { [item]: columns });
    return (made as Record<string, Named>)[item] as Named;
  }

  async setPassword(id: string, password: unknown): Promise<void> {
    await this.#admin('PATCH', `/users/${id}`, { user: { password } });
  }

  findRoles(name?: string): Promise<Named[]> {
    return this.#list('roles', new URLSearchParams(name === undefined ? {} : { name }));
  }

  /** Names of roles on a project, by the user who has them. */
  async rolesOn(project: string, user?: string): Promise<Map<string, string[]>> {
    const query = new URLSearchParams({ 'scope.project.id': project, ...(user !== undefined && { 'user.id': user }) });
    const names = new Map((await this.findRoles()).map(({ id, name }) => [id, name]));
    const result = new Map<string, string[]>();
    for (const { role, user } of await this.#list<Assignment>('role_assignments', query))
      result.set(user.id, [...(result.get(user.id) ?? []), names.get(role.id) ?? '']);
    return result;
  }

  /** Names of a user's roles on all projects. */
  async rolesOf(user: string): Promise<string[]> {
    const names = new Map((await this.findRoles()).map(({ id, name }) => [id, name]));
    const found = await this.#list<Assignment>('role_assignments', new URLSearchParams({ 'user.id': user }));
    return found.map(({ role }) => names.get(role.id) ?? '');
  }

  /** @throws PythonError TypeError for a role that Keystone does not have */
  async grant(user: string, roles: readonly string[], project: string): Promise<void> {
    const found = await Promise.all(roles.map(async (name) => (await this.findRoles(name))[0]));
    const missing = roles.find((_name, index) => found[index] === undefined);
    if (missing !== undefined) throw new PythonError('TypeError', `Keystone missing role: ${missing}`);
    for (const role of found) await this.#admin('PUT', `/projects/${project}/users/${user}/roles/${role?.id}`);
  }

  async #list<T>(collection: string, query: URLSearchParams): Promise<T[]> {
    const found = await this.#admin('GET', `/${collection}?${query.toString()}`);
    return (found as Record<string, T[]> | undefined)?.[collection] ?? [];
  }

  /** keystoneclient asks for version 3 at the public endpoint, of whatever region. */
  #admin(method: string, path: string, body?: object): Promise<unknown> {
    return this.#ask('public', method, path, body);
  }

  /** What Keystone answers; undefined for what is not there. @throws PythonError of keystoneauth */
  async #ask(side: string, method: string, path: string, body?: object, headers = {}): Promise<unknown> {
    const base = await this.#session.endpoint({ type: 'identity', interfaces: [side], region: undefined });
    const url = `${base.replace(/\/v3$/, '')}/v3${path}`;
    const reply: HttpReply = await this.#session.request(method, url, body, headers);
    if (reply.status === 404 && method === 'GET') return undefined;
    if (reply.status >= 300) throw httpError(reply, uuid(this.#context.process.random));
    return reply.body ? JSON.parse(reply.body) : undefined;
  }
}
