import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { json, plain } from '../../http.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, type Call } from '../../model/api.ts';
import { Fault, namedFault } from '../../model/fault.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging } from '../../oslo/messaging.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { actOnServer } from './nova-actions.ts';
import { actOnAggregate, aggregateRules, leaveAggregates, listZones, zonesOfHosts } from './nova-aggregates.ts';
import { cell0, cellsOf, gather, inApi, inCell, novaApiDatabase } from './nova-cells.ts';
import { remoteConsole } from './nova-consoles.ts';
import { createServer, demandInstance, externalEvents, shownServer } from './nova-instances.ts';
import { localObjects } from './nova-objects.ts';
import { deleteServer, listServers, supports } from './nova-server-list.ts';
import { checkComputeVersions, hostOf, isUp, registerService } from './nova-service.ts';
import { volumeAttachments } from './nova-volumes.ts';
import { PlacementClient } from './placement-client.ts';

/** nova.api.openstack.wsgi_app: an API writes down its own service before it answers. @throws PythonError */
export async function registerApi(context: ServiceContext, name: string): Promise<void> {
  const objects = localObjects({ ...context, database: new Database(context) });
  await checkComputeVersions(context, objects);
  const identity = { host: hostOf(context), binary: `nova-${name}`, topic: null };
  const found = await objects.run<Row | undefined>('service_get', identity);
  await registerService(context, objects, identity, found);
  await pause(context.process, startTimes.novaApi.application);
  context.config.text('api', 'auth_strategy');
}

/** `nova.wsgi.osapi_compute:application`. */
export async function serveCompute(context: ServiceContext): Promise<WsgiHandler> {
  const messaging = new Messaging(context);
  await registerApi(context, 'osapi_compute');
  const [old, current] = [version('v2.0', 'SUPPORTED', ''), version('v2.1', 'CURRENT', '2.100')];
  return apiHandler(context, {
    prefix: ['v2.1', 'v2'],
    open: {
      '/': json(200, { versions: [old, current] }),
      '/v2': json(200, { version: { ...old, id: 'v2' } }),
      '/v2.1': json(200, { version: current }),
    },
    words: { body: namedFault, conflict: (_item, { name }) => `Aggregate ${String(name)} already exists.` },
    database: novaApiDatabase,
    collections: [
      {
        path: 'flavors',
        item: 'flavor',
        created: 200,
        removed: 202,
        detail: true,
        identify: (_use, rows) => String(rows.size + 1),
      },
      {
        path: 'os-aggregates',
        item: 'aggregate',
        created: 200,
        defaults: { hosts: [], metadata: {} },
        identify: (_use, rows) => Math.max(0, ...[...rows.keys()].map(Number)) + 1,
        unique: [['name']],
        saving: (row, { random }) => void (row['uuid'] ??= uuid(random)),
        ...aggregateRules,
      },
    ],
    policies: {
      'os-services': { roles: ['admin'], rule: 'os_compute_api:os-services:list' },
      'os-hypervisors': { roles: ['admin'], rule: 'os_compute_api:os-hypervisors:list' },
      'os-migrations': { roles: ['admin'], rule: 'os_compute_api:os-migrations:index' },
      'os-server-external-events': {
        roles: ['admin', 'service'],
        rule: 'os_compute_api:os-server-external-events:create',
      },
      'os-aggregates': { roles: ['admin'], rule: 'os_compute_api:os-aggregates:index' },
    },
    routes: {
      servers: (call) => servers(context, messaging, call),
      'os-services': (call) => services(context, call),
      'os-hypervisors': () => hypervisors(context),
      'os-migrations': ({ query }) => migrations(context, query.get('host')),
      'os-server-external-events': (call) => externalEvents(context, call),
      'os-availability-zone': () => listZones(context),
      'os-aggregates': (call) => (call.part === 'action' ? actOnAggregate(context, call) : undefined),
    },
  });
}

function version(id: string, status: string, newest: string): Row {
  return { id, status, version: newest, min_version: '' };
}

async function servers(context: ServiceContext, messaging: Messaging, call: Call): Promise<HttpReply> {
  const { request, id, part } = call;
  if (request.method === 'POST') {
    if (part === 'os-volume_attachments') return volumeAttachments(context, call);
    if (part === 'remote-consoles') return remoteConsole(context, id ?? '');
    return part === 'action' ? actOnServer(context, messaging, call) : createServer(context, messaging, call);
  }
  if (id === undefined || id === 'detail') return listServers(context, call);
  if (part === 'os-volume_attachments') return volumeAttachments(context, call);
  if (request.method === 'DELETE') return deleteServer(context, call);
  return json(200, { server: shownServer((await demandInstance(context, id)).row) });
}

/** What becomes of a service by each path, before microversion 2.53. */
const statuses: Readonly<Record<string, string>> = {
  enable: 'enabled',
  disable: 'disabled',
  'disable-log-reason': 'disabled',
};

async function services(context: ServiceContext, { request, query, id, body }: Call): Promise<HttpReply> {
  const rows = await gather(context, (schema) => rowsOf(schema, 'services'));
  const zoneOf = await zonesOfHosts(context);
  const shown = rows
    // The API's own services have no topic and are not listed.
    .filter((row) => row['topic'] !== null)
    .filter((row) => ['host', 'binary'].every((name) => !query.has(name) || query.get(name) === row[name]))
    .map((row) => ({
      id: row['uuid'],
      binary: row['binary'],
      host: row['host'],
      zone: row['binary'] === 'nova-compute' ? zoneOf(String(row['host'])) : 'internal',
      status: row['disabled'] === true ? 'disabled' : 'enabled',
      disabled_reason: row['disabled_reason'] ?? null,
      state: isUp(context, row) ? 'up' : 'down',
      updated_at: row['last_seen_up'] ?? null,
    }));
  if (request.method === 'DELETE') return await deleteService(context, id, rows);
  if (request.method !== 'PUT') return json(200, { services: shown });
  // Before microversion 2.53 a service is found by its host, and the path says what becomes of it.
  const stated = supports(request, 53) ? undefined : statuses[id ?? ''];
  const isMeant = (one: Row): boolean =>
    stated === undefined ? one['id'] === id : one['host'] === body['host'] && one['binary'] === body['binary'];
  const service = shown.find(isMeant);
  const cell = rows.find((row) => row['uuid'] === service?.id)?.cell;
  const mapping = (await cellsOf(context)).find(({ uuid }) => uuid === cell);
  if (service === undefined || mapping === undefined)
    throw new Fault(
      404,
      stated === undefined
        ? `Service ${id} could not be found.`
        : `Could not find binary ${String(body['binary'])} on host ${String(body['host'])}.`,
    );
  const { status = stated, disabled_reason: reason = null } = body;
  await inCell(context, mapping, 'UPDATE', (schema) => {
    const row = rowsOf(schema, 'services').find((one) => one['uuid'] === service.id);
    Object.assign(row ?? {}, { disabled: status === 'disabled', disabled_reason: reason });
  });
  return json(200, { service: { ...service, status, disabled_reason: reason } });
}

/**
 * `DELETE /os-services/ID`: refused for a host that has servers; with a nova-compute go its compute node, its provider and its
 * mapping (nova.api.openstack.compute.services).
 */
async function deleteService(
  context: ServiceContext,
  id: string | undefined,
  rows: readonly (Row & { readonly cell: string })[],
): Promise<HttpReply> {
  const row = rows.find(({ uuid }) => uuid === id);
  const cell = (await cellsOf(context)).find(({ uuid }) => uuid === row?.cell);
  if (row === undefined || cell === undefined) throw new Fault(404, `Service ${id} could not be found.`);
  const host = String(row['host']);
  const gone = await inCell(context, cell, 'UPDATE', (schema) => {
    if (rowsOf(schema, 'instances', { host }).length > 0) return undefined;
    tableOf(schema, 'services').delete(`${host}/${String(row['binary'])}`);
    const nodes = rowsOf(schema, 'compute_nodes', { host }).map((node) => String(node['uuid']));
    for (const node of nodes) tableOf(schema, 'compute_nodes').delete(node);
    return nodes;
  });
  if (gone === undefined)
    throw new Fault(
      409,
      'Unable to delete compute service that is hosting instances. Migrate or delete the instances first.',
    );
  await leaveAggregates(context, host);
  const placement = new PlacementClient(context);
  for (const node of gone) await placement.remove(node);
  await inApi(context, 'UPDATE', (schema) => tableOf(schema, 'host_mappings').delete(host));
  return plain(204, '');
}

/** Servers that are on their way from a host, or to it, while they run; and all that were moved while they did not. */
async function migrations(context: ServiceContext, host: string | null): Promise<HttpReply> {
  const rows = await gather(context, (schema) => rowsOf(schema, 'instances', { task_state: 'migrating' }));
  const live = rows
    .filter((row) => row['migrating_to'] !== undefined)
    .map((row) => ({
      instance_uuid: row['uuid'],
      source_compute: row['host'],
      dest_compute: row['migrating_to'],
      status: 'running',
      migration_type: 'live-migration',
    }));
  const cold = await gather(context, (schema) => rowsOf(schema, 'migrations'));
  const shown = [...live, ...cold]
    .filter((one) => host === null || [one['source_compute'], one['dest_compute']].includes(host))
    .map(({ instance_uuid, source_compute, dest_compute, status, migration_type }) => ({
      instance_uuid,
      source_compute,
      dest_compute,
      status,
      migration_type,
    }));
  return json(200, { migrations: shown });
}

/** Compute nodes of hosts that are mapped to a cell. */
async function hypervisors(context: ServiceContext): Promise<HttpReply> {
  const mapped = await inApi(context, 'SELECT', (schema) => new Set(tableOf(schema, 'host_mappings').keys()));
  const nodes = await gather(context, (schema) => rowsOf(schema, 'compute_nodes'));
  const shown = nodes
    .filter((row) => row.cell !== cell0 && mapped.has(String(row['host'])))
    .map((row) => ({
      id: row['uuid'],
      hypervisor_hostname: row['hypervisor_hostname'],
      state: 'up',
      status: 'enabled',
    }));
  return json(200, { hypervisors: shown });
}
