import { createHmac } from 'node:crypto';
import type { HttpMessage, HttpReply, Process } from '@openstack-operator/sandbox';
import { type Row, type Schema, tableOf } from '../infrastructure/mysql-protocol.ts';
import type { Identity } from '../oslo/auth-token.ts';
import { Cache } from '../oslo/cache.ts';
import { loadConfig } from '../oslo/config.ts';
import { Database } from '../oslo/database.ts';
import { Messaging } from '../oslo/messaging.ts';
import { PythonError } from '../oslo/python-error.ts';
import { pause } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { headerOf, json, locationOf, plain } from './http.ts';
import { aggregates } from './nova-aggregates.ts';
import { apiDatabase, cell0, cellMapping, cellRows } from './nova-cells.ts';
import { remoteConsole } from './nova-consoles.ts';
import { createServer, externalEvents, findInstance, shownServer } from './nova-instances.ts';
import { localObjects } from './nova-objects.ts';
import { deleteServer, listServers } from './nova-server-list.ts';
import { checkComputeVersions, hostOf, isUp, type NovaContext, registerService } from './nova-service.ts';
import type { WsgiModule } from './uwsgi.ts';
import { type ApiContext, apiContext, apiHandler, forbiddenReply, notFoundReply } from './wsgi-service.ts';

/** `nova.wsgi.osapi_compute:application`: registers itself in its database before it answers; ready after about 8 s. */
export const novaOsapi: WsgiModule = async (process) => {
  const context = await openService(process, 'osapi_compute');
  return apiHandler(context, {
    open: (_request, path) => {
      if (path === '/' || path === '') return json(200, { versions: [version('v2.0'), version('v2.1')] });
      return ['/v2', '/v2.1'].includes(path) ? json(200, { version: version(path.slice(1)) }) : undefined;
    },
    routes: (request, path, identity) => route(context, request, path, identity),
  });
};

/** `nova.wsgi.metadata:application`: answers agents that sign for their guests with the shared secret. */
export const novaMetadata: WsgiModule = async (process) => {
  const context = await openService(process, 'metadata');
  void new Cache(process, context.config);
  return (request) => metadata(context, request);
};

interface NovaApiContext extends ApiContext {
  readonly messaging: Messaging;
}

/** nova.api.openstack.wsgi_app: files, logging, broker, the service's row; the paste file comes last. */
async function openService(process: Process, name: string): Promise<NovaApiContext> {
  const { env } = process;
  const directory = (env['OS_NOVA_CONFIG_DIR'] ?? '/etc/nova').trim();
  const named = (env['OS_NOVA_CONFIG_FILES'] ?? '').split(';').filter((file) => file !== '');
  const files = (named.length > 0 ? named : ['api-paste.ini', 'nova.conf']).map((file) => `${directory}/${file}`);
  const config = loadConfig(process, { project: 'nova', programs: ['uwsgi'], files });
  const context = apiContext(process, config, `nova-${name}`);
  await pause(process, startTimes.novaApi.imports);
  // The transport is opened on first use; a URL that cannot be parsed ends the import.
  const messaging = new Messaging(context);
  const objects = localObjects({ ...context, database: new Database(context) });
  await checkComputeVersions(context, objects);
  const identity = { host: hostOf(context), binary: `nova-${name}`, topic: null };
  const found = await objects.run<Row | undefined>('service_get', identity);
  await registerService(context, objects, identity, found);
  await pause(process, startTimes.novaApi.application);
  config.text('api', 'auth_strategy');
  return { ...context, messaging };
}

function version(id: string): Row {
  return {
    id,
    status: id === 'v2.1' ? 'CURRENT' : 'SUPPORTED',
    version: id === 'v2.1' ? '2.100' : '',
    min_version: '',
  };
}

async function route(
  context: NovaApiContext,
  request: HttpMessage,
  path: string,
  identity: Identity,
): Promise<HttpReply> {
  const [, prefix = '', kind = '', id, part] = path.split('/');
  if (prefix !== 'v2.1' && prefix !== 'v2') return notFoundReply();
  const isAdmin = identity.roles.includes('admin');
  switch (kind) {
    case 'os-services':
      return isAdmin ? services(context, request, id) : forbiddenReply('os_compute_api:os-services:list');
    case 'os-hypervisors':
      return isAdmin ? hypervisors(context) : forbiddenReply('os_compute_api:os-hypervisors:list');
    case 'servers': {
      if (request.method === 'POST' && part === 'remote-consoles') return remoteConsole(context, id ?? '');
      if (request.method === 'POST') return createServer(context, context.messaging, request, identity);
      if (id === undefined || id === 'detail') return listServers(context, request, identity);
      if (request.method === 'DELETE') return deleteServer(context, id);
      const found = await findInstance(context, id);
      return found === undefined ? notFoundReply() : json(200, { server: shownServer(found.row) });
    }
    case 'os-server-external-events':
      return isAdmin || identity.roles.includes('service')
        ? externalEvents(context, request)
        : forbiddenReply('os_compute_api:os-server-external-events:create');
    case 'flavors':
      return withApiDatabase(context, (schema) => {
        const flavors = tableOf(schema, 'flavors');
        if (request.method === 'DELETE') return flavors.delete(id ?? '') ? { status: 202 } : notFoundReply();
        if (request.method !== 'POST') return json(200, { flavors: [...flavors.values()] });
        const { flavor = {} } = JSON.parse(request.body || '{}') as { flavor?: Row & { id?: string } };
        const row = { ...flavor, id: flavor.id ?? String(flavors.size + 1) };
        flavors.set(row.id, row);
        return json(200, { flavor: row });
      });
    case 'os-aggregates':
      return isAdmin
        ? aggregates(context, request, id, (run) => withApiDatabase(context, run))
        : forbiddenReply('os_compute_api:os-aggregates:index');
    default:
      return notFoundReply();
  }
}

async function withApiDatabase<T>(context: NovaContext, run: (schema: Schema) => T): Promise<T> {
  const database = apiDatabase(context);
  try {
    return await database.transaction('INSERT', run);
  } finally {
    database.close();
  }
}

/** Rows of all cells; a cell that does not answer is left out, with words in the log. */
async function inCells(context: NovaContext, read: (schema: Schema) => Row[]): Promise<Row[]> {
  const { config, log } = context;
  const found: Row[] = [];
  for (const row of await withApiDatabase(context, cellRows)) {
    const cell = cellMapping(row, config, log);
    const database = new Database({ ...context, url: cell.databaseConnection });
    try {
      found.push(...(await database.transaction('SELECT', read)).map((entry) => ({ ...entry, cell: cell.uuid })));
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      log.error('nova.context', `Error gathering result from cell ${cell.uuid}: ${error.lastLine}`);
    } finally {
      database.close();
    }
  }
  return found;
}

async function services(context: ApiContext, request: HttpMessage, id: string | undefined): Promise<HttpReply> {
  const { config } = context;
  const { query } = locationOf(request);
  const rows = await inCells(context, (schema) => [...tableOf(schema, 'services').values()]);
  const shown = rows
    // The API's own services have no topic and are not listed.
    .filter((row) => row['topic'] !== null)
    .filter((row) => ['host', 'binary'].every((name) => !query.has(name) || query.get(name) === row[name]))
    .map((row) => ({
      id: row['uuid'],
      binary: row['binary'],
      host: row['host'],
      zone: row['binary'] === 'nova-compute' ? 'nova' : 'internal',
      status: row['disabled'] === true ? 'disabled' : 'enabled',
      disabled_reason: row['disabled_reason'] ?? null,
      state: isUp(context, row) ? 'up' : 'down',
      updated_at: row['last_seen_up'] ?? null,
    }));
  if (request.method !== 'PUT') return json(200, { services: shown });
  const service = shown.find((one) => one.id === id);
  if (service === undefined) return notFoundReply();
  const { status, disabled_reason: reason = null } = JSON.parse(request.body || '{}') as Row;
  const cell = rows.find((row) => row['uuid'] === id)?.['cell'];
  const mapping = (await withApiDatabase(context, cellRows)).find((row) => row['uuid'] === cell);
  if (mapping === undefined) return notFoundReply();
  const database = new Database({ ...context, url: cellMapping(mapping, config, context.log).databaseConnection });
  await database.transaction('UPDATE', (schema) => {
    const row = [...tableOf(schema, 'services').values()].find((one) => one['uuid'] === id);
    Object.assign(row ?? {}, { disabled: status === 'disabled', disabled_reason: reason });
  });
  database.close();
  return json(200, { service: { ...service, status, disabled_reason: reason } });
}

/** Compute nodes of hosts that are mapped to a cell. */
async function hypervisors(context: ApiContext): Promise<HttpReply> {
  const mapped = await withApiDatabase(context, (schema) => new Set(tableOf(schema, 'host_mappings').keys()));
  const nodes = await inCells(context, (schema) => [...tableOf(schema, 'compute_nodes').values()]);
  const shown = nodes
    .filter((row) => row['cell'] !== cell0 && mapped.has(String(row['host'])))
    .map((row) => ({
      id: row['uuid'],
      hypervisor_hostname: row['hypervisor_hostname'],
      state: 'up',
      status: 'enabled',
    }));
  return json(200, { hypervisors: shown });
}

async function metadata(context: ApiContext, request: HttpMessage): Promise<HttpReply> {
  const { config, log } = context;
  const { path } = locationOf(request);
  if (path === '/' || path === '') return plain(200, ['1.0', '2009-04-04', 'latest'].join('\n'));
  if (!config.boolean('neutron', 'service_metadata_proxy')) return plain(404, 'Not Found');
  const names = ['X-Instance-ID', 'X-Instance-ID-Signature', 'X-Tenant-ID'];
  const missing = names.find((name) => headerOf(request, name) === undefined);
  if (missing !== undefined) return plain(400, `${missing} header is missing from request.`);
  const instance = headerOf(request, 'X-Instance-ID') ?? '';
  const signature = headerOf(request, 'X-Instance-ID-Signature') ?? '';
  const expected = createHmac('sha256', config.text('neutron', 'metadata_proxy_shared_secret'))
    .update(instance)
    .digest('hex');
  if (signature !== expected) {
    log.warning(
      'nova.api.metadata.handler',
      `X-Instance-ID-Signature: ${signature} does not match the expected value: ${expected} for id: ${instance}. Request From: ${headerOf(request, 'X-Forwarded-For') ?? 'None'}`,
    );
    return plain(403, 'Invalid proxy request signature.');
  }
  const found = await findInstance(context, instance);
  return found === undefined
    ? plain(404, 'Not Found')
    : plain(200, `instance-id: ${instance}\nhostname: ${String(found.row['display_name'])}`);
}
