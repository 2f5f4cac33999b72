import type { HttpMessage, HttpReply, Process } from '@openstack-operator/sandbox';
import { SystemError } from '@openstack-operator/sandbox';
import { headerOf, json, locationOf, plain } from '../../http.ts';
import { serveHttp } from '../../model/eventlet-server.ts';
import { AuthToken } from '../../oslo/auth-token.ts';
import { pasteConfig } from '../../oslo/config.ts';
import { plainLog } from '../../oslo/log.ts';
import { terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { backendCall } from './swift-backend.ts';
import { isTrue, pipelineOf, readSwiftConf, type StoragePolicy, SwiftError } from './swift-conf.ts';
import { said, swiftProgram } from './swift-program.ts';
import type { SwiftRecord } from './swift-records.ts';
import { devicesOf, partitionOf, type RingDevice, type RingName, readRing } from './swift-ring.ts';
import { policyHeader } from './swift-storage.ts';
import { storletHandler } from './swift-storlets.ts';

const kinds = ['account', 'container', 'object'] as const;

/** `swift-proxy-server`: what users ask, asked of enough storage nodes. */
export const proxyServer = swiftProgram(startTimes.swiftServer, async (process, path) => {
  const { hashOf, policies } = readSwiftConf(process);
  const pipeline = pipelineOf(process, path);
  const app = pipeline.get('proxy-server') ?? {};
  const rings = app['swift_dir'] ?? '/etc/swift';
  for (const kind of kinds) readRing(process, rings, kind);
  for (const { index } of policies) readRing(process, rings, 'object', index);
  const s3token = pipeline.get('s3token');
  if (s3token !== undefined && !/^https?:\/\/[^/]/u.test(s3token['auth_uri'] ?? ''))
    throw new SwiftError('Invalid auth_uri; must include scheme and host');
  const storlets = storletHandler(pipeline.get('storlet_handler'));
  const tokens = authOf(process, pipeline.get('authtoken'));
  const {
    operator_roles: operators = 'admin, swiftoperator',
    project_reader_roles: readers = '',
    reseller_admin_role: reseller = 'ResellerAdmin',
  } = pipeline.get('keystoneauth') ?? {};
  const isCached = cacheOf(process, pipeline.get('cache')?.['memcache_servers']);

  /** The servers of a name, those that stand in for them after them. */
  const nodesOf = (kind: RingName, names: readonly string[], policy: number) => {
    const ring = readRing(process, rings, kind, kind === 'object' ? policy : 0);
    const partition = partitionOf(ring, hashOf(...names));
    return { partition, ...devicesOf(ring, partition) };
  };
  const read = async (kind: RingName, names: readonly string[], policy = 0): Promise<SwiftRecord | number> => {
    const { partition, primaries, handoffs } = nodesOf(kind, names, policy);
    const headers = { [policyHeader]: String(policy) };
    let missing = 0;
    for (const node of [...primaries, ...handoffs].slice(0, 2 * primaries.length)) {
      const reply = await backendCall(process, node, 'GET', [node.device, String(partition), ...names], { headers });
      if (reply?.status === 200) return JSON.parse(reply.body ?? '') as SwiftRecord;
      if (reply?.status === 404) missing += 1;
      else said(process, 'proxy-server', `ERROR with ${kind} server ${node.ip}:${node.port}/${node.device} re: GET`);
    }
    return missing >= quorum(primaries.length) ? 404 : 503;
  };
  const write = async (
    kind: RingName,
    names: readonly string[],
    { method, headers, body }: Pick<HttpMessage, 'method' | 'headers' | 'body'>,
    policy = 0,
  ) => {
    const { partition, primaries, handoffs } = nodesOf(kind, names, policy);
    const above = kinds[kinds.indexOf(kind) - 1];
    const listing = above === undefined ? undefined : nodesOf(above, names.slice(0, -1), 0);
    const spare = [...handoffs];
    const timestamp = String(process.clock.now());
    const statuses = await Promise.all(
      primaries.map(async (primary, index) => {
        const upper = listing?.primaries[index % listing.primaries.length];
        const told = above &&
          upper && {
            [`x-${above}-host`]: `${upper.ip}:${upper.port}`,
            [`x-${above}-device`]: upper.device,
            [`x-${above}-partition`]: String(listing?.partition),
          };
        for (let node: RingDevice | undefined = primary; node !== undefined; node = spare.shift()) {
          const all = { ...headers, 'x-timestamp': timestamp, [policyHeader]: String(policy), ...told };
          const reply = await backendCall(process, node, method, [node.device, String(partition), ...names], {
            headers: all,
            body,
          });
          if (reply !== undefined && reply.status < 500) return reply.status;
          said(
            process,
            'proxy-server',
            `ERROR with ${kind} server ${node.ip}:${node.port}/${node.device} re: ${method}`,
          );
        }
        return 503;
      }),
    );
    const need = quorum(primaries.length);
    return statuses.find((status) => status < 500 && statuses.filter((one) => one === status).length >= need) ?? 503;
  };

  const answer = async (request: HttpMessage, names: readonly string[]): Promise<HttpReply> => {
    const kind = kinds[names.length - 1] ?? 'object';
    const { method } = request;
    let policy = 0;
    if (kind === 'object') {
      const container = await read('container', names.slice(0, 2));
      if (typeof container === 'number') return plain(container, '');
      policy = Number(container.headers[policyHeader] ?? 0);
    }
    if (method === 'GET' || method === 'HEAD') {
      const found = await read(kind, names, policy);
      if (typeof found !== 'number') return shown(kind, found, request);
      return kind === 'account' && found === 404 ? json(200, []) : plain(found, '');
    }
    if (!['PUT', 'POST', 'DELETE'].includes(method) || (method === 'POST' && kind === 'object')) return plain(405, '');
    if (kind === 'container' && method === 'PUT') {
      const account = await read('account', names.slice(0, 1));
      const made = account === 404 ? await write('account', names.slice(0, 1), { ...request, body: '' }) : 201;
      if (made !== 201 || account === 503) return plain(503, '');
    }
    if (kind === 'container' && method !== 'DELETE') {
      const before = await read('container', names);
      const asked = headerOf(request, 'x-storage-policy');
      const named = policies.find(({ name }) => name.toLowerCase() === asked?.toLowerCase());
      if (asked !== undefined && (named === undefined || named.isDeprecated))
        return plain(400, `Invalid X-Storage-Policy '${asked}'`);
      const has = typeof before === 'number' ? undefined : Number(before.headers[policyHeader] ?? 0);
      if (named !== undefined && has !== undefined && has !== named.index) return plain(409, 'Conflict');
      policy = has ?? (named ?? policies.find(({ isDefault }) => isDefault))?.index ?? 0;
      return plain(await write(kind, names, request, policy), '');
    }
    if (kind === 'container' && method === 'DELETE') {
      const container = await read('container', names);
      const isFull = typeof container !== 'number' && Object.values(container.rows).some(({ deleted }) => !deleted);
      if (isFull) return plain(409, 'There was a conflict when trying to complete your request.');
    }
    return plain(await write(kind, names, request, policy), '');
  };

  const isEnabled = async (account: string) => {
    const found = await read('account', [account]);
    return typeof found !== 'number' && isTrue(headerOf(found, 'x-account-meta-storlet-enabled'));
  };
  const isThere = (request: HttpMessage) => async (names: readonly string[]) =>
    (await answer({ ...request, method: 'HEAD', headers: {}, body: '' }, names)).status === 200;

  serveHttp(process, { host: app['bind_ip'] ?? '0.0.0.0', port: Number(app['bind_port']) }, async (request) => {
    const { path: target } = locationOf(request);
    if (target === '/healthcheck') return plain(200, 'OK');
    if (target === '/info')
      return json(200, {
        swift: { version: '2.35.1', policies: policies.map(shownPolicy) },
        ...(storlets && { storlet_handler: storlets.info }),
      });
    const [, version, ...names] = target.split('/').map(decodeURIComponent);
    if (headerOf(request, 'authorization')?.startsWith('AWS') === true)
      return plain(501, 'this simulated proxy-server does not know S3');
    const [account] = names;
    if (version !== 'v1' || account === undefined) return plain(404, '');
    await isCached();
    if (headerOf(request, 'x-auth-token') === undefined || tokens === undefined) return plain(401, 'Unauthorized');
    const identity = await tokens.check(request);
    if ('status' in identity) return identity;
    const accepting = ['GET', 'HEAD'].includes(request.method) ? `${operators},${readers}` : operators;
    const accepted = accepting.split(',').map((role) => role.trim());
    const isOwn = account === `AUTH_${identity.projectId}` && identity.roles.some((role) => accepted.includes(role));
    if (!isOwn && !identity.roles.includes(reseller)) return plain(403, 'Forbidden');
    // Names of objects may hold slashes.
    const all = names.length > 3 ? [...names.slice(0, 2), names.slice(2).join('/')] : names;
    return (
      (await storlets?.handle(request, all, { isEnabled, isThere: isThere(request) })) ?? (await answer(request, all))
    );
  });
  await terminated(process);
  return 0;
});

const shownPolicy = ({ name, isDefault }: StoragePolicy) => ({ name, ...(isDefault ? { default: true } : {}) });

/** Servers that have to agree. */
const quorum = (count: number): number => Math.floor((count + 1) / 2);

/** An account, a container or an object, as clients are given it. */
export function shown(
  kind: RingName,
  { body, headers, rows }: Pick<SwiftRecord, 'body' | 'headers' | 'rows'>,
  request: HttpMessage,
): HttpReply {
  if (kind === 'object') return { status: 200, headers, body };
  const names = Object.entries(rows)
    .filter(([, { deleted }]) => !deleted)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const format =
    locationOf(request).query.get('format') ?? (headerOf(request, 'accept')?.includes('json') ? 'json' : '');
  if (format === 'json')
    return json(
      200,
      names.map(([name, { bytes }]) => ({ name, bytes })),
      headers,
    );
  return names.length === 0 ? plain(204, '') : plain(200, names.map(([name]) => `${name}\n`).join(''));
}

/** keystonemiddleware, whose options all services have alike, by those of its filter; undefined without one. */
function authOf(process: Process, filter: Readonly<Record<string, string>> | undefined): AuthToken | undefined {
  if (filter === undefined) return undefined;
  const config = pasteConfig(process, 'keystone_authtoken', { options: 'placement', values: filter });
  return new AuthToken({ process, config, log: plainLog(process) });
}

/** Asks the cache once in a while: one that is not there is done without. */
function cacheOf(process: Process, servers = '127.0.0.1:11211'): () => Promise<void> {
  const [host = '', port = '11211'] = (servers.split(',')[0] ?? '').split(/:(?=\d+$)/u);
  let next = 0;
  return async () => {
    if (process.clock.now() < next) return;
    next = process.clock.now() + 60_000;
    try {
      (await process.network.connect(host, Number(port), 'memcached')).close();
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      said(process, 'proxy-server', `Error connecting to memcached: ${host}:${port}: ${error.reason}`);
    }
  };
}
