import { emptyVolume, type Volume } from '../programs/file-tree.ts';
import { quantityNumber } from '../resources/quantity.ts';
import type { PersistentVolume, Stored } from './kinds.ts';

/** A pod that has a volume attached. */
export interface Attachment {
  readonly nodeName: string;
  readonly podUid: string;
}

interface Disk {
  readonly volume: Volume;
  readonly attachments: Map<string, Attachment>;
}

/** The data behind persistent volumes, reachable from every node: it outlives pods and nodes, not the volume. */
export class Storage {
  readonly #disks = new Map<string, Disk>();

  /**
   * The data of a persistent volume, attached to a pod. Its size follows `spec.capacity`.
   * @throws Error with the attach controller's words while a pod on another node has a volume that only one may have
   */
  attach(persistentVolume: Stored<PersistentVolume>, attachment: Attachment): Volume {
    const { name } = persistentVolume.metadata;
    const { accessModes = [] } = persistentVolume.spec;
    let disk = this.#disks.get(name);
    if (disk === undefined) {
      const fileSystem = persistentVolume.spec.csi?.fsType;
      disk = { volume: { ...emptyVolume(), ...(fileSystem && { fileSystem }) }, attachments: new Map() };
      this.#disks.set(name, disk);
    }
    const shared = accessModes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany');
    const elsewhere = [...disk.attachments.values()].some(({ nodeName }) => nodeName !== attachment.nodeName);
    if (elsewhere && !shared) {
      throw new Error(
        `Multi-Attach error for volume "${name}" ` +
          "Volume is already exclusively attached to one node and can't be attached to another",
      );
    }
    disk.attachments.set(attachment.podUid, attachment);
    this.resize(persistentVolume);
    return disk.volume;
  }

  /** Lets the size of data that are there follow `spec.capacity`. */
  resize({ metadata, spec }: Stored<PersistentVolume>): void {
    const bytes = quantityNumber(spec.capacity?.['storage']);
    const disk = this.#disks.get(metadata.name);
    if (disk && Number.isFinite(bytes)) disk.volume.capacity = bytes;
  }

  /** Detaches all volumes of a pod. */
  detach(podUid: string): void {
    for (const { attachments } of this.#disks.values()) attachments.delete(podUid);
  }

  /** Throws the data away. */
  remove(persistentVolumeName: string): void {
    this.#disks.delete(persistentVolumeName);
  }

  /** How many volumes have data. */
  get size(): number {
    return this.#disks.size;
  }
}
