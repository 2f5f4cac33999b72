import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { headerOf, json, locationOf, plain, selfUrl } from '../../http.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { commonWords, Fault } from '../../model/fault.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging } from '../../oslo/messaging.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { type CellMapping, gather, inApi, inCell, novaDatabase } from './nova-cells.ts';
import { freeVolumes } from './nova-disks.ts';
import { demandInstance, saveTask, shownServer } from './nova-instances.ts';
import { localObjects } from './nova-objects.ts';
import { isUp } from './nova-service.ts';
import { userOf } from './user-client.ts';

/** `[api] max_limit` unless it is set. */
const mostPerPage = 1000;

/**
 * `GET /servers` and `/servers/detail`: those of the user's project, or of all for an admin who asks for `all_tenants`;
 * soft-deleted ones only where `soft_deleted` is asked for. Servers of cells that do not answer are left out; from
 * microversion 2.69 on they are listed by id and status UNKNOWN, unless there is a filter that the API database knows
 * nothing of. Pages end at `limit`, and say so in `servers_links` (nova.api.openstack.compute.servers).
 */
export async function listServers(context: ServiceContext, { request, identity }: Call): Promise<HttpReply> {
  const { query, path } = locationOf(request);
  const all = isTrue(query.get('all_tenants'));
  if (all && !identity.roles.includes('admin'))
    throw new Fault(403, commonWords.forbidden('os_compute_api:servers:index:get_all_tenants'));
  const softly = isTrue(query.get('soft_deleted'));
  // Of others than administrators the filter is taken off.
  const host = identity.roles.includes('admin') ? query.get('host') : null;
  const [builds, mappings] = await inApi(context, 'SELECT', (schema) => [
    rowsOf(schema, 'build_requests'),
    rowsOf(schema, 'instance_mappings'),
  ]);
  const building: Row[] = builds.map((row) => ({ ...row, display_name: row['name'], vm_state: 'building' }));
  const down: Row[] = [];
  const built = await gather(
    context,
    (schema) => rowsOf(schema, 'instances'),
    ({ uuid }) => down.push(...mappings.filter(({ cell }) => cell === uuid)),
  );
  const servers = [...building, ...built]
    .filter((row) => all || row['project_id'] === identity.projectId)
    .filter((row) => softly || row['vm_state'] !== 'soft-delete')
    .filter((row) => host === null || row['host'] === host)
    .map(shownServer);
  const limit = Math.min(Number(query.get('limit') ?? mostPerPage), mostPerPage);
  const marker = query.get('marker');
  const from = marker === null ? 0 : servers.findIndex(({ id }) => id === marker) + 1;
  if (marker !== null && from === 0) throw new Fault(400, `marker [${marker}] not found`);
  const page = servers.slice(from, from + limit);
  const last = page.at(-1);
  const unknown =
    // Whoever asks for pages is told of no cell that is down (_is_cell_down_supported).
    supports(request, 69) && !softly && host === null && !query.has('limit') && marker === null && page.length < limit
      ? down.map((mapping) => ({ id: mapping['instance_uuid'], status: 'UNKNOWN', links: [] }))
      : [];
  query.set('marker', String(last?.['id']));
  const more = { servers_links: [{ rel: 'next', href: `${selfUrl(request)}${path}?${query.toString()}` }] };
  return json(200, { servers: [...page, ...unknown], ...(page.length === limit && last !== undefined ? more : {}) });
}

/**
 * `DELETE /servers/{id}`: the compute of its host ends the guest; without a host, or where that is down, the record alone goes
 * (nova.compute.api.API._local_delete).
 */
export async function deleteServer(context: ServiceContext, { identity, id = '' }: Call): Promise<HttpReply> {
  const { cell, row } = await demandInstance(context, id);
  const user = userOf(identity);
  if (cell === undefined) {
    await inApi(context, 'INSERT', (schema) => tableOf(schema, 'build_requests').delete(id));
    await freeVolumes(context, user, (row['disks'] ?? []) as readonly Row[]);
  } else if (await isServed(context, cell, row)) {
    await saveTask(context, cell, id, 'deleting');
    const parameters = { uuid: id, user };
    new Messaging(context, cell.transportUrl).cast(`compute.${String(row['host'])}`, 'terminate_instance', parameters);
  } else {
    const objects = localObjects({
      ...context,
      database: new Database(context, novaDatabase, cell.databaseConnection),
    });
    await freeVolumes(context, user, await objects.run<Row[]>('bdm_get', { instance_uuid: id }));
    await objects.run('instance_destroy', { uuid: id });
  }
  return plain(204, '');
}

/** Whether the nova-compute of a server's host has reported lately. */
export function isServed(context: ServiceContext, cell: CellMapping, { host }: Row): Promise<boolean> {
  return inCell(context, cell, 'SELECT', (schema) => {
    const service = tableOf(schema, 'services').get(`${String(host)}/nova-compute`);
    return service !== undefined && isUp(context, service);
  });
}

function isTrue(text: string | null): boolean {
  return ['1', 't', 'true', 'on', 'y', 'yes'].includes((text ?? '').toLowerCase());
}

/** Whether the request speaks a microversion 2.x of at least `minor`. */
export function supports(request: HttpMessage, minor: number): boolean {
  const asked =
    headerOf(request, 'x-openstack-nova-api-version') ??
    /compute ([\d.]+)/.exec(headerOf(request, 'openstack-api-version') ?? '')?.[1];
  return Number(asked?.split('.')[1] ?? 1) >= minor;
}
