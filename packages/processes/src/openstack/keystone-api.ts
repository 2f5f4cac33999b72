import type { HttpMessage, HttpReply, Process } from '@openstack-operator/sandbox';
import type { Row, Schema } from '../infrastructure/mysql-protocol.ts';
import { Cache } from '../oslo/cache.ts';
import { type Config, loadConfig } from '../oslo/config.ts';
import { Database } from '../oslo/database.ts';
import { type Log, setUpLog } from '../oslo/log.ts';
import { PythonError } from '../oslo/python-error.ts';
import { pause } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { demandKeys, type KeyRepository, loadKeys } from './fernet-keys.ts';
import { headerOf, json, locationOf, plain, selfUrl } from './http.ts';
import { type AuthRequest, authenticate, KeystoneError } from './keystone-auth.ts';
import { grants } from './keystone-grants.ts';
import { Passwords } from './keystone-passwords.ts';
import {
  type Collection,
  collections,
  createRow,
  deleteRow,
  listRows,
  rowOf,
  shown,
  updateRow,
} from './keystone-resources.ts';
import { findRow, newId } from './keystone-schema.ts';
import { catalogOf, openToken, sealToken, type TokenPayload, tokenBody, tokenRoles } from './keystone-tokens.ts';
import type { WsgiModule } from './uwsgi.ts';

/** `keystone.wsgi.api:application`: talks to the database on the first request. */
export const keystoneApi: WsgiModule = async (process) => {
  const { env } = process;
  const directory = env['OS_KEYSTONE_CONFIG_DIR']?.trim();
  const names = (env['OS_KEYSTONE_CONFIG_FILES'] ?? '').split(';').filter((name) => name !== '');
  const files = directory
    ? (names.length > 0 ? names : ['keystone.conf']).map((name) => `${directory}/${name}`)
    : names;
  const config = loadConfig(process, { project: 'keystone', programs: ['uwsgi'], ...(files.length > 0 && { files }) });
  const log = setUpLog(process, config, 'uwsgi');
  await pause(process, startTimes.keystoneApi);
  config.text('token', 'provider');
  const repository: KeyRepository = {
    process,
    log,
    group: 'fernet_tokens',
    path: config.text('fernet_tokens', 'key_repository').replace(/(?<=.)\/+$/, ''),
    maxActiveKeys: config.integer('fernet_tokens', 'max_active_keys'),
  };
  demandKeys(process, config);
  const api = new KeystoneApi(process, config, log, repository);
  return (request) => api.handle(request);
};

/** The caller of a request. */
export interface Caller {
  readonly payload: TokenPayload;
  readonly roles: readonly string[];
}

class KeystoneApi {
  readonly #process: Process;
  readonly #config: Config;
  readonly #log: Log;
  readonly #repository: KeyRepository;
  readonly #database: Database;
  readonly #cache: Cache;
  readonly #passwords: Passwords;

  constructor(process: Process, config: Config, log: Log, repository: KeyRepository) {
    this.#process = process;
    this.#config = config;
    this.#log = log;
    this.#repository = repository;
    this.#database = new Database({ process, config, log, sqlite: true });
    this.#cache = new Cache(process, config);
    this.#passwords = new Passwords(config, log);
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
      return await this.#database.transaction('SELECT', (schema) => this.#route(schema, request));
    } catch (error) {
      if (error instanceof KeystoneError) return failure(error.status, error.message);
      if (!(error instanceof PythonError)) throw error;
      this.#log.exception('keystone.server.flask.application', error.lastLine, error);
      return failure(500, 'An unexpected error prevented the server from fulfilling your request.');
    }
  }

  #route(schema: Schema, request: HttpMessage): HttpReply {
    try {
      const { path } = locationOf(request);
      const [, version, ...segments] = path.split('/');
      if (version !== 'v3') throw new KeystoneError(404, 'The requested URL was not found on the server.');
      if (segments[0] === 'auth') return this.#auth(schema, request, segments[1] ?? '');
      const caller = this.#caller(schema, request);
      const granted = grants(schema, request, segments, caller, this.#passwords);
      if (granted !== undefined) return granted;
      const collection = collections.find((candidate) => candidate.path === segments[0]);
      if (collection === undefined || segments.length > 2)
        throw new KeystoneError(404, `The requested URL was not found on the server.`);
      return this.#collection(schema, request, collection, segments[1], caller);
    } catch (error) {
      if (error instanceof KeystoneError) return failure(error.status, error.message);
      throw error;
    }
  }

  #keys(): string[] {
    return loadKeys(this.#repository);
  }

  #open(schema: Schema, token: string): TokenPayload {
    const payload = openToken(token, this.#keys());
    if (payload === undefined) {
      this.#log.warning('keystone.server.flask.application', 'This is not a recognized Fernet token');
      throw new KeystoneError(404, 'This is not a recognized Fernet token.');
    }
    const expired = payload.expires < this.#process.clock.now() / 1000;
    const user = findRow(schema, 'user', payload.user);
    const revoked = schema.tables.get('revocation_event')?.has(payload.audit) ?? false;
    const lost = payload.scope !== undefined && tokenRoles(schema, payload).length === 0;
    const changed = Number(user?.['password_changed'] ?? 0) > payload.issued;
    if (expired || revoked || lost || changed || user === undefined || user['enabled'] === false) {
      throw new KeystoneError(404, 'Could not find token.');
    }
    return payload;
  }

  #caller(schema: Schema, request: HttpMessage): Caller {
    const token = headerOf(request, 'x-auth-token');
    if (token === undefined) throw KeystoneError.unauthorized();
    let payload: TokenPayload;
    try {
      payload = this.#open(schema, token);
    } catch (error) {
      if (error instanceof KeystoneError) throw KeystoneError.unauthorized();
      throw error;
    }
    return { payload, roles: tokenRoles(schema, payload).map((role) => String(role['name'])) };
  }

  #auth(schema: Schema, request: HttpMessage, what: string): HttpReply {
    if (what === 'tokens' && request.method === 'POST') return this.#issue(schema, request);
    const caller = this.#caller(schema, request);
    if (what === 'catalog') return json(200, { catalog: catalogOf(schema, caller.payload.scope), links: { self: '' } });
    if (what === 'projects') {
      const projects = collections.find((collection) => collection.path === 'projects') as Collection;
      const rows = listRows(schema, projects, new URLSearchParams()).filter(
        (row) => tokenRoles(schema, { ...caller.payload, scope: String(row['id']) }).length > 0,
      );
      return json(200, { projects: rows.map((row) => shown(row, projects, selfUrl(request))), links: {} });
    }
    if (what !== 'tokens') throw new KeystoneError(404, 'The requested URL was not found on the server.');
    const subject = headerOf(request, 'x-subject-token') ?? '';
    const own = subject === headerOf(request, 'x-auth-token');
    if (!own && !caller.roles.some((role) => ['admin', 'service', 'reader'].includes(role)))
      throw forbidden('identity:validate_token');
    const payload = this.#open(schema, subject);
    if (request.method === 'DELETE') {
      schema.tables.get('revocation_event')?.set(payload.audit, { audit_id: payload.audit });
      return { status: 204 };
    }
    return json(
      200,
      { token: tokenBody(schema, payload, { catalog: !locationOf(request).query.has('nocatalog') }) },
      { 'x-subject-token': subject },
    );
  }

  #issue(schema: Schema, request: HttpMessage): HttpReply {
    const body = bodyOf(request) as AuthRequest;
    const proven = authenticate(
      schema,
      body,
      (token) => this.#open(schema, token),
      (text) => this.#log.warning('keystone.server.flask.application', text),
      this.#passwords,
    );
    const [primary] = this.#keys();
    if (primary === undefined)
      throw new PythonError(
        'keystone.exception.KeysNotFound',
        'No encryption keys found; run keystone-manage fernet_setup to bootstrap one.',
      );
    const issued = Math.floor(this.#process.clock.now() / 1000);
    const expires = issued + this.#config.integer('token', 'expiration');
    const payload: TokenPayload = { ...proven, issued, expires, audit: newId(this.#process.random) };
    return json(
      201,
      { token: tokenBody(schema, payload, { catalog: !locationOf(request).query.has('nocatalog') }) },
      { 'x-subject-token': sealToken(payload, primary) },
    );
  }

  #collection(
    schema: Schema,
    request: HttpMessage,
    collection: Collection,
    id: string | undefined,
    caller: Caller,
  ): HttpReply {
    const { method } = request;
    const base = selfUrl(request);
    const { item, path } = collection;
    const reading = method === 'GET' || method === 'HEAD';
    const own = item === 'user' && id === caller.payload.user;
    if (
      !caller.roles.includes('admin') &&
      !(reading && (own || caller.roles.includes('reader') || caller.roles.includes('service')))
    ) {
      throw forbidden(
        `identity:${{ GET: 'list', POST: 'create', PATCH: 'update', DELETE: 'delete' }[method as 'GET'] ?? 'get'}_${id === undefined && reading ? path : item}`,
      );
    }
    if (id === undefined) {
      if (method === 'POST') {
        const row = createRow(schema, collection, given(request, item), {
          passwords: this.#passwords,
          random: this.#process.random,
        });
        return json(201, { [item]: shown(row, collection, base) });
      }
      if (!reading) throw new KeystoneError(405, 'The method is not allowed for the requested URL.');
      const rows = listRows(schema, collection, locationOf(request).query).map((row) => shown(row, collection, base));
      return json(200, { [path]: rows, links: { self: `${base}/v3/${path}`, previous: null, next: null } });
    }
    if (method === 'PATCH') {
      const change = given(request, item);
      const row = updateRow(schema, collection, id, { given: change, passwords: this.#passwords });
      if (change['password'] !== undefined) row['password_changed'] = this.#process.clock.now() / 1000;
      return json(200, { [item]: shown(row, collection, base) });
    }
    if (method === 'DELETE') {
      deleteRow(schema, collection, id);
      return { status: 204 };
    }
    return json(200, { [item]: shown(rowOf(schema, collection, id), collection, base) });
  }
}

function bodyOf(request: HttpMessage): unknown {
  try {
    return JSON.parse(request.body === '' ? '{}' : request.body);
  } catch {
    throw new KeystoneError(400, 'Malformed json in request body');
  }
}

function given(request: HttpMessage, item: string): Row {
  const row = (bodyOf(request) as Record<string, unknown>)[item];
  if (typeof row !== 'object' || row === null)
    throw new KeystoneError(400, `Expecting to find ${item} in request body.`);
  return { ...row };
}

/** Keystone's refusal of a policy. */
export function forbidden(action: string): KeystoneError {
  return new KeystoneError(403, `You are not authorized to perform the requested action: ${action}.`);
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  500: 'Internal Server Error',
};

function failure(code: number, message: string): HttpReply {
  return json(
    code,
    { error: { code, message, title: titles[code] } },
    code === 401 ? { 'www-authenticate': 'Keystone uri="http://localhost/v3"' } : {},
  );
}
