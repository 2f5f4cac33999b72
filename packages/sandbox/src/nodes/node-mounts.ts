import { directoryAt, emptyVolume, segments, type Volume } from '../programs/file-tree.ts';

/** A file system of a node. */
export interface MountOptions {
  /** What df calls its type; default xfs. */
  readonly type?: string;
  /** Numeric id of the user, and of the group, that its directory belongs to; default 0. */
  readonly owner?: number;
}

/** The file systems that are mounted on directories of a node's disk. */
export class NodeMounts {
  readonly #disk: Volume;
  readonly #mounts: Map<string, Volume>;
  /** What was unmounted, by its path. */
  readonly #away = new Map<string, Volume>();

  constructor(disk: Volume, mounts: Map<string, Volume>) {
    this.#disk = disk;
    this.#mounts = mounts;
  }

  /** Mounts an empty file system, or puts back what was mounted there before. */
  mount(path: string, { type, owner = 0 }: MountOptions = {}): void {
    directoryAt(this.#disk.root, segments(path));
    const made = { ...emptyVolume({ ownership: { uid: owner, gid: owner } }), ...(type && { fileSystem: type }) };
    this.#mounts.set(path, this.#away.get(path) ?? made);
    this.#away.delete(path);
  }

  /** Takes a file system off its directory. @throws Error when none is mounted there */
  unmount(path: string): void {
    const volume = this.#mounts.get(path);
    if (volume === undefined) throw new Error(`umount: ${path}: not mounted.`);
    this.#mounts.delete(path);
    this.#away.set(path, volume);
  }
}
