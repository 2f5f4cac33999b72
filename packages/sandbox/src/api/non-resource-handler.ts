import { aggregatedDiscovery, coreVersions, groupList, groupOf, resourceList } from './discovery.ts';
import { wantsAggregatedDiscovery } from './negotiation.ts';
import { openApiIndex, openApiOf } from './openapi.ts';
import type { Registry } from './registry.ts';
import { header, type RequestInfo } from './request-info.ts';
import type { Reply } from './resource-handler.ts';
import { methodNotAllowed, notOffered, pathNotFound } from './status.ts';

/** The version of Kubernetes that the sandbox behaves like. */
export const KUBERNETES_VERSION = { major: 1, minor: 36, patch: 3 } as const;

const HEALTH = /^\/(healthz|livez|readyz)(\/.*)?$/;

/** Answers what is about no object: discovery, health, version, OpenAPI. @throws StatusError */
export function handleNonResource(registry: Registry, info: RequestInfo): Reply {
  const { path } = info;
  if (info.method !== 'GET' && info.method !== 'HEAD') {
    throw methodNotAllowed();
  }
  if (HEALTH.test(path)) return health(info);
  const parts = path.split('/').filter((part) => part !== '');
  const [root = '', first = '', second = '', third] = parts;
  switch (root) {
    case '':
      return { status: 200, body: { paths: rootPaths(registry) } };
    case 'version':
      return { status: 200, body: version() };
    case 'api':
    case 'apis':
      return discovery(registry, info, root, first, second);
    case 'openapi':
      if (first === 'v3') return openApi(registry, parts.slice(2), info.path);
      throw first === 'v2' ? notOffered('/openapi/v2 (ask for /openapi/v3)') : plainNotFound(path);
    default:
      throw third === undefined && OTHERS.has(root) ? notOffered(path) : plainNotFound(path);
  }
}

/** What a real API server has there, and the sandbox not. */
const OTHERS = new Set(['metrics', 'logs', 'debug', 'configz', '.well-known', 'flagz', 'statusz']);

/** The mux of a real API server says this for a path that nobody registered. */
export class PlainNotFound extends Error {
  override readonly name = 'PlainNotFound';
}

function plainNotFound(path: string): PlainNotFound {
  return new PlainNotFound(`404 page not found: ${path}`);
}

function discovery(registry: Registry, info: RequestInfo, root: string, first: string, second: string): Reply {
  const core = root === 'api';
  if (first === '') {
    const aggregated = wantsAggregatedDiscovery(header(info, 'accept'));
    if (!aggregated) return { status: 200, body: core ? coreVersions() : groupList(registry) };
    const contentType = `application/json;g=apidiscovery.k8s.io;v=${aggregated};as=APIGroupDiscoveryList`;
    const body = aggregatedDiscovery(registry, core, aggregated);
    return { status: 200, headers: { 'content-type': contentType, vary: 'Accept' }, body };
  }
  if (core) return found(resourceList(registry, '', first), pathNotFound());
  if (second === '') return found(groupOf(registry, first), plainNotFound(info.path));
  return found(resourceList(registry, first, second), pathNotFound());
}

function found(body: unknown, otherwise: Error): Reply {
  if (body === undefined) throw otherwise;
  return { status: 200, body };
}

function openApi(registry: Registry, parts: readonly string[], path: string): Reply {
  if (parts.length === 0) return { status: 200, body: openApiIndex(registry) };
  const core = parts[0] === 'api';
  const group = core ? '' : (parts[1] ?? '');
  const version = (core ? parts[1] : parts[2]) ?? '';
  return found(openApiOf(registry, group, version), plainNotFound(path));
}

function health(info: RequestInfo): Reply {
  const verbose = info.query.has('verbose');
  const name = info.path.split('/')[1] ?? '';
  const text = verbose ? `[+]ping ok\n[+]sandbox ok\n${name} check passed\n` : 'ok';
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: text };
}

function version(): unknown {
  const { major, minor, patch } = KUBERNETES_VERSION;
  return {
    major: String(major),
    minor: String(minor),
    gitVersion: `v${major}.${minor}.${patch}+sandbox`,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'none',
    compiler: 'node',
    platform: 'sandbox/sandbox',
  };
}

function rootPaths(registry: Registry): string[] {
  const groups = registry.all().map((served) => served.type.kind);
  const versions = groups.map(({ group, version }) => (group ? `/apis/${group}/${version}` : `/api/${version}`));
  const names = groups.filter(({ group }) => group).map(({ group }) => `/apis/${group}`);
  return [
    ...new Set(['/api', '/apis', '/healthz', '/livez', '/openapi/v3', '/readyz', '/version', ...names, ...versions]),
  ].sort();
}
