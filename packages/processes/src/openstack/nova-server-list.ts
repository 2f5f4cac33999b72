import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { type Row, tableOf } from '../infrastructure/mysql-protocol.ts';
import type { Identity } from '../oslo/auth-token.ts';
import { Messaging } from '../oslo/messaging.ts';
import { PythonError } from '../oslo/python-error.ts';
import { headerOf, json, locationOf, plain, selfUrl } from './http.ts';
import { inCell } from './nova-build.ts';
import { apiDatabase, cellMapping, cellRows } from './nova-cells.ts';
import { findInstance, shownServer } from './nova-instances.ts';
import type { NovaContext } from './nova-service.ts';

/** `[api] max_limit` unless it is set. */
const mostPerPage = 1000;

/**
 * `GET /servers` and `/servers/detail`: those of the user's project, or of all for an admin who asks for `all_tenants`;
 * soft-deleted ones only where `soft_deleted` is asked for. Servers of cells that do not answer are left out; from
 * microversion 2.69 on they are listed by id and status UNKNOWN, unless there is a filter that the API database knows
 * nothing of. Pages end at `limit`, and say so in `servers_links` (nova.api.openstack.compute.servers).
 */
export async function listServers(context: NovaContext, request: HttpMessage, identity: Identity): Promise<HttpReply> {
  const { config, log } = context;
  const { query, path } = locationOf(request);
  const all = isTrue(query.get('all_tenants'));
  if (all && !identity.roles.includes('admin'))
    return json(403, {
      forbidden: {
        code: 403,
        message: "Policy doesn't allow os_compute_api:servers:index:get_all_tenants to be performed.",
      },
    });
  const softly = isTrue(query.get('soft_deleted'));
  const api = apiDatabase(context);
  const [cells, builds, mappings] = await api.transaction('SELECT', (schema) => [
    cellRows(schema),
    [...tableOf(schema, 'build_requests').values()],
    [...tableOf(schema, 'instance_mappings').values()],
  ]);
  api.close();
  const found: Row[] = builds.map((row) => ({ ...row, display_name: row['name'], vm_state: 'building' }));
  const down: Row[] = [];
  for (const stored of cells) {
    const cell = cellMapping(stored, config, log);
    try {
      found.push(...(await inCell(context, cell, (schema) => [...tableOf(schema, 'instances').values()])));
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      log.error('nova.context', `Error gathering result from cell ${cell.uuid}: ${error.lastLine}`);
      down.push(...mappings.filter((mapping) => mapping['cell'] === cell.uuid));
    }
  }
  const servers = found
    .filter((row) => all || row['project_id'] === identity.projectId)
    .filter((row) => softly || row['vm_state'] !== 'soft-delete')
    .map(shownServer);
  const limit = Math.min(Number(query.get('limit') ?? mostPerPage), mostPerPage);
  const marker = query.get('marker');
  const from = marker === null ? 0 : servers.findIndex(({ id }) => id === marker) + 1;
  if (marker !== null && from === 0) return badRequest(`marker [${marker}] not found`);
  const page = servers.slice(from, from + limit);
  const last = page.at(-1);
  const unknown =
    supports(request, 69) && !softly && page.length < limit
      ? down.map((mapping) => ({ id: mapping['instance_uuid'], status: 'UNKNOWN', links: [] }))
      : [];
  query.set('marker', String(last?.['id']));
  const more = { servers_links: [{ rel: 'next', href: `${selfUrl(request)}${path}?${query.toString()}` }] };
  return json(200, { servers: [...page, ...unknown], ...(page.length === limit && last !== undefined ? more : {}) });
}

/** `DELETE /servers/{id}`: the compute of its host ends the guest; without a host the record alone goes. */
export async function deleteServer(context: NovaContext, id: string): Promise<HttpReply> {
  const found = await findInstance(context, id);
  if (found === undefined)
    return json(404, { itemNotFound: { code: 404, message: `Instance ${id} could not be found.` } });
  const { cell, row } = found;
  if (cell === undefined) {
    const api = apiDatabase(context);
    await api.transaction('INSERT', (schema) => tableOf(schema, 'build_requests').delete(id));
    api.close();
  } else if (typeof row['host'] === 'string') {
    const messaging = new Messaging({ ...context, url: cell.transportUrl });
    // A cast: nobody waits for the end.
    void messaging.call(`compute.${row['host']}`, 'terminate_instance', id).catch((error: unknown) => {
      if (!(error instanceof PythonError)) throw error;
    });
  } else {
    await inCell(context, cell, (schema) => tableOf(schema, 'instances').delete(id), 'INSERT');
  }
  return plain(204, '');
}

const badRequest = (message: string): HttpReply => json(400, { badRequest: { code: 400, message } });

function isTrue(text: string | null): boolean {
  return ['1', 't', 'true', 'on', 'y', 'yes'].includes((text ?? '').toLowerCase());
}

/** Whether the request speaks a microversion 2.x of at least `minor`. */
function supports(request: HttpMessage, minor: number): boolean {
  const asked =
    headerOf(request, 'x-openstack-nova-api-version') ??
    /compute ([\d.]+)/.exec(headerOf(request, 'openstack-api-version') ?? '')?.[1];
  return Number(asked?.split('.')[1] ?? 1) >= minor;
}
