import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { bodyOf, headerOf, json, locationOf, plain, selfUrl } from '../../http.ts';
import { type Row, rowsOf, type Schema } from '../../infrastructure/mysql-protocol.ts';
import { answerCollection, type Collection } from '../../model/collection.ts';
import { Fault } from '../../model/fault.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Cache } from '../../oslo/cache.ts';
import { Database } from '../../oslo/database.ts';
import { notify } from '../../oslo/notifier.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { demandKeys, loadKeys } from './fernet-keys.ts';
import { authenticate, unauthorized } from './keystone-auth.ts';
import { grants } from './keystone-grants.ts';
import { demandUnlimited, unifiedLimits } from './keystone-limits.ts';
import { Passwords } from './keystone-passwords.ts';
import { applicationCredentials, collectionsOf } from './keystone-resources.ts';
import { findRow, keystoneDatabase, newId, rolesOf } from './keystone-schema.ts';
import { openToken, sealToken, type TokenPayload, tokenBody, tokenRoles } from './keystone-tokens.ts';
import { keystoneWords } from './keystone-words.ts';

/** What the application does when it is imported. @throws SystemExit without fernet keys */
export function serveIdentity(context: ServiceContext): WsgiHandler {
  context.config.text('token', 'provider');
  demandKeys(context);
  const api = new KeystoneApi(context);
  return (request) => api.handle(request);
}

/** The caller of a request. */
interface Caller {
  readonly payload: TokenPayload;
  readonly roles: readonly string[];
}

const notFound = (): Fault => new Fault(404, 'The requested URL was not found on the server.');

class KeystoneApi {
  readonly #context: ServiceContext;
  readonly #database: Database;
  readonly #cache: Cache;
  readonly #passwords: Passwords;
  readonly #collections: readonly Collection[];

  constructor(context: ServiceContext) {
    const { process, config, log } = context;
    this.#context = context;
    this.#database = new Database(context, keystoneDatabase);
    this.#cache = new Cache(process, config);
    this.#passwords = new Passwords(config, log);
    this.#collections = collectionsOf({ passwords: this.#passwords, clock: process.clock });
  }

  async handle(request: HttpMessage): Promise<HttpReply> {
    const { path } = locationOf(request);
    const version = {
      id: 'v3.14',
      status: 'stable',
      updated: '2020-04-07T00:00:00Z',
      links: [{ rel: 'self', href: `${selfUrl(request)}/v3/` }],
      'media-types': [],
    };
    if (path === '/healthcheck') return plain(200, 'OK');
    if (path === '/' || path === '') return json(300, { versions: { values: [version] } });
    if (path === '/v3') return json(200, { version });
    try {
      await this.#cache.touch(path);
      const reply = await this.#database.transaction('SELECT', (schema) => this.#route(schema, request));
      await this.#tell(request, reply);
      return reply;
    } catch (error) {
      if (error instanceof Fault) return failure(error);
      if (!(error instanceof PythonError)) throw error;
      this.#context.log.exception('keystone.server.flask.application', error.lastLine, error);
      return failure(new Fault(500, 'An unexpected error prevented the server from fulfilling your request.'));
    }
  }

  /** What became of a resource (keystone.notifications.Audit), by the part of it that services read. */
  async #tell(request: HttpMessage, { body = '{}' }: HttpReply): Promise<void> {
    const [, , kind, id, further] = locationOf(request).path.split('/');
    const { item } = this.#collections.find(({ path }) => path === kind) ?? {};
    const operation = operations[request.method];
    if (item === undefined || operation === undefined || further !== undefined) return;
    const resource_info = id ?? (JSON.parse(body) as Record<string, Row>)[item]?.['id'];
    await notify(this.#context, `identity.${item}.${operation}`, { resource_info });
  }

  #route(schema: Schema, request: HttpMessage): HttpReply {
    const [, version, ...segments] = locationOf(request).path.split('/');
    const [kind, id, further] = segments;
    if (version !== 'v3') throw notFound();
    if (kind === 'auth') return this.#auth(schema, request, id ?? '');
    const caller = this.#caller(schema, request);
    const granted = grants(schema, request, segments, caller.roles);
    if (granted !== undefined) return granted;
    const { random } = this.#context.process;
    const limits = unifiedLimits({ schema, request, segments, caller, random });
    if (limits !== undefined) return limits;
    const use = { schema, request, random, project: caller.payload.scope, words: keystoneWords, known: undefined };
    if (kind === 'users' && further === 'application_credentials' && id !== undefined)
      return answerCollection(applicationCredentials(id, this.#passwords), use, segments[3]);
    const collection = this.#collections.find(({ path }) => path === kind);
    if (collection === undefined || further !== undefined) throw notFound();
    demandRole(caller, request.method, collection, id);
    if (kind === 'services' && request.method === 'DELETE' && id !== undefined) demandUnlimited(schema, id);
    return answerCollection(collection, use, id);
  }

  #open(schema: Schema, token: string): TokenPayload {
    const { process, log } = this.#context;
    const payload = openToken(token, loadKeys(this.#context));
    if (payload === undefined) {
      log.warning('keystone.server.flask.application', 'This is not a recognized Fernet token');
      throw new Fault(404, 'This is not a recognized Fernet token.');
    }
    const expired = payload.expires < process.clock.now() / 1000;
    const user = findRow(schema, 'user', payload.user);
    const revoked = schema.tables.get('revocation_event')?.has(payload.audit) ?? false;
    const lost = payload.scope !== undefined && tokenRoles(schema, payload).length === 0;
    const changed = Number(user?.['password_changed'] ?? 0) > payload.issued;
    if (expired || revoked || lost || changed || user === undefined || user['enabled'] === false)
      throw new Fault(404, 'Could not find token.');
    return payload;
  }

  #caller(schema: Schema, request: HttpMessage): Caller {
    const token = headerOf(request, 'x-auth-token');
    if (token === undefined) throw unauthorized();
    try {
      const payload = this.#open(schema, token);
      return { payload, roles: tokenRoles(schema, payload).map((role) => String(role['name'])) };
    } catch (error) {
      throw error instanceof Fault ? unauthorized() : error;
    }
  }

  #auth(schema: Schema, request: HttpMessage, what: string): HttpReply {
    if (what === 'tokens' && request.method === 'POST') return this.#issue(schema, request);
    const { roles, payload: caller } = this.#caller(schema, request);
    if (what === 'projects') return json(200, { projects: projectsOf(schema, caller.user) });
    if (what !== 'tokens') throw notFound();
    const subject = headerOf(request, 'x-subject-token') ?? '';
    const isOwn = subject === headerOf(request, 'x-auth-token');
    if (!isOwn && !roles.some((role) => ['admin', 'service', 'reader'].includes(role)))
      throw new Fault(403, keystoneWords.forbidden('identity:validate_token'));
    const payload = this.#open(schema, subject);
    if (request.method !== 'DELETE') return tokenReply(200, schema, request, payload, subject);
    schema.tables.get('revocation_event')?.set(payload.audit, { audit_id: payload.audit });
    return { status: 204 };
  }

  #issue(schema: Schema, request: HttpMessage): HttpReply {
    const { process, config, log } = this.#context;
    const body = bodyOf(request);
    if (body === undefined) throw new Fault(400, 'Malformed json in request body');
    const proven = authenticate(
      schema,
      body,
      (token) => this.#open(schema, token),
      (text) => log.warning('keystone.server.flask.application', text),
      this.#passwords,
    );
    const [primary] = loadKeys(this.#context);
    if (primary === undefined)
      throw new PythonError(
        'keystone.exception.KeysNotFound',
        'No encryption keys found; run keystone-manage fernet_setup to bootstrap one.',
      );
    const issued = Math.floor(process.clock.now() / 1000);
    const expires = issued + config.integer('token', 'expiration');
    const payload: TokenPayload = { ...proven, issued, expires, audit: newId(process.random) };
    return tokenReply(201, schema, request, payload, sealToken(payload, primary));
  }
}

/** Projects that a user has a role on. */
function projectsOf(schema: Schema, user: string): Row[] {
  return rowsOf(schema, 'project').filter(
    ({ id, is_domain: isDomain }) => isDomain !== true && rolesOf(schema, user, String(id)).length > 0,
  );
}

function tokenReply(
  status: number,
  schema: Schema,
  request: HttpMessage,
  payload: TokenPayload,
  token: string,
): HttpReply {
  const catalog = !locationOf(request).query.has('nocatalog');
  return json(status, { token: tokenBody(schema, payload, { catalog }) }, { 'x-subject-token': token });
}

const operations: Readonly<Record<string, string>> = { POST: 'created', PATCH: 'updated', DELETE: 'deleted' };

const verbs: Readonly<Record<string, string>> = { GET: 'list', POST: 'create', PATCH: 'update', DELETE: 'delete' };

/** An administrator may all; readers and services may read, users themselves. @throws Fault */
function demandRole({ roles, payload }: Caller, method: string, { item, path }: Collection, id?: string): void {
  const reading = method === 'GET' || method === 'HEAD';
  const own = item === 'user' && id === payload.user;
  if (roles.includes('admin') || (reading && (own || roles.includes('reader') || roles.includes('service')))) return;
  const rule = `identity:${verbs[method] ?? 'get'}_${id === undefined && reading ? path : String(item)}`;
  throw new Fault(403, keystoneWords.forbidden(rule));
}

function failure(fault: Fault): HttpReply {
  const login = { 'www-authenticate': 'Keystone uri="http://localhost/v3"' };
  return json(fault.status, keystoneWords.body(fault), fault.status === 401 ? login : {});
}
