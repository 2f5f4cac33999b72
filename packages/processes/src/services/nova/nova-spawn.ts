import { worded } from '../../attempt.ts';
import { LibvirtError } from '../../infrastructure/libvirt-protocol.ts';
import { ovsTable, requestTakeover, transact } from '../../infrastructure/ovsdb.ts';
import { endpointFilter, httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { openIdl } from '../../oslo/ovsdbapp.ts';
import { osError, PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { makeDirectories, pause } from '../../program-support.ts';
import { type BuildRequest, isRoot } from './nova-build.ts';
import { type DiskTools, disksOf, freeVolumes, sourcesOf, takeDisks } from './nova-disks.ts';
import { hostOf } from './nova-service.ts';
import { callAsUser } from './user-client.ts';

/** What building a server takes on a compute. */
export interface SpawnTools extends DiskTools {
  /** Resolves when Neutron has told that a port is plugged. */
  readonly plugged: (port: string) => Promise<void>;
}

/** Builds a server: ports, image, interfaces, guest; ends in ACTIVE, or in ERROR with what went wrong. */
export async function spawn(context: ServiceContext, tools: SpawnTools, request: BuildRequest): Promise<void> {
  const { log } = context;
  const save = (values: Record<string, unknown>): Promise<unknown> =>
    tools.objects.run('instance_save', { uuid: request.uuid, ...values });
  try {
    const ports = [];
    for (const network of request.networks) ports.push(await createPort(context, request, network));
    await takeDisks(context, tools, request);
    await fetchImage(context, request);
    for (const port of ports) await plug(context, request.uuid, port);
    await createGuest(context, tools, request);
    for (const port of ports) await waitForPlug(context, tools, port);
    await save({ vm_state: 'active', fault: undefined });
    log.info('nova.virt.libvirt.driver', `[instance: ${request.uuid}] Instance spawned successfully.`);
  } catch (error) {
    const failure =
      error instanceof LibvirtError ? new PythonError('libvirt.libvirtError', error.message) : (error as PythonError);
    if (!(failure instanceof PythonError)) throw error;
    log.exception('nova.compute.manager', `[instance: ${request.uuid}] Instance failed to spawn`, failure);
    await freeVolumes(context, request.user, await disksOf(tools.objects, request.uuid));
    await save({ vm_state: 'error', fault: failure.message });
  }
}

/** A port of Neutron's, made with Nova's own user and bound to this host. */
async function createPort(context: ServiceContext, request: BuildRequest, network: string): Promise<string> {
  const { process, config, log } = context;
  const session = new KeystoneSession(process, config, 'neutron');
  const base = await session.endpoint(endpointFilter(config, 'neutron', 'network'));
  const reply = await session.request('POST', `${base}/v2.0/ports`, {
    port: {
      network_id: network,
      device_id: request.uuid,
      device_owner: 'compute:nova',
      project_id: request.user.project,
      'binding:host_id': hostOf(context),
    },
  });
  if (reply.status >= 400) throw httpError(reply, '0');
  const { port } = JSON.parse(reply.body ?? '{}') as { port: { id: string; 'binding:vif_type': string } };
  if (port['binding:vif_type'] === 'binding_failed') {
    log.error('nova.compute.manager', `[instance: ${request.uuid}] Instance failed network setup after 1 attempt(s)`);
    throw new PythonError(
      'nova.exception.PortBindingFailed',
      `Binding failed for port ${port.id}, please check neutron logs for more information.`,
    );
  }
  return port.id;
}

async function fetchImage(context: ServiceContext, request: BuildRequest): Promise<void> {
  if (request.image === undefined) return;
  const reply = await callAsUser(context, request.user, {
    group: 'glance',
    service: 'image',
    path: `/v2/images/${request.image}`,
  });
  if (reply.status === 404)
    throw new PythonError('nova.exception.ImageNotFound', `Image ${request.image} could not be found.`);
  if (reply.status >= 400) throw httpError(reply, '0');
  await pause(context.process, 1500);
}

/** Where a guest's disk is. */
export function instanceDirectory({ config }: ServiceContext, instance: string): string {
  return `${config.text('DEFAULT', 'instances_path', '$state_path/instances')}/${instance}`;
}

/** The guest's directory with its disk, unless Cinder has that. */
export function makeInstanceDirectory(context: ServiceContext, instance: string, disk?: string): void {
  const { process } = context;
  const directory = instanceDirectory(context, instance);
  worded(
    () => {
      makeDirectories(process, directory);
      if (disk !== undefined) process.files.write(`${directory}/disk`, disk);
    },
    (error) => osError(error, directory),
  );
}

/** The guest's directory with its disk, and the domain. */
async function createGuest(context: ServiceContext, tools: DiskTools, request: BuildRequest): Promise<void> {
  makeInstanceDirectory(context, request.uuid, request.disks.some(isRoot) ? undefined : (request.image ?? ''));
  await startDomain(context, tools, request);
}

/** A guest by the disks that are there. @throws LibvirtError */
export async function startDomain(
  context: ServiceContext,
  { objects, hypervisor }: DiskTools,
  { uuid, name }: Pick<BuildRequest, 'uuid' | 'name'>,
): Promise<void> {
  const { config } = context;
  const { types } = await hypervisor.facts();
  const { libvirt } = hypervisor;
  if (libvirt === undefined) return;
  const directory = instanceDirectory(context, uuid);
  const type = config.text('libvirt', 'virt_type');
  if (!types.includes(type))
    throw new LibvirtError(
      `invalid argument: could not get preferred machine for /usr/bin/qemu-system-x86_64 type=${type}`,
    );
  await libvirt.create({
    uuid,
    name,
    ...(context.process.files.exists(`${directory}/disk`) && { disk: `${directory}/disk` }),
    volumes: await sourcesOf(objects, uuid),
    console: `${directory}/console.log`,
    vncListen: config.boolean('vnc', 'enabled') ? config.text('vnc', 'server_listen') : undefined,
  });
}

/** os-vif: adds the tap to the integration bridge in the local Open vSwitch. */
export async function plug(context: ServiceContext, instance: string, port: string): Promise<void> {
  const { config } = context;
  const bridge = config.text('neutron', 'ovs_bridge');
  try {
    const tap = tapOf(port);
    await changeSwitch(context, (database) => {
      ovsTable(database, 'Interface').set(tap, {
        name: tap,
        external_ids: { 'iface-id': port, 'iface-status': 'active', 'vm-uuid': instance },
      });
      ovsTable(database, 'Port').set(tap, { name: tap, bridge });
      requestTakeover(database);
    });
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    throw new PythonError(
      'nova.exception.InternalError',
      `Failure running os_vif plugin plug method: Failed to plug VIF VIFOpenVSwitch(id=${port}). Got error: ${error.message}`,
    );
  }
}

/** The guest's interface is gone from the integration bridge, as libvirt has it when a guest has left. */
export async function unplug(context: ServiceContext, port: string): Promise<void> {
  await changeSwitch(context, (database) => {
    for (const table of ['Interface', 'Port']) ovsTable(database, table).delete(tapOf(port));
    requestTakeover(database);
  });
}

const tapOf = (port: string): string => `tap${port.slice(0, 11)}`;

async function changeSwitch(context: ServiceContext, change: Parameters<typeof transact>[2]): Promise<void> {
  const connection = await openIdl(context, context.config.text('os_vif_ovs', 'ovsdb_connection'), 'Open_vSwitch');
  await transact(connection, 'Open_vSwitch', change);
  connection.close();
}

async function waitForPlug({ process, config, log }: ServiceContext, tools: SpawnTools, port: string): Promise<void> {
  const timeout = config.integer('DEFAULT', 'vif_plugging_timeout');
  if (timeout === 0) return;
  const late = pause(process, timeout * 1000).then(() => 'late' as const);
  if ((await Promise.race([tools.plugged(port), late])) !== 'late') return;
  log.warning('nova.virt.libvirt.driver', `Timeout waiting for [('network-vif-plugged', '${port}')] for instance`);
  if (config.boolean('DEFAULT', 'vif_plugging_is_fatal'))
    throw new PythonError('nova.exception.VirtualInterfaceCreateException', 'Virtual Interface creation failed');
}
