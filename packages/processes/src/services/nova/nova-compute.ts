import { attempt } from '../../attempt.ts';
import { LibvirtError } from '../../infrastructure/libvirt-protocol.ts';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import type { CommandContext, ServiceProgram } from '../../model/program.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError, SystemExit } from '../../oslo/python-error.ts';
import { startTimes } from '../../start-times.ts';
import type { BuildRequest } from './nova-build.ts';
import { type ColdMove, finishResize, forgetDisk, prepResize, resizeInstance } from './nova-cold-migration.ts';
import { portOf, vncConsole } from './nova-consoles.ts';
import {
  attachVolume,
  type DiskMessage,
  detachVolume,
  disksOf,
  forgetDangling,
  freeVolumes,
  reserveName,
} from './nova-disks.ts';
import { Hypervisor, inventoryOf } from './nova-hypervisor.ts';
import { type MigrationTools, moveGuest, postLiveMigration, preLiveMigration } from './nova-live-migration.ts';
import { localNodeIdentity, readNodeIdentity } from './nova-node-identity.ts';
import { type NovaObjects, remoteObjects, serviceVersion } from './nova-objects.ts';
import { hostOf, runService, waitForConductor } from './nova-service.ts';
import { spawn, startDomain } from './nova-spawn.ts';
import { PlacementClient } from './placement-client.ts';
import { providerTraits } from './provider-config.ts';
import type { RequestContext } from './user-client.ts';

/**
 * `nova-compute`: has no database; waits for the conductor of its cell, connects to libvirt, keeps its identity in
 * `compute_id`, reports its inventory to Placement as its own user.
 */
export const novaCompute: ServiceProgram = {
  takes: startTimes.novaService,
  run: (context) => new Compute(context).run(),
};

/** What is done with disks of servers: casts. */
const disks = { attach_volume: attachVolume, detach_volume: detachVolume };

/** Which server goes, and by whom; by nobody where a deletion goes on. */
interface Deletion {
  readonly uuid: string;
  readonly user?: RequestContext;
}

/** What the hosts tell each other of a server that is copied: casts. */
const coldMigration = {
  prep_resize: prepResize,
  resize_instance: resizeInstance,
  finish_resize: finishResize,
  confirm_resize: forgetDisk,
};

class Compute {
  readonly #context: CommandContext;
  readonly #messaging: Messaging;
  readonly #objects: NovaObjects;
  readonly #host: string;
  readonly #hypervisor: Hypervisor;
  readonly #plugs = new Map<string, { word: Promise<void>; done: () => void }>();
  #uuid: string | undefined;
  #traits: readonly string[] = [];
  #placement: PlacementClient | undefined;

  constructor(context: CommandContext) {
    this.#context = context;
    this.#host = hostOf(context);
    this.#hypervisor = new Hypervisor(context);
    this.#messaging = new Messaging(context);
    this.#objects = remoteObjects(this.#messaging);
  }

  get #files(): readonly string[] {
    const given = this.#context.line.values('config-file');
    return given.length > 0 ? given : ['/etc/nova/nova.conf'];
  }

  async run(): Promise<number> {
    const { process, log } = this.#context;
    this.#traits = providerTraits(this.#context);
    await waitForConductor(this.#context, this.#objects);
    if (process.signal.aborted) return 0;
    await this.#loadManager();
    this.#warnOfApiDatabase();
    return runService(this.#context, {
      binary: 'nova-compute',
      topic: 'compute',
      objects: this.#objects,
      messaging: this.#messaging,
      handler: (method, parameters) => this.#dispatch(method, parameters),
      initHost: (row) => this.#initHost(row),
      preStart: (row) => this.#updateResources(row, true),
      periodic: {
        spacing: 60,
        run: async () => {
          const row = await this.#objects.run<Row | undefined>('service_get', {
            host: this.#host,
            binary: 'nova-compute',
          });
          if (row !== undefined) await this.#updateResources(row, false);
          log.debug('nova.compute.manager', 'update_available_resource');
        },
      },
    });
  }

  /** RPC methods. Whoever casts waits for no end, but this process does before it ends, unless a server is built or moved. */
  #dispatch(method: string, parameters: unknown): Promise<unknown> {
    const tools = { objects: this.#objects, hypervisor: this.#hypervisor };
    if (method === 'get_vnc_console') return vncConsole(this.#context, tools, parameters as string);
    if (method === 'validate_console_port') {
      const { instance, port } = parameters as { instance: string; port: number };
      return portOf(this.#hypervisor, instance).then((now) => now === port);
    }
    if (method === 'external_instance_event') this.#plug(parameters as string).done();
    else if (method === 'build_and_run_instance') {
      void spawn(this.#context, { ...tools, plugged: (port) => this.#plug(port).word }, parameters as BuildRequest);
    } else if (method === 'terminate_instance') {
      return this.#terminate(parameters as Deletion);
    } else if (method === 'reboot_instance') {
      return this.#reboot(parameters as DiskMessage);
    } else if (method === 'reserve_block_device_name') {
      return reserveName(this.#context, tools, parameters as Row);
    } else if (method in disks) {
      return disks[method as keyof typeof disks](this.#context, tools, parameters as DiskMessage);
    } else if (method === 'stop_instance') {
      return this.#stop(parameters as string);
    } else if (method === 'start_instance') {
      return this.#start(parameters as string);
    } else if (method === 'pre_live_migration') {
      return Promise.resolve(preLiveMigration(this.#context, parameters as Parameters<typeof preLiveMigration>[1]));
    } else if (method === 'post_live_migration_at_destination') {
      return postLiveMigration(this.#context, tools, parameters as Parameters<typeof postLiveMigration>[2]);
    } else if (method === 'live_migration') {
      void moveGuest(this.#context, this.#moving(), parameters as Parameters<typeof moveGuest>[2]);
    } else if (method in coldMigration) {
      const step = coldMigration[method as keyof typeof coldMigration];
      void step(this.#context, this.#moving(), parameters as ColdMove & { id: string });
    } else {
      throw new PythonError(
        'oslo_messaging.rpc.dispatcher.UnsupportedVersion',
        `Endpoint does not support RPC method ${method}`,
      );
    }
    return Promise.resolve(undefined);
  }

  #moving(): MigrationTools {
    const tools = { objects: this.#objects, hypervisor: this.#hypervisor };
    return { ...tools, messaging: this.#messaging, placement: this.#placement, provider: this.#identity() };
  }

  /** Ends the guest, gives its volumes free, then goes its record. A guest that is gone already is no mistake. */
  async #terminate({ uuid, user }: Deletion): Promise<void> {
    const { log } = this.#context;
    try {
      await this.#end(uuid);
      await freeVolumes(this.#context, user, await disksOf(this.#objects, uuid));
      await this.#objects.run('instance_destroy', { uuid });
      log.info('nova.virt.libvirt.driver', `[instance: ${uuid}] Instance destroyed successfully.`);
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      log.exception('nova.compute.manager', `[instance: ${uuid}] Setting instance vm_state to ERROR`, error);
      await this.#objects.run('instance_save', { uuid, vm_state: 'error', fault: error.message });
    }
  }

  async #end(uuid: string): Promise<void> {
    await this.#hypervisor.facts();
    const domains = (await this.#hypervisor.libvirt?.domains()) ?? [];
    if (domains.some((domain) => domain.uuid === uuid)) await this.#hypervisor.libvirt?.destroy(uuid);
  }

  /** Ends the guest and starts it anew, with what Nova and Cinder both say that it has. */
  async #reboot(message: DiskMessage): Promise<void> {
    await forgetDangling(this.#context, { objects: this.#objects, hypervisor: this.#hypervisor }, message);
    await this.#end(message.uuid);
    await this.#start(message.uuid);
  }

  /** What a process before this one has left undone: nobody goes on with a server that was being built (`_init_instance`). */
  async #resume(): Promise<void> {
    const { log } = this.#context;
    for (const row of await this.#objects.run<Row[]>('instance_get_by_host', { host: this.#host })) {
      const [uuid, task] = [String(row['uuid']), row['task_state']];
      if (row['vm_state'] === 'building')
        await this.#objects.run('instance_save', { uuid, vm_state: 'error', task_state: null });
      else if (task === 'deleting') {
        log.info(
          'nova.compute.manager',
          `[instance: ${uuid}] Service started deleting the instance during the previous run, but did not finish. Restarting the deletion now.`,
        );
        await this.#terminate({ uuid });
      } else if (task === 'powering-off') await this.#stop(uuid);
      else if (task === 'powering-on' || task === 'rebooting_hard') await this.#start(uuid);
    }
  }

  /** Ends the guest; its disk stays here. */
  async #stop(uuid: string): Promise<void> {
    await this.#end(uuid);
    await this.#objects.run('instance_save', { uuid, vm_state: 'stopped', task_state: null });
  }

  /** Starts the guest by the disk that is here; what does not start stays stopped. */
  async #start(uuid: string): Promise<void> {
    const started = await attempt(
      LibvirtError,
      () =>
        startDomain(this.#context, { objects: this.#objects, hypervisor: this.#hypervisor }, { uuid, name: uuid }).then(
          () => true,
        ),
      ({ message }) => {
        this.#context.log.error('nova.compute.manager', `[instance: ${uuid}] Cannot start: ${message}`);
        return false;
      },
    );
    await this.#objects.run('instance_save', { uuid, task_state: null, ...(started ? { vm_state: 'active' } : {}) });
  }

  /** Neutron's word that a port is plugged, which may come before it is waited for. */
  #plug(port: string): { word: Promise<void>; done: () => void } {
    const known = this.#plugs.get(port);
    if (known !== undefined) return known;
    const { promise, resolve } = Promise.withResolvers<void>();
    const made = { word: promise, done: resolve };
    this.#plugs.set(port, made);
    return made;
  }

  /** The manager's clients: Placement's is opened at once, and ends the service when Keystone refuses. */
  async #loadManager(): Promise<void> {
    const { config, log } = this.#context;
    this.#placement = new PlacementClient(this.#context);
    await this.#placement.open().catch((error: unknown) => {
      // A catalogue without Placement is only found out by the first request.
      if (!(error instanceof PythonError) || !error.type.endsWith('EndpointNotFound')) throw error;
    });
    demandNoVersionPin(this.#context);
    const driver = config.text('DEFAULT', 'compute_driver');
    const logger = 'nova.virt.driver';
    if (!driver) {
      log.error(logger, 'Compute driver option required, but not specified');
      throw new SystemExit(1);
    }
    log.info(logger, `Loading compute driver '${driver}'`);
    if (!['libvirt.LibvirtDriver', 'fake.FakeDriver', 'ironic.IronicDriver'].includes(driver)) {
      log.exception(
        logger,
        'Unable to load the virtualization driver',
        new PythonError('ImportError', `Class ${driver.split('.').at(-1)} cannot be found`),
      );
      throw new SystemExit(1);
    }
    if (!driver.startsWith('libvirt')) return;
    config.text('libvirt', 'virt_type');
    config.text('libvirt', 'cpu_mode');
    config.text('libvirt', 'images_type');
    config.integer('libvirt', 'num_pcie_ports');
  }

  #warnOfApiDatabase(): void {
    if (!this.#context.config.text('api_database', 'connection')) return;
    this.#context.log.warning(
      'nova.utils',
      'This service is configured for access to the API database but is not allowed to directly access the database. You should run this service without the [api_database]/connection config option. The service version check will only query the local cell.',
    );
  }

  async #initHost(row: Row | undefined): Promise<void> {
    const { log } = this.#context;
    if (row !== undefined) {
      if (readNodeIdentity(this.#context, this.#files) === undefined) {
        throw invalid(
          Number(row['version']) >= serviceVersion
            ? 'No local node identity found, but this is not our first startup on this host. Refusing to start after potentially having lost that state!'
            : `Upgrading from service version ${String(row['version'])} but found no nodes in the database for host ${this.#host} to persist locally; Possible rename detected, refusing to start!`,
        );
      }
    }
    const { guests, hostname } = await this.#hypervisor.facts();
    if (row === undefined && guests > 0) {
      throw invalid(
        'My hypervisor has existing instances, but I appear to be a new service in this database. Possible database configuration error, refusing to start!',
      );
    }
    const uuid = this.#identity();
    const node = await this.#objects.run<Row | undefined>('compute_node_get', { uuid });
    if (node === undefined) {
      log.warning(
        'nova.compute.manager',
        `Compute nodes ['${uuid}'] for host ${this.#host} were not found in the database. If this is the first time this service is starting on this host, then you can ignore this warning.`,
      );
      return;
    }
    if (node['hypervisor_hostname'] !== hostname) {
      throw invalid(
        `My compute node ${uuid} has hypervisor_hostname ${String(node['hypervisor_hostname'])} but virt driver reports it should be ${hostname}. Possible rename detected, refusing to start!`,
      );
    }
    if (node['host'] !== this.#host) {
      throw invalid(
        `My node ${uuid} has host '${String(node['host'])}' but my host is '${this.#host}'; Possible rename detected, refusing to start!`,
      );
    }
    await this.#resume();
  }

  /** The node's identity, read once. */
  #identity(): string {
    this.#uuid ??= localNodeIdentity(this.#context, this.#files);
    return this.#uuid;
  }

  /** The compute node's record, then its provider in Placement. What fails at the start ends the service. */
  async #updateResources(service: Row, startup: boolean): Promise<void> {
    const { log } = this.#context;
    try {
      const hypervisor = await this.#hypervisor.facts();
      const uuid = this.#identity();
      const known = await this.#objects.run<Row | undefined>('compute_node_get', { uuid });
      await this.#objects.run('compute_node_save', {
        uuid,
        host: this.#host,
        hypervisor_hostname: hypervisor.hostname,
        hypervisor_type: 'QEMU',
        service_id: service['id'],
        vcpus: hypervisor.vcpus,
        memory_mb: hypervisor.memoryMb,
        running_vms: hypervisor.guests,
        mapped: known?.['mapped'] ?? 0,
      });
      if (known === undefined) {
        log.info(
          'nova.compute.resource_tracker',
          `Compute node record created for ${this.#host}:${hypervisor.hostname} with uuid: ${uuid}`,
        );
      }
      await this.#placement?.update(
        { uuid, name: hypervisor.hostname },
        inventoryOf(this.#context, hypervisor),
        this.#traits,
      );
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      if (startup && error.type !== 'nova.exception.ResourceProviderCreationFailed') throw error;
      log.exception('nova.compute.manager', `Error updating resources for node ${this.#host}.`, error);
      if (startup) throw error;
    }
  }
}

const invalid = (reason: string): PythonError => new PythonError('nova.exception.InvalidConfiguration', reason);

/** `[upgrade_levels] compute = auto` looks into all cells when there is an API database, which a compute may not. */
function demandNoVersionPin({ config, log }: CommandContext): void {
  if (config.text('upgrade_levels', 'compute') !== 'auto' || !config.text('api_database', 'connection')) return;
  log.error(
    'nova.compute.rpcapi',
    'This service is configured for access to the API database but is not allowed to directly access the database. You should run this service without the [api_database]/connection config option.',
  );
  throw new PythonError('nova.exception.DBNotAllowed', 'nova-compute');
}
