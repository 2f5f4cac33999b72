import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../../http.ts';
import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { isZone } from './nova-aggregates.ts';
import type { BuildRequest } from './nova-build.ts';
import { type CellMapping, cellsOf, inApi, inCell } from './nova-cells.ts';
import { type AskedDisk, reserveDisks } from './nova-reservations.ts';
import { callAsUser, type RequestContext, userOf } from './user-client.ts';

/** `POST /servers`: checks what it refers to, writes the request down, tells the super-conductor. */
export async function createServer(
  context: ServiceContext,
  messaging: Messaging,
  { body, identity }: Call,
): Promise<HttpReply> {
  const { server = {} } = body as {
    server?: {
      name?: string;
      imageRef?: string;
      flavorRef?: string;
      networks?: readonly { uuid: string }[] | 'none';
      availability_zone?: string;
      block_device_mapping_v2?: readonly AskedDisk[];
    };
  };
  const { 'os:scheduler_hints': hints = {} } = body as { 'os:scheduler_hints'?: { reservation?: string } };
  const { name = 'server', imageRef, flavorRef = '', networks = 'none', block_device_mapping_v2: mapping } = server;
  const { availability_zone: zone } = server;
  const user = userOf(identity);
  const absent = (what: string): Fault => new Fault(400, `${what} could not be found.`);
  const flavor = await inApi(context, 'SELECT', (schema) => tableOf(schema, 'flavors').get(flavorRef));
  if (flavor === undefined) throw absent(`Flavor ${flavorRef}`);
  if (imageRef !== undefined && !(await exists(context, user, 'glance', 'image', `/v2/images/${imageRef}`)))
    throw absent(`Image ${imageRef}`);
  if (zone !== undefined && !(await isZone(context, zone)))
    throw new Fault(400, 'The requested availability zone is not available');
  const wanted = networks === 'none' ? [] : networks.map(({ uuid }) => uuid);
  for (const network of wanted) {
    if (!(await exists(context, user, 'neutron', 'network', `/v2.0/networks/${network}`)))
      throw absent(`Network ${network}`);
  }
  const id = uuid(context.process.random);
  const disks = await reserveDisks(context, user, id, mapping);
  const asked = { name, image: imageRef, networks: wanted, user, disks, reservation: hints.reservation, zone };
  const build: BuildRequest = { uuid: id, ...asked };
  await inApi(context, 'INSERT', (schema) => {
    tableOf(schema, 'build_requests').set(build.uuid, { uuid: build.uuid, name, project_id: user.project, disks });
    tableOf(schema, 'instance_mappings').set(build.uuid, { instance_uuid: build.uuid, cell: null });
  });
  messaging.cast('conductor', 'schedule_and_build_instances', build);
  return json(202, { server: { id: build.uuid, links: [] } });
}

async function exists(
  context: ServiceContext,
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

/** An instance that must be there. @throws Fault */
export async function demandInstance(context: ServiceContext, id: string): Promise<Found> {
  const found = await findInstance(context, id);
  if (found === undefined) throw new Fault(404, `Instance ${id} could not be found.`);
  return found;
}

/** Where an instance is: its cell and row; the row alone before it has a cell. */
interface Found {
  readonly cell?: CellMapping;
  readonly row: Row;
}

/** An instance, if there is one. */
export async function findInstance(context: ServiceContext, id: string): Promise<Found | undefined> {
  const [mapping, build] = await inApi(context, 'SELECT', (schema) => [
    tableOf(schema, 'instance_mappings').get(id),
    tableOf(schema, 'build_requests').get(id),
  ]);
  const cell = (await cellsOf(context)).find(({ uuid }) => uuid === mapping?.['cell']);
  if (cell === undefined) return build === undefined ? undefined : { row: { ...build, vm_state: 'building' } };
  const row = await inCell(context, cell, 'SELECT', (schema) => tableOf(schema, 'instances').get(id));
  return row === undefined ? undefined : { cell, row: { ...row } };
}

/** A server with a host, in one of these states, that nothing is done with. @throws Fault */
export async function idleServer(context: ServiceContext, id: string, action: string, states: readonly string[]) {
  const { cell, row } = await demandInstance(context, id);
  const conflict = (what: string): Fault =>
    new Fault(409, `Cannot '${action}' instance ${id} while it is in ${what} ${String(row[what])}`);
  if (cell === undefined || !states.includes(String(row['vm_state']))) throw conflict('vm_state');
  if (typeof row['task_state'] === 'string') throw conflict('task_state');
  return { cell, row };
}

/** What is being done with a server; null: nothing. */
export function saveTask(context: ServiceContext, cell: CellMapping, id: string, task: string | null): Promise<void> {
  return inCell(context, cell, 'UPDATE', (schema) => {
    Object.assign(tableOf(schema, 'instances').get(id) ?? {}, { task_state: task });
  });
}

/** What states are called where that is another word (nova.api.openstack.common). */
const statuses: Readonly<Record<string, string>> = { building: 'BUILD', stopped: 'SHUTOFF', resized: 'VERIFY_RESIZE' };

/** What a server is shown as while a task goes on. */
function statusOf(state: string, task: string): string {
  if (task === 'migrating') return 'MIGRATING';
  return task.startsWith('resize_') ? 'RESIZE' : (statuses[state] ?? state.toUpperCase());
}

/** A server as the API shows it. */
export function shownServer(row: Row): Row {
  const { uuid, display_name: name, vm_state: state, task_state: task = null, host, fault } = row;
  return {
    id: uuid,
    name,
    status: statusOf(String(state), String(task)),
    'OS-EXT-STS:task_state': task,
    'OS-EXT-SRV-ATTR:host': host ?? null,
    ...(fault !== undefined && { fault: { code: 500, message: fault } }),
  };
}

/** `POST /os-server-external-events`: Neutron tells that a port is plugged; the server's compute hears of it. */
export async function externalEvents(context: ServiceContext, { body }: Call): Promise<HttpReply> {
  const { events = [] } = body as {
    events?: readonly { name: string; server_uuid: string; tag: string }[];
  };
  let known = 0;
  for (const { server_uuid: id, tag } of events) {
    const found = await findInstance(context, id);
    if (found?.cell === undefined) continue;
    known += 1;
    new Messaging(context, found.cell.transportUrl).cast(
      `compute.${String(found.row['host'])}`,
      'external_instance_event',
      tag,
    );
  }
  if (known === 0) throw new Fault(404, 'No instances found for any event');
  return json(200, { events });
}
