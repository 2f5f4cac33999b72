import { createHash } from 'node:crypto';
import type { HttpMessage, HttpReply, Peer, Process, Session } from '@openstack-operator/sandbox';
import { headerOf, json, locationOf } from '../http.ts';
import { pause } from '../program-support.ts';
import { addVirtualHost, type Broker, type BrokerState, type BrokerUser, isAuthentic } from './rabbitmq-broker.ts';

type Body = Readonly<Record<string, unknown>>;

/** The HTTP API of rabbitmq_management: whoami, health checks, users, vhosts, permissions, policies. */
export function managementApi(process: Process, broker: Broker): (peer: Peer) => Session {
  return (peer) => ({
    receive: async (message) => {
      await pause(process, 10);
      return answer(broker, peer, message as HttpMessage);
    },
  });
}

const failure = (status: number, error: string, reason: string): HttpReply => json(status, { error, reason });
const noContent = (created: boolean): HttpReply => ({ status: created ? 201 : 204 });
const notFound = (): HttpReply => failure(404, 'Object Not Found', 'Not Found');

function answer(broker: Broker, peer: Peer, request: HttpMessage): HttpReply {
  const { path } = locationOf(request);
  if (!path.startsWith('/api'))
    return { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>RabbitMQ Management</html>' };
  const [, encoded = ''] = /^Basic (.*)$/.exec(headerOf(request, 'authorization') ?? '') ?? [];
  const [user = '', ...password] = Buffer.from(encoded, 'base64').toString().split(':');
  const { state } = broker;
  const login = state.users.get(user);
  if (login === undefined || !isAuthentic(state, user, password.join(':'), peer.address, broker.loopbackUsers)) {
    return {
      ...failure(401, 'not_authorized', 'Not_Authorized'),
      headers: { 'content-type': 'application/json', 'www-authenticate': 'Basic realm="RabbitMQ Management"' },
    };
  }
  const [, , kind = '', ...names] = path.split('/').map((part) => decodeURIComponent(part));
  if (kind === 'whoami') return json(200, { name: user, tags: login.tags, is_internal_user: true });
  if (login.tags.length === 0) return failure(401, 'not_authorized', 'User not authorised to access management');
  if (kind === 'health') return health(names);
  if (!login.tags.includes('administrator')) return failure(401, 'not_authorized', 'Not administrator user');
  let body: Body;
  try {
    body = request.body === '' ? {} : (JSON.parse(request.body) as Body);
  } catch {
    return failure(400, 'bad_request', 'JSON decode error');
  }
  switch (kind) {
    case 'users':
      return users(state, request.method, names, body);
    case 'vhosts':
      return virtualHosts(state, request.method, names);
    case 'permissions':
      return permissions(state, request.method, names, body);
    case 'policies':
      return policies(state, request.method, names, body);
    default:
      return notFound();
  }
}

function health([checks, check = '', detail]: readonly string[]): HttpReply {
  if (checks !== 'checks') return notFound();
  const known = 'alarms local-alarms virtual-hosts node-is-quorum-critical ready-to-serve-clients is-in-service'.split(
    ' ',
  );
  if (known.includes(check)) return json(200, { status: 'ok' });
  if (check === 'port-listener' || check === 'protocol-listener') {
    const listening = check === 'port-listener' ? ['5672', '15672', '25672'] : ['amqp', 'http', 'clustering'];
    if (detail !== undefined && listening.includes(detail)) return json(200, { status: 'ok' });
    return json(503, { status: 'failed', reason: `No active listener`, missing: detail });
  }
  return notFound();
}

function users(state: BrokerState, method: string, [name]: readonly string[], body: Body): HttpReply {
  const shown = (user: string, { tags, password }: BrokerUser) => ({
    name: user,
    tags,
    password_hash: password === undefined ? '' : passwordHash(user, password),
    hashing_algorithm: 'rabbit_password_hashing_sha256',
    limits: {},
  });
  if (name === undefined)
    return json(
      200,
      [...state.users].map(([user, found]) => shown(user, found)),
    );
  const known = state.users.get(name);
  if (method === 'PUT') {
    const given = body['tags'];
    if (given === undefined && body['administrator'] === undefined)
      return failure(400, 'bad_request', 'tags_not_present');
    const tags = Array.isArray(given)
      ? (given as string[])
      : typeof given === 'string'
        ? given
            .split(',')
            .map((tag) => tag.trim())
            .filter((tag) => tag !== '')
        : ['administrator'];
    const password = typeof body['password'] === 'string' && body['password'] !== '' ? body['password'] : undefined;
    if (known === undefined) {
      state.users.set(name, { password, tags, permissions: new Map() });
      return noContent(true);
    }
    known.password = password;
    known.tags = tags;
    return noContent(false);
  }
  if (known === undefined) return notFound();
  if (method === 'DELETE') {
    state.users.delete(name);
    return noContent(false);
  }
  return json(200, shown(name, known));
}

/** Base64 of four bytes of salt and SHA-256 of salt and password (rabbit_password); the salt here follows from the name. */
function passwordHash(user: string, password: string): string {
  const salt = createHash('sha256').update(user).digest().subarray(0, 4);
  const digest = createHash('sha256').update(salt).update(password).digest();
  return Buffer.concat([salt, digest]).toString('base64');
}

function virtualHosts(state: BrokerState, method: string, [name, what]: readonly string[]): HttpReply {
  if (name === undefined)
    return json(
      200,
      [...state.virtualHosts.keys()].map((vhost) => ({ name: vhost, tags: [] })),
    );
  if (method === 'PUT') return noContent(addVirtualHost(state, name));
  if (!state.virtualHosts.has(name)) return notFound();
  if (method === 'DELETE') {
    state.virtualHosts.delete(name);
    for (const user of state.users.values()) user.permissions.delete(name);
    return noContent(false);
  }
  if (what === 'permissions')
    return json(
      200,
      permissionList(state).filter(({ vhost }) => vhost === name),
    );
  return json(200, { name, tags: [] });
}

function permissionList(state: BrokerState) {
  return [...state.users].flatMap(([user, { permissions: held }]) =>
    [...held].map(([vhost, rights]) => ({ user, vhost, ...rights })),
  );
}

function permissions(state: BrokerState, method: string, [vhost, user]: readonly string[], body: Body): HttpReply {
  if (vhost === undefined || user === undefined) return json(200, permissionList(state));
  const held = state.users.get(user);
  if (method === 'PUT') {
    if (!state.virtualHosts.has(vhost)) return notFound();
    if (held === undefined) return failure(400, 'bad_request', `{no_such_user,<<"${user}">>}`);
    const { configure, write, read } = body;
    const missing = Object.entries({ configure, write, read }).find(([, pattern]) => typeof pattern !== 'string')?.[0];
    if (missing !== undefined) return failure(400, 'bad_request', `[{key_missing,${missing}}]`);
    const created = !held.permissions.has(vhost);
    held.permissions.set(vhost, { configure: String(configure), write: String(write), read: String(read) });
    return noContent(created);
  }
  const found = held?.permissions.get(vhost);
  if (held === undefined || found === undefined) return notFound();
  if (method === 'DELETE') {
    held.permissions.delete(vhost);
    return noContent(false);
  }
  return json(200, { user, vhost, ...found });
}

function policies(state: BrokerState, method: string, [vhost, name]: readonly string[], body: Body): HttpReply {
  const shown = [...state.virtualHosts].flatMap(([host, { policies: held }]) =>
    [...held].map(([policy, { pattern, definition, priority, applyTo }]) => ({
      vhost: host,
      name: policy,
      pattern,
      definition,
      priority,
      'apply-to': applyTo,
    })),
  );
  if (vhost === undefined) return json(200, shown);
  const host = state.virtualHosts.get(vhost);
  if (host === undefined) return notFound();
  if (name === undefined)
    return json(
      200,
      shown.filter((policy) => policy.vhost === vhost),
    );
  if (method === 'PUT') {
    const { pattern, definition } = body;
    if (typeof pattern !== 'string') return failure(400, 'bad_request', '{key_missing,pattern}');
    if (typeof definition !== 'object' || definition === null)
      return failure(400, 'bad_request', '{key_missing,definition}');
    const mirrored = Object.keys(definition).find((key) => key.startsWith('ha-'));
    if (mirrored !== undefined)
      return failure(
        400,
        'bad_request',
        `Validation failed\n\n[{<<"${mirrored}">>,${JSON.stringify(String((definition as Body)[mirrored]))}}] are not recognised policy settings\n`,
      );
    const created = !host.policies.has(name);
    host.policies.set(name, {
      pattern,
      definition: definition as Body,
      priority: Number(body['priority'] ?? 0),
      applyTo: typeof body['apply-to'] === 'string' ? body['apply-to'] : 'all',
    });
    return noContent(created);
  }
  if (!host.policies.has(name)) return notFound();
  if (method === 'DELETE') {
    host.policies.delete(name);
    return noContent(false);
  }
  return json(
    200,
    shown.find((policy) => policy.vhost === vhost && policy.name === name),
  );
}

interface Definitions {
  readonly users?: readonly { name: string; password?: string; tags?: string | string[] }[];
  readonly vhosts?: readonly { name: string }[];
  readonly permissions?: readonly { user: string; vhost: string; configure: string; write: string; read: string }[];
  readonly policies?: readonly {
    vhost: string;
    name: string;
    pattern: string;
    definition: Body;
    priority?: number;
    'apply-to'?: string;
  }[];
}

/** Definitions name what is not there; `message` is Erlang's term. */
export class DefinitionsError extends Error {
  override readonly name = 'DefinitionsError';
}

/**
 * Takes over definitions: they are added to what is there, and reset the passwords of users that are named.
 * @throws DefinitionsError for permissions of users and in vhosts that do not exist (rabbitmq-server#1329)
 */
export function importDefinitions(state: BrokerState, given: unknown): void {
  const { users: people = [], vhosts = [], permissions: rights = [], policies: rules = [] } = given as Definitions;
  for (const { name } of vhosts) addVirtualHost(state, name);
  for (const { name, password, tags = '' } of people) {
    const list = Array.isArray(tags) ? tags : tags.split(',').filter((tag) => tag !== '');
    state.users.set(name, { password, tags: list, permissions: state.users.get(name)?.permissions ?? new Map() });
  }
  for (const { user, vhost, configure, write, read } of rights) {
    const known = state.users.get(user);
    if (known === undefined) throw new DefinitionsError(`{no_such_user,${erlang(user)}}`);
    if (!state.virtualHosts.has(vhost)) throw new DefinitionsError(`{no_such_vhost,${erlang(vhost)}}`);
    if (![configure, write, read].every((pattern) => typeof pattern === 'string'))
      throw new DefinitionsError('{invalid_regexp,undefined,badarg}');
    known.permissions.set(vhost, { configure, write, read });
  }
  for (const rule of rules) {
    state.virtualHosts.get(rule.vhost)?.policies.set(rule.name, {
      pattern: rule.pattern,
      definition: rule.definition,
      priority: rule.priority ?? 0,
      applyTo: rule['apply-to'] ?? 'all',
    });
  }
}

function erlang(text: string | undefined): string {
  return text === undefined ? 'undefined' : `<<"${text}">>`;
}
