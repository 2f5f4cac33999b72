import type { HttpMessage, HttpReply, Peer, Process, Session } from '@openstack-operator/sandbox';
import { bodyOf, headerOf, json, locationOf } from '../http.ts';
import { pause } from '../program-support.ts';
import type { Broker, BrokerState } from './rabbitmq-broker.ts';
import { type Body, type Resource, ResourceError, resourceOf, resources } from './rabbitmq-resources.ts';

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
const notFound = (): HttpReply => failure(404, 'Object Not Found', 'Not Found');

function answer(broker: Broker, peer: Peer, request: HttpMessage): HttpReply {
  const { path } = locationOf(request);
  if (!path.startsWith('/api'))
    return { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>RabbitMQ Management</html>' };
  const [, encoded = ''] = /^Basic (.*)$/.exec(headerOf(request, 'authorization') ?? '') ?? [];
  const [user = '', ...password] = Buffer.from(encoded, 'base64').toString().split(':');
  const { state } = broker;
  const login = broker.authentic(user, password.join(':'), peer);
  if (login === undefined) {
    const error = { error: 'not_authorized', reason: 'Not_Authorized' };
    return json(401, error, { 'www-authenticate': 'Basic realm="RabbitMQ Management"' });
  }
  const [, , kind = '', ...names] = path.split('/').map((part) => decodeURIComponent(part));
  if (kind === 'whoami') return json(200, { name: user, tags: login.tags, is_internal_user: true });
  if (login.tags.length === 0) return failure(401, 'not_authorized', 'User not authorised to access management');
  if (kind === 'health') return health(names);
  if (!login.tags.includes('administrator')) return failure(401, 'not_authorized', 'Not administrator user');
  const body = bodyOf(request);
  if (body === undefined) return failure(400, 'bad_request', 'JSON decode error');
  // What a virtual host has is listed below it as well.
  const [vhost = '', below] = names;
  if (kind === 'vhosts' && below !== undefined && !state.virtualHosts.has(vhost)) return notFound();
  const [word, rest] = kind === 'vhosts' && below !== undefined ? [below, [vhost]] : [kind, names];
  const resource = Object.hasOwn(resources, word) ? resources[word as keyof typeof resources] : undefined;
  return resource === undefined ? notFound() : answerResource(resource, state, request.method, rest, body);
}

function answerResource(
  resource: Resource,
  state: BrokerState,
  method: string,
  names: readonly string[],
  body: Body,
): HttpReply {
  if (names.length < resource.names.length)
    return json(
      200,
      resource.list(state).filter((one) => names.every((name, index) => one[resource.names[index] as string] === name)),
    );
  const known = resourceOf(resource, state, names);
  if (method === 'PUT') {
    try {
      resource.put(state, names, body);
    } catch (error) {
      if (!(error instanceof ResourceError)) throw error;
      return failure(400, 'bad_request', error.message);
    }
    return { status: known === undefined ? 201 : 204 };
  }
  if (known === undefined) return notFound();
  if (method !== 'DELETE') return json(200, known);
  resource.remove(state, names);
  return { status: 204 };
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
