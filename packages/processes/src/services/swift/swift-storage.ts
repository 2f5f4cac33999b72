import type { HttpMessage, Process, Program } from '@openstack-operator/sandbox';
import { SystemError } from '@openstack-operator/sandbox';
import { headerOf, json, plain } from '../../http.ts';
import { serveHttp } from '../../model/eventlet-server.ts';
import { terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { backendCall } from './swift-backend.ts';
import { isTrue, pipelineOf, readSwiftConf } from './swift-conf.ts';
import { said, swiftProgram } from './swift-program.ts';
import { type SwiftRecord, type SwiftRow, SwiftStore } from './swift-records.ts';
import type { RingName } from './swift-ring.ts';

/** How many names its records have. */
const depth = { account: 1, container: 2, object: 3 } as const;

/** By which servers tell each other the policy of a container and of its objects. */
export const policyHeader = 'x-backend-storage-policy-index';

/** Whose listing it is entered in. */
const listedIn = { account: undefined, container: 'account', object: 'container' } as const;

/** `swift-<kind>-server`: it keeps what it is sent, and enters it in the listing above. */
export function storageServer(kind: RingName): Program {
  return swiftProgram(startTimes.swiftServer, async (process, path) => {
    const { hashOf } = readSwiftConf(process);
    const app = pipelineOf(process, path).get(`${kind}-server`) ?? {};
    const storeOf = (policy: number) => new SwiftStore(process, app['devices'] ?? '/srv/node', kind, policy);
    serveHttp(process, { host: app['bind_ip'] ?? '0.0.0.0', port: Number(app['bind_port']) }, async (request) => {
      if (request.path === '/healthcheck') return plain(200, 'OK');
      const [, device = '', partition = '', ...names] = request.path.split('/').map(decodeURIComponent);
      const store = storeOf(kind === 'object' ? Number(headerOf(request, policyHeader) ?? 0) : 0);
      if (!store.has(device, isTrue(app['mount_check'] ?? 'true'))) return plain(507, `Drive ${device} is not mounted`);
      const own = names.slice(0, depth[kind]);
      const place = { device, partition: Number(partition), hash: hashOf(...own) };
      const before = store.read(place);
      if (request.method === 'REPLICATE') {
        return plain(200, before !== undefined && JSON.stringify(before) === request.body ? 'same' : 'differs');
      }
      if (['GET', 'HEAD'].includes(request.method)) {
        return before === undefined || before.deleted ? plain(404, '') : json(200, before);
      }
      try {
        if (names.length > own.length) {
          if (before === undefined) return plain(404, '');
          const rows = { [names.at(-1) ?? '']: rowOf(request) };
          store.merge(place, { ...before, timestamp: 0, rows });
          return plain(request.method === 'DELETE' ? 204 : 201, '');
        }
        if (request.method === 'DELETE' && (before === undefined || before.deleted)) return plain(404, '');
        store.merge(place, recordOf(request, own));
      } catch (error) {
        if (!(error instanceof SystemError)) throw error;
        return plain(507, error.message);
      }
      await enter(process, kind, request, own);
      return plain(request.method === 'DELETE' ? 204 : 201, '');
    });
    await terminated(process);
    return 0;
  });
}

const timestampOf = (request: HttpMessage): number => Number(headerOf(request, 'x-timestamp') ?? 0);

function rowOf(request: HttpMessage): SwiftRow {
  const bytes = Number(headerOf(request, 'x-size') ?? 0);
  return { timestamp: timestampOf(request), deleted: request.method === 'DELETE', bytes };
}

function recordOf(request: HttpMessage, names: readonly string[]): SwiftRecord {
  const kept = Object.entries(request.headers).filter(([name]) =>
    /^(?:content-type|x-.*-meta-.*|x-backend-storage-policy-index)$/iu.test(name),
  );
  const deleted = request.method === 'DELETE';
  const body = deleted ? '' : request.body;
  return { names, timestamp: timestampOf(request), deleted, headers: Object.fromEntries(kept), body, rows: {} };
}

/** Tells the server of the listing above; one that does not answer is told later by the updater, which no model needs. */
async function enter(process: Process, kind: RingName, request: HttpMessage, names: readonly string[]): Promise<void> {
  const above = listedIn[kind];
  const host = above && headerOf(request, `x-${above}-host`);
  if (above === undefined || host === undefined) return;
  const [ip = '', port] = host.split(/:(?=\d+$)/u);
  const headers = { 'x-timestamp': String(timestampOf(request)), 'x-size': String(request.body.length) };
  const path = [headerOf(request, `x-${above}-device`), headerOf(request, `x-${above}-partition`), ...names];
  const target = { ip, port: Number(port) };
  const sent = await backendCall(process, target, request.method, path.map(String), { headers });
  if (sent === undefined)
    said(process, `${kind}-server`, `${above} update failed with ${host} (saving for async update later)`);
}
