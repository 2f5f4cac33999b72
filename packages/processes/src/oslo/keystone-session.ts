import { uuid } from '@openstack-operator/kube';
import { type HttpReply, type Process, SystemError } from '@openstack-operator/sandbox';
import { attempt } from '../attempt.ts';
import { connectHttp, MissingAuthorityError, UntrustedServerError } from '../tls.ts';
import type { Config } from './config.ts';
import { PythonError } from './python-error.ts';

/** An exception of keystoneauth. */
function failure(kind: string, message: string): PythonError {
  return new PythonError(`keystoneauth1.exceptions.${kind}`, message);
}

interface Endpoint {
  readonly interface: string;
  readonly region_id: string | null;
  readonly url: string;
}

interface Token {
  readonly id: string;
  readonly expires: number;
  readonly catalog: readonly { readonly type: string; readonly endpoints: readonly Endpoint[] }[];
}

/** A service catalogue. */
export type Catalog = Token['catalog'];

/** How a service finds another one in the catalogue. */
export interface EndpointFilter {
  readonly type: string;
  readonly interfaces: readonly string[];
  readonly region: string | undefined;
  /** Instead of the catalogue. */
  readonly override?: string | undefined;
}

/** What a session reads of its group of options. */
type Options = Pick<Config, 'optional'>;

/** keystoneauth: a session with the `password` plugin of one configuration group. */
export class KeystoneSession {
  readonly #process: Process;
  readonly #config: Options;
  readonly #group: string;
  /** File of who has to have signed certificates of servers; undefined: the system's. */
  readonly #authority: string | undefined;
  #token: Token | undefined;

  /** @throws PythonError for an unknown plugin */
  constructor(process: Process, config: Options, group: string) {
    this.#process = process;
    this.#config = config;
    this.#group = config.optional(group, 'auth_section') ?? group;
    // Options of the session are those of the group itself; requests reads the variable where they say nothing.
    this.#authority = config.optional(group, 'cafile') ?? process.env['REQUESTS_CA_BUNDLE'];
    const type = config.optional(this.#group, 'auth_type');
    if (type !== undefined && !['password', 'v3password', 'v3applicationcredential'].includes(type))
      throw failure('auth_plugins.NoMatchingPlugin', `The plugin ${type} could not be found`);
  }

  /** A token, fetched on first use. @throws PythonError */
  async token(): Promise<Token> {
    if (this.#token !== undefined && this.#token.expires > this.#process.clock.now() + 30_000) return this.#token;
    const option = (name: string): string | undefined => this.#config.optional(this.#group, name);
    if (option('auth_type') === undefined)
      throw failure('auth_plugins.MissingAuthPlugin', 'An auth plugin is required to determine endpoint URL');
    const url = option('auth_url');
    if (url === undefined)
      throw failure(
        'auth_plugins.MissingRequiredOptions',
        'Auth plugin requires parameters which were not given: auth_url',
      );
    const base = await this.#discover(url);
    const reply = await this.send('POST', `${base}/auth/tokens`, {}, authBody(option));
    if (reply.status !== 201) throw httpError(reply, uuid(this.#process.random));
    const body = JSON.parse(reply.body ?? '{}') as { token: { catalog?: Token['catalog'] } };
    this.#token = {
      id: reply.headers?.['x-subject-token'] ?? '',
      // Asked anew well before Keystone's shortest usual lifetime; a 401 meanwhile does the same.
      expires: this.#process.clock.now() + 3_000_000,
      catalog: body.token.catalog ?? [],
    };
    return this.#token;
  }

  /** Forgets the token: the next request gets a new one. */
  invalidate(): void {
    this.#token = undefined;
  }

  /** URL of a service. @throws PythonError EndpointNotFound */
  async endpoint(filter: EndpointFilter): Promise<string> {
    return endpointOf(filter.override ? [] : (await this.token()).catalog, filter);
  }

  /** A request with the session's token; a 401 is tried once more with a new one. @throws PythonError */
  async request(
    method: string,
    url: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<HttpReply> {
    for (let attempt = 0; ; attempt += 1) {
      const { id } = await this.token();
      const reply = await this.send(method, url, { 'x-auth-token': id, ...headers }, body);
      if (reply.status !== 401 || attempt > 0) return reply;
      this.invalidate();
    }
  }

  /**
   * A request without a token; a body is JSON, or with the type application/octet-stream the text that it is.
   * @throws PythonError ConnectFailure with urllib3's words
   */
  async send(
    method: string,
    url: string,
    headers: Readonly<Record<string, string>>,
    body?: unknown,
  ): Promise<HttpReply> {
    const match = /^(https?):\/\/(\[[^\]]+\]|[^/:]+)(?::(\d+))?(\/.*)?$/.exec(url);
    if (match === null)
      throw failure(
        'connection.UnknownConnectionError',
        `Unexpected exception for ${url}: Invalid URL '${url}': No scheme supplied`,
      );
    const isText = typeof body === 'string' && headers['content-type'] === 'application/octet-stream';
    const [, scheme = 'http', host = '', port = scheme === 'https' ? '443' : '80', path = '/'] = match;
    const where = { scheme, host, port: Number(port) };
    const lost = (caused: string): PythonError =>
      failure(
        'connection.SSLError',
        `SSL exception connecting to ${url}: HTTPSConnectionPool(host='${host}', port=${port}): Max retries exceeded with url: ${path} (Caused by SSLError(${caused}))`,
      );
    try {
      const connection = await connectHttp(this.#process, where, this.#authority);
      const reply = await Promise.race([
        connection.call({
          method,
          path,
          headers: {
            host: `${host}:${port}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
          body: isText ? body : body === undefined ? '' : JSON.stringify(body),
        }),
        new Promise<'late'>((resolve) => this.#process.clock.after(60_000, () => resolve('late'), { ref: false })),
      ]);
      connection.close();
      if (reply === 'late') throw failure('connection.ConnectTimeout', `Request to ${url} timed out`);
      return reply as HttpReply;
    } catch (error) {
      if (error instanceof UntrustedServerError) throw lost(`SSLCertVerificationError(1, '${error.message}')`);
      if (error instanceof MissingAuthorityError)
        throw new PythonError(
          'OSError',
          `Could not find a suitable TLS CA certificate bundle, invalid path: ${error.message}`,
        );
      if (!(error instanceof SystemError)) throw error;
      if (scheme === 'https' && error.code === 'EPROTO')
        throw lost(
          "SSLEOFError(8, '[SSL: UNEXPECTED_EOF_WHILE_READING] EOF occurred in violation of protocol (_ssl.c:1033)')",
        );
      const reasons: Partial<Record<SystemError['code'], string>> = {
        ECONNREFUSED: 'Failed to establish a new connection: [Errno 111] Connection refused',
        ENOTFOUND: `Failed to resolve '${host}' ([Errno -2] Name or service not known)`,
        ETIMEDOUT: 'Failed to establish a new connection: [Errno 110] Connection timed out',
      };
      const cause = reasons[error.code];
      const pool = scheme === 'https' ? 'HTTPSConnection' : 'HTTPConnection';
      const text =
        cause === undefined
          ? "('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))"
          : `${pool}Pool(host='${host}', port=${port}): Max retries exceeded with url: ${path} (Caused by ${error.code === 'ENOTFOUND' ? 'NameResolutionError' : 'NewConnectionError'}("<urllib3.connection.${pool} object>: ${cause}"))`;
      throw failure('connection.ConnectFailure', `Unable to establish connection to ${url}: ${text}`);
    }
  }

  /** The URL of the v3 API behind `auth_url`: discovered, or, when nothing answers there, what its path says. */
  async #discover(url: string): Promise<string> {
    const base = url.replace(/\/+$/, '');
    const lost =
      'Could not find versioned identity endpoints when attempting to authenticate. Please check that your auth_url is correct.';
    const looksVersioned = /^https?:\/\/[^/]+\/v3/.test(base);
    const reply = await attempt(
      PythonError,
      () => this.send('GET', base, {}),
      (error) => error,
    );
    if (reply instanceof PythonError) {
      if (looksVersioned) return base;
      throw failure('discovery.DiscoveryFailure', `${lost} ${reply.message}`);
    }
    if (reply.status === 200 || reply.status === 300) return base.endsWith('/v3') ? base : `${base}/v3`;
    if (looksVersioned) return base;
    throw failure('discovery.DiscoveryFailure', lost);
  }
}

function authBody(option: (name: string) => string | undefined): unknown {
  if (option('auth_type') === 'v3applicationcredential') {
    const [id, secret] = [option('application_credential_id'), option('application_credential_secret')];
    return { auth: { identity: { methods: ['application_credential'], application_credential: { id, secret } } } };
  }
  const named = (kind: 'user' | 'project', name: string | undefined) => {
    const [id, domain] = [option(`${kind}_id`), option(`${kind}_domain_name`)];
    if (id !== undefined) return { id };
    const domainId = option(`${kind}_domain_id`) ?? (domain === undefined ? option('default_domain_id') : undefined);
    return {
      name,
      domain: domainId === undefined ? { name: domain ?? option('default_domain_name') } : { id: domainId },
    };
  };
  const user = { ...named('user', option('username')), password: option('password') };
  const hasProject = option('project_id') !== undefined || option('project_name') !== undefined;
  const project = hasProject ? { project: named('project', option('project_name')) } : undefined;
  const scope = option('system_scope') === undefined ? project : { system: { all: true } };
  const identity = { methods: ['password'], password: { user } };
  return { auth: { identity, ...(scope !== undefined && { scope }) } };
}

/** keystoneauth's exception for a status. */
export function httpError(reply: HttpReply, request: string): PythonError {
  const names: Readonly<Record<number, string>> = {
    400: 'BadRequest',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'NotFound',
    409: 'Conflict',
    500: 'InternalServerError',
    503: 'ServiceUnavailable',
  };
  const body = reply.body ?? '';
  const message = /"message":\s*"([^"]*)"/.exec(body)?.[1] ?? body.slice(0, 120);
  return failure(
    `http.${names[reply.status] ?? 'HttpError'}`,
    `${message} (HTTP ${reply.status}) (Request-ID: req-${request})`,
  );
}

/** URL of a service in a catalogue, without a slash at the end. @throws PythonError EndpointNotFound */
export function endpointOf(catalog: Catalog, { type, interfaces, region, override }: EndpointFilter): string {
  if (override) return override.replace(/\/+$/, '');
  const endpoints = catalog.filter((service) => service.type === type).flatMap((service) => service.endpoints);
  for (const kind of interfaces) {
    const found = endpoints.find(
      (endpoint) => endpoint.interface === kind && (region === undefined || endpoint.region_id === region),
    );
    if (found !== undefined) return found.url.replace(/\/+$/, '');
  }
  const kinds = interfaces.length === 1 ? interfaces[0] : `['${interfaces.join("', '")}']`;
  const where = region === undefined ? '' : ` in ${region} region`;
  throw failure('catalog.EndpointNotFound', `${kinds} endpoint for ${type} service${where} not found`);
}

/** Options that every client of another service has: region, interfaces, override. */
export function endpointFilter(config: Config, group: string, type: string): EndpointFilter {
  return {
    type: config.text(group, 'service_type', type),
    interfaces: config.list(group, 'valid_interfaces'),
    region: config.optional(group, 'region_name'),
    override: config.optional(group, 'endpoint_override'),
  };
}
