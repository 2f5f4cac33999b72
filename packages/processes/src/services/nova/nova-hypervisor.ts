import { type LibvirtConnection, LibvirtError, openLibvirt } from '../../infrastructure/libvirt-protocol.ts';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { fileSystemSize } from '../../program-support.ts';
import { hostOf } from './nova-service.ts';

/** What a hypervisor offers. */
export interface HypervisorFacts {
  readonly hostname: string;
  readonly vcpus: number;
  readonly memoryMb: number;
  readonly guests: number;
  /** What runs guests: `qemu`, `kvm`. */
  readonly types: readonly string[];
}

/** The hypervisor behind `compute_driver`: libvirt, connected on first use and again when it was lost. */
export class Hypervisor {
  readonly #context: ServiceContext;
  /** The connection of last use; undefined for drivers without libvirt. */
  libvirt: LibvirtConnection | undefined;

  constructor(context: ServiceContext) {
    this.#context = context;
  }

  /** @throws PythonError HypervisorUnavailable, the reason is in the log */
  async facts(): Promise<HypervisorFacts> {
    const { process, config, log } = this.#context;
    const driver = config.text('DEFAULT', 'compute_driver');
    if (!driver.startsWith('libvirt'))
      return { hostname: hostOf(this.#context), vcpus: 1000, memoryMb: 800_000, guests: 0, types: [] };
    try {
      if (this.libvirt === undefined || this.libvirt.closed.aborted) {
        const type = config.text('libvirt', 'virt_type');
        this.libvirt = await openLibvirt(
          process,
          config.text('libvirt', 'connection_uri') || (type === 'lxc' ? 'lxc:///' : 'qemu:///system'),
        );
      }
      const { hostname, vcpus, memoryMb, domainTypes: types } = await this.libvirt.capabilities();
      return { hostname, vcpus, memoryMb, guests: (await this.libvirt.domains()).length, types };
    } catch (error) {
      if (!(error instanceof LibvirtError)) throw error;
      this.libvirt = undefined;
      log.exception(
        'nova.virt.libvirt.host',
        `Connection to libvirt failed: ${error.message}`,
        new PythonError('libvirt.libvirtError', error.message),
      );
      throw new PythonError('nova.exception.HypervisorUnavailable', 'Connection to the hypervisor is broken on host');
    }
  }
}

/** What Placement is told of it, and of the file system of `instances_path`. */
export function inventoryOf({ config, process }: ServiceContext, { vcpus, memoryMb }: HypervisorFacts): Row {
  const instances = config.text('DEFAULT', 'instances_path', '$state_path/instances');
  const diskGb = Math.floor(fileSystemSize(process, instances) / 2 ** 30);
  const one = (total: number, reserved: number): Row => ({
    total,
    reserved,
    min_unit: 1,
    max_unit: total,
    step_size: 1,
    allocation_ratio: 1,
  });
  return {
    VCPU: one(vcpus, config.integer('DEFAULT', 'reserved_host_cpus')),
    MEMORY_MB: one(memoryMb, config.integer('DEFAULT', 'reserved_host_memory_mb')),
    DISK_GB: one(diskGb, Math.ceil(config.integer('DEFAULT', 'reserved_host_disk_mb') / 1024)),
  };
}
