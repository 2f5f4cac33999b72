import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { type Row, tableOf } from '../infrastructure/mysql-protocol.ts';
import type { Identity } from '../oslo/auth-token.ts';
import { Messaging } from '../oslo/messaging.ts';
import { PythonError } from '../oslo/python-error.ts';
import { json } from './http.ts';
import { type BuildRequest, inCell, newInstance } from './nova-build.ts';
import { apiDatabase, type CellMapping, cellMapping, cellRows } from './nova-cells.ts';
import type { NovaContext } from './nova-service.ts';
import { callAsUser, type RequestContext } from './user-client.ts';

const badRequest = (message: string): HttpReply => json(400, { badRequest: { code: 400, message } });

/** `POST /servers`: checks what it refers to, writes the request down, tells the super-conductor. */
export async function createServer(
  context: NovaContext,
  messaging: Messaging,
  request: HttpMessage,
  identity: Identity,
): Promise<HttpReply> {
  const { server = {} } = JSON.parse(request.body || '{}') as {
    server?: { name?: string; imageRef?: string; flavorRef?: string; networks?: readonly { uuid: string }[] | 'none' };
  };
  const { name = 'server', imageRef, flavorRef = '', networks = 'none' } = server;
  const user: RequestContext = { token: identity.token, project: identity.projectId, catalog: identity.catalog };
  const api = apiDatabase(context);
  try {
    const flavor = await api.transaction('SELECT', (schema) => tableOf(schema, 'flavors').get(flavorRef));
    if (flavor === undefined) return badRequest(`Flavor ${flavorRef} could not be found.`);
    if (imageRef !== undefined && !(await exists(context, user, 'glance', 'image', `/v2/images/${imageRef}`)))
      return badRequest(`Image ${imageRef} could not be found.`);
    const wanted = networks === 'none' ? [] : networks.map(({ uuid }) => uuid);
    for (const network of wanted) {
      if (!(await exists(context, user, 'neutron', 'network', `/v2.0/networks/${network}`)))
        return badRequest(`Network ${network} could not be found.`);
    }
    const build: BuildRequest = { uuid: newInstance(context), name, image: imageRef, networks: wanted, user };
    await api.transaction('INSERT', (schema) => {
      tableOf(schema, 'build_requests').set(build.uuid, { uuid: build.uuid, name, project_id: user.project });
      tableOf(schema, 'instance_mappings').set(build.uuid, { instance_uuid: build.uuid, cell: null });
    });
    void messaging.call('conductor', 'schedule_and_build_instances', build).catch((error: unknown) => {
      if (!(error instanceof PythonError)) throw error;
    });
    return json(202, { server: { id: build.uuid, links: [] } });
  } finally {
    api.close();
  }
}

async function exists(
  context: NovaContext,
  user: RequestContext,
  group: string,
  service: string,
  path: string,
): Promise<boolean> {
  const reply = await callAsUser(context, user, { group, service, path });
  if (reply.status === 404) return false;
  if (reply.status >= 400)
    throw new PythonError('nova.exception.NovaException', `Unexpected answer of ${service}: ${reply.status}`);
  return true;
}

/** Where an instance is: its cell and row; the row alone before it has a cell. */
export async function findInstance(
  context: NovaContext,
  id: string,
): Promise<{ cell?: CellMapping; row: Row } | undefined> {
  const { config, log } = context;
  const api = apiDatabase(context);
  const [mapping, build, cells] = await api.transaction('SELECT', (schema) => [
    tableOf(schema, 'instance_mappings').get(id),
    tableOf(schema, 'build_requests').get(id),
    cellRows(schema),
  ]);
  api.close();
  const stored = cells.find((row) => row['uuid'] === mapping?.['cell']);
  if (stored === undefined) return build === undefined ? undefined : { row: { uuid: id, vm_state: 'building' } };
  const cell = cellMapping(stored, config, log);
  const row = await inCell(context, cell, (schema) => tableOf(schema, 'instances').get(id));
  return row === undefined ? undefined : { cell, row: { ...row } };
}

/** A server as the API shows it. */
export function shownServer({ uuid, display_name: name, vm_state: state, host, fault }: Row): Row {
  return {
    id: uuid,
    name,
    status: state === 'building' ? 'BUILD' : String(state).toUpperCase(),
    'OS-EXT-SRV-ATTR:host': host ?? null,
    ...(fault !== undefined && { fault: { code: 500, message: fault } }),
  };
}

/** `POST /os-server-external-events`: Neutron tells that a port is plugged; the server's compute hears of it. */
export async function externalEvents(context: NovaContext, request: HttpMessage): Promise<HttpReply> {
  const { events = [] } = JSON.parse(request.body || '{}') as {
    events?: readonly { name: string; server_uuid: string; tag: string }[];
  };
  let known = 0;
  for (const { server_uuid: id, tag } of events) {
    const found = await findInstance(context, id);
    if (found?.cell === undefined) continue;
    known += 1;
    const messaging = new Messaging({ ...context, url: found.cell.transportUrl });
    void messaging.call(`compute.${String(found.row['host'])}`, 'external_instance_event', tag).catch(() => undefined);
  }
  return known === 0
    ? json(404, { itemNotFound: { code: 404, message: 'No instances found for any event' } })
    : json(200, { events });
}
