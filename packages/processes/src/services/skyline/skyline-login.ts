import { createHmac } from 'node:crypto';
import { uuid } from '@openstack-operator/kube';
import type { HttpReply, Process } from '@openstack-operator/sandbox';
import { type Catalog, endpointOf, KeystoneSession } from '../../oslo/keystone-session.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { Settings } from './skyline-settings.ts';

/** What somebody brings who logs in (skyline_apiserver.schemas.Credential). */
export interface Credential {
  readonly region?: string;
  readonly domain: string;
  readonly username: string;
  readonly password: string;
}

/** What a cookie holds: whose it is, and until when. */
export interface Payload {
  readonly keystone_token: string;
  readonly region: string;
  readonly exp: number;
  readonly uuid: string;
}

/** Names of the pages for types of the catalogue (`openstack.service_mapping`), of which some. */
const serviceMapping: Readonly<Record<string, string>> = {
  'block-storage': 'cinder',
  compute: 'nova',
  identity: 'keystone',
  image: 'glance',
  network: 'neutron',
  orchestration: 'heat',
  placement: 'placement',
};

/** Logs in users at Keystone, with a user of its own to ask about them (skyline_apiserver/api/v1/login.py, core/security.py). */
export class Logins {
  readonly #process: Process;
  readonly #settings: Settings;
  readonly #system: KeystoneSession;

  constructor(process: Process, settings: Settings) {
    this.#process = process;
    this.#settings = settings;
    const { openstack } = settings;
    const options: Readonly<Record<string, string>> = {
      auth_type: 'password',
      auth_url: openstack.keystone_url,
      username: openstack.system_user_name,
      user_domain_name: openstack.system_user_domain,
      password: openstack.system_user_password,
      project_name: openstack.system_project,
      project_domain_name: openstack.system_project_domain,
    };
    this.#system = new KeystoneSession(process, { optional: (_group, name) => options[name] }, 'openstack');
  }

  /** @throws PythonError */
  async login({ region = this.#settings.openstack.default_region, ...who }: Credential): Promise<Payload> {
    const url = await this.#endpoint(region, 'identity');
    const user = { name: who.username, password: who.password, domain: { name: who.domain } };
    const identity = { methods: ['password'], password: { user } };
    const unscoped = tokenOf(await this.#send('POST', `${url}/auth/tokens`, undefined, { auth: { identity } }));
    const listed = await this.#send('GET', `${url}/auth/projects`, unscoped);
    const [project] = (JSON.parse(listed.body ?? '{}') as { projects?: readonly { id: string }[] }).projects ?? [];
    if (project === undefined)
      throw new PythonError('Exception', 'You are not authorized for any projects or domains.');
    const again = { identity: { methods: ['token'], token: { id: unscoped } }, scope: { project: { id: project.id } } };
    const scoped = tokenOf(await this.#send('POST', `${url}/auth/tokens`, undefined, { auth: again }));
    const exp = Math.floor(this.#process.clock.now() / 1000) + 3600;
    return { keystone_token: scoped, region, exp, uuid: uuid(this.#process.random).replaceAll('-', '') };
  }

  /** What the pages are told of whoever has logged in. @throws PythonError */
  async profile(payload: Payload): Promise<unknown> {
    const url = await this.#endpoint(payload.region, 'identity');
    const reply = await this.#system.request('GET', `${url}/auth/tokens`, undefined, {
      'x-subject-token': payload.keystone_token,
    });
    if (reply.status !== 200) throw new PythonError('keystoneauth1.exceptions.http.NotFound', 'Could not find token');
    const { token } = JSON.parse(reply.body ?? '{}') as { token: object };
    return { ...payload, ...token, endpoints: await this.#endpoints(payload.region) };
  }

  /** By whatever signs cookies. */
  sign(payload: Payload): string {
    const text = Buffer.from(JSON.stringify(payload)).toString('base64url');
    return `${text}.${this.#signature(text)}`;
  }

  /** @throws PythonError */
  payloadOf(cookie: string): Payload {
    const [text = '', signature] = cookie.split('.');
    if (this.#signature(text) !== signature)
      throw new PythonError('jose.exceptions.JWTError', 'Signature verification failed.');
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as Payload;
  }

  #signature(text: string): string {
    return createHmac('sha256', this.#settings.default.secret_key).update(text).digest('base64url');
  }

  /** Where pages ask each service. Neutron is asked for its extensions: without it nobody logs in. */
  async #endpoints(region: string): Promise<Readonly<Record<string, string>>> {
    const { catalog } = await this.#system.token();
    const neutron = await this.#endpoint(region, 'network');
    const reply = await this.#system.request('GET', `${neutron}/v2.0/extensions`);
    if (reply.status !== 200)
      throw new PythonError('neutronclient.common.exceptions.ServiceUnavailable', reply.body ?? '');
    const prefix = `${this.#settings.openstack.nginx_prefix}/${region.toLowerCase()}`;
    return Object.fromEntries(
      catalog.flatMap(({ type }: Catalog[number]) => {
        const name = serviceMapping[type];
        return name === undefined ? [] : [[name, `${prefix}/${name}`] as const];
      }),
    );
  }

  async #endpoint(region: string, type: string): Promise<string> {
    const interfaces = [this.#settings.openstack.interface_type];
    const { catalog } = await this.#system.token();
    try {
      return endpointOf(catalog, { type, interfaces, region });
    } catch {
      throw new PythonError('ValueError', 'Endpoint not found');
    }
  }

  async #send(method: string, url: string, token?: string, body?: unknown): Promise<HttpReply> {
    const reply = await this.#system.send(method, url, token === undefined ? {} : { 'x-auth-token': token }, body);
    if (![200, 201].includes(reply.status))
      throw new PythonError(
        'keystoneauth1.exceptions.http.Unauthorized',
        `The request you have made requires authentication. (HTTP ${reply.status})`,
      );
    return reply;
  }
}

function tokenOf({ headers }: HttpReply): string {
  return headers?.['x-subject-token'] ?? '';
}
