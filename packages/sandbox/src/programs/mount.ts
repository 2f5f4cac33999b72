import type { TreeNode, Volume } from './file-tree.ts';

/** One mount of a container: a node of a volume that is seen at `path`. */
export interface Mount {
  /** Absolute, without trailing slash; `/` is the container's root file system. */
  readonly path: string;
  readonly node: TreeNode;
  readonly volume: Volume;
  readonly readOnly: boolean;
  /** Of a path of a node, `from`: file systems that are mounted below it, by their paths on the node. */
  readonly below?: { readonly from: string; readonly mounts: ReadonlyMap<string, Volume> };
}

/** What a container finds mounted below directories of its node. */
export class MountsBelow {
  readonly #known = new Map<string, Mount>();

  /** What is mounted at a path of the container, below a mount: of the same file system, the same mount. */
  at({ path, below, readOnly }: Mount, childPath: string): Mount | undefined {
    const volume = below?.mounts.get(`${below.from}${childPath.slice(path.length)}`);
    if (volume === undefined) return undefined;
    const known = this.#known.get(childPath);
    if (known?.volume === volume) return known;
    const mount = { path: childPath, node: volume.root, volume, readOnly };
    this.#known.set(childPath, mount);
    return mount;
  }
}
