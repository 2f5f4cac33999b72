import {
  type DirectoryNode,
  directoryNode,
  type FileNode,
  fileNode,
  type SocketNode,
  segments,
  sizeOf,
  systemError,
  type TreeNode,
  type Volume,
} from './file-tree.ts';
import { type Mount, MountsBelow } from './mount.ts';
import type { FileFacts, FileSystem } from './program.ts';
import type { ServerSocket } from './socket.ts';

/** Whose files they are: numeric identities of a container's processes. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  /** May open device nodes. */
  readonly privileged: boolean;
  /** Root that kept CAP_DAC_OVERRIDE: permission bits do not hold it back. */
  readonly overridesPermissions: boolean;
  /** Whether its processes have a capability such as `SYS_ADMIN` as root, or get it by setuid programs such as sudo. */
  readonly mayHave: (capability: string) => boolean;
}

/** Where a path leads: `node` is absent when only the last name is missing. */
interface Place {
  readonly node: TreeNode | undefined;
  readonly parent: DirectoryNode;
  readonly name: string;
  readonly path: string;
  /** The mount on which `node` lies (on which it would lie when it is missing). */
  readonly mount: Mount;
  /** Whether `node` is itself a mount point. */
  readonly mounted: boolean;
}

const READ = 4;
const WRITE = 2;
const SEARCH = 1;
const MOST_LINKS = 40;
const UMASK = 0o022;
const EXT_ATTRIBUTES = 4096; // bytes of all of a file: a block (fs/ext4/xattr.c), as long as ea_inode is not on
const MOST_ATTRIBUTE = 65_536; // bytes of one elsewhere (XATTR_SIZE_MAX, xattr(7))

/** A container's view of its image, volumes and writable layer. Paths that are not absolute begin at `cwd`. */
export class ContainerFileSystem implements FileSystem {
  readonly #mounts = new Map<string, Mount>();
  readonly #below = new MountsBelow();
  readonly #root: Mount;
  readonly #identity: Identity;
  readonly #cwd: string;

  /** `mounts[0]` is the root file system; a mount may lie on another one that comes before it. */
  constructor(options: { mounts: readonly Mount[]; identity: Identity; cwd?: string }) {
    const [root, ...others] = options.mounts;
    if (root === undefined) throw new Error('a container needs a root file system: mounts is empty');
    this.#root = root;
    this.#identity = options.identity;
    this.#cwd = options.cwd ?? '/';
    for (const mount of others) this.#mount(mount);
  }

  read(path: string): string {
    const node = this.#there(path).node;
    if (node.type === 'directory') throw systemError('EISDIR', path);
    if (node.type !== 'file') throw systemError('ENXIO', path);
    this.#demand(node, READ, path);
    return node.content;
  }

  write(path: string, content: string, options: { mode?: number; append?: boolean } = {}): void {
    const place = this.#find(path);
    const { node } = place;
    if (node === undefined) {
      this.#demandChange(place, path);
      this.#charge(place.mount.volume, Buffer.byteLength(content), path);
      place.parent.children.set(place.name, this.#owned(fileNode(content), options.mode ?? 0o666, place.parent));
      return;
    }
    if (node.type === 'directory') throw systemError('EISDIR', path);
    if (node.type !== 'file') throw systemError('ENXIO', path);
    this.#demand(node, WRITE, path);
    if (node.sink) return node.sink(content);
    if (place.mount.readOnly) throw systemError('EROFS', path);
    const before = Buffer.byteLength(node.content);
    const text = options.append ? node.content + content : content;
    this.#charge(place.mount.volume, Buffer.byteLength(text) - before, path);
    node.content = text;
  }

  exists(path: string): boolean {
    return this.#look(path) !== undefined;
  }

  isDirectory(path: string): boolean {
    return this.#look(path)?.type === 'directory';
  }

  list(path: string): string[] {
    const node = this.#there(path).node;
    if (node.type !== 'directory') throw systemError('ENOTDIR', path);
    this.#demand(node, READ, path);
    return [...node.children.keys()].sort();
  }

  mkdir(path: string, options: { mode?: number } = {}): void {
    const place = this.#find(path);
    if (place.node !== undefined) throw systemError('EEXIST', path);
    this.#demandChange(place, path);
    place.parent.children.set(place.name, this.#owned(directoryNode(), options.mode ?? 0o777, place.parent));
  }

  remove(path: string): void {
    const place = this.#find(path, { follow: false });
    const { node } = place;
    if (node === undefined) throw systemError('ENOENT', path);
    if (place.mounted || place.path === '/') throw systemError('EBUSY', path);
    if (node.type === 'directory' && node.children.size > 0) throw systemError('ENOTEMPTY', path);
    this.#demandChange(place, path);
    this.#demandSticky(place, path);
    place.parent.children.delete(place.name);
    place.mount.volume.used -= sizeOf(node);
  }

  stat(path: string): FileFacts {
    const node = this.#there(path).node;
    return {
      type: node.type === 'link' ? 'file' : node.type,
      mode: node.mode & 0o7777,
      uid: node.uid,
      gid: node.gid,
      size: node.type === 'file' ? sizeOf(node) : 0,
    };
  }

  capacity(path: string): number | undefined {
    return this.#there(path).mount.volume.capacity;
  }

  isMountPoint(path: string): boolean {
    return this.#there(path).mounted;
  }

  fileSystem(path: string): string {
    return this.#there(path).mount.volume.fileSystem ?? 'xfs';
  }

  setAttribute(path: string, name: string, value: string): void {
    const { node, mount } = this.#there(path);
    if (node.type === 'directory') throw systemError('EISDIR', path);
    if (node.type !== 'file') throw systemError('ENXIO', path);
    this.#demand(node, WRITE, path);
    if (mount.readOnly) throw systemError('EROFS', path);
    const attributes = new Map(node.attributes).set(name, value);
    const bytes = [...attributes].reduce((sum, [one, of]) => sum + Buffer.byteLength(one + of), 0);
    const isExt = /^ext[234]$/.test(mount.volume.fileSystem ?? '');
    if (isExt ? bytes > EXT_ATTRIBUTES : Buffer.byteLength(value) > MOST_ATTRIBUTE) throw systemError('ENOSPC', path);
    node.attributes = attributes;
  }

  chmod(path: string, mode: number): void {
    const place = this.#find(path);
    if (place.node === undefined) throw systemError('ENOENT', path);
    if (this.#identity.uid !== 0 && this.#identity.uid !== place.node.uid) throw systemError('EPERM', path);
    if (place.mount.readOnly) throw systemError('EROFS', path);
    place.node.mode = mode & 0o7777;
  }

  chown(path: string, uid: number, gid: number): void {
    const place = this.#find(path);
    const { node } = place;
    if (node === undefined) throw systemError('ENOENT', path);
    const ownGroup = gid === node.gid || this.#groups().includes(gid);
    const ownerKeepsFile = this.#identity.uid === node.uid && uid === node.uid && ownGroup;
    if (this.#identity.uid !== 0 && !ownerKeepsFile) throw systemError('EPERM', path);
    if (place.mount.readOnly) throw systemError('EROFS', path);
    node.uid = uid;
    node.gid = gid;
  }

  rename(from: string, to: string): void {
    const source = this.#find(from, { follow: false });
    const target = this.#find(to, { follow: false });
    if (source.node === undefined) throw systemError('ENOENT', from);
    if (source.mounted || target.mounted) throw systemError('EBUSY', source.mounted ? from : to);
    if (source.mount !== target.mount) throw systemError('EXDEV', to);
    if (target.path.startsWith(`${source.path}/`)) throw systemError('EINVAL', to);
    if (target.node?.type === 'directory') {
      if (source.node.type !== 'directory') throw systemError('EISDIR', to);
      if (target.node.children.size > 0) throw systemError('ENOTEMPTY', to);
    }
    this.#demandChange(source, from);
    this.#demandSticky(source, from);
    this.#demandChange(target, to);
    if (target.node !== undefined) target.mount.volume.used -= sizeOf(target.node);
    source.parent.children.delete(source.name);
    target.parent.children.set(target.name, source.node);
  }

  readlink(path: string): string {
    const { node } = this.#find(path, { follow: false });
    if (node === undefined) throw systemError('ENOENT', path);
    if (node.type !== 'link') throw systemError('EINVAL', path);
    return node.target;
  }

  symlink(target: string, path: string): void {
    const place = this.#find(path, { follow: false });
    if (place.node !== undefined) throw systemError('EEXIST', path);
    this.#demandChange(place, path);
    const { uid, gid } = this.#identity;
    place.parent.children.set(place.name, { type: 'link', target, mode: 0o777, uid, gid });
  }

  attach<T extends object>(path: string, create: () => T, options: { bytes?: number; mode?: number } = {}): T {
    const place = this.#find(path);
    const bytes = options.bytes ?? 0;
    let { node } = place;
    if (node === undefined) {
      this.#demandChange(place, path);
      node = this.#owned(fileNode(''), options.mode ?? 0o666, place.parent);
      this.#charge(place.mount.volume, bytes, path);
      place.parent.children.set(place.name, node);
    } else if (node.type !== 'file') {
      throw systemError(node.type === 'directory' ? 'EISDIR' : 'ENXIO', path);
    } else {
      this.#demand(node, READ | WRITE, path);
      if (place.mount.readOnly) throw systemError('EROFS', path);
      this.#charge(place.mount.volume, bytes - (node.liveBytes ?? 0), path);
    }
    node.liveBytes = bytes;
    node.live ??= create();
    return node.live as T;
  }

  /**
   * Binds a Unix socket. A socket file that nobody listens on any more is replaced, as daemons do themselves.
   * @throws SystemError EADDRINUSE, and what a write to the directory throws
   */
  bindSocket(path: string, server: ServerSocket, mode: number): SocketNode {
    const place = this.#find(path);
    const { node } = place;
    if (node !== undefined && (node.type !== 'socket' || node.server?.open === true)) {
      throw systemError('EADDRINUSE', path);
    }
    this.#demandChange(place, path);
    const { uid, gid } = this.#identity;
    const socket: SocketNode = { type: 'socket', mode, uid, gid, server };
    place.parent.children.set(place.name, socket);
    return socket;
  }

  /** The socket that a connect to `path` reaches. @throws SystemError ENOENT, EACCES, ECONNREFUSED */
  socketAt(path: string): ServerSocket {
    const node = this.#there(path).node;
    if (node.type !== 'socket') throw systemError('ECONNREFUSED', path);
    this.#demand(node, WRITE, path);
    if (node.server?.open !== true) throw systemError('ECONNREFUSED', path);
    return node.server;
  }

  /** Makes the mount point where it is missing, as the container runtime does before it drops its rights. */
  #mount(mount: Mount): void {
    const parts = segments(mount.path);
    let { node }: { node: TreeNode } = this.#root;
    let on = this.#root;
    let path = '';
    for (const [index, part] of parts.entries()) {
      if (node.type !== 'directory') throw systemError('ENOTDIR', mount.path);
      const parent = path;
      path = `${path}/${part}`;
      const isPoint = index === parts.length - 1;
      const below = this.#mounts.get(path);
      let child = below?.node ?? node.children.get(part);
      if (child?.type === 'link') {
        const target = child.target.startsWith('/') ? child.target : `${parent}/${child.target}`;
        const rest = parts.slice(index + 1).join('/');
        return this.#mount({ ...mount, path: `/${segments(`${target}/${rest}`).join('/')}` });
      }
      if (child === undefined) {
        if (on.readOnly && on !== this.#root) throw systemError('EROFS', path);
        child = isPoint && mount.node.type !== 'directory' ? fileNode('') : directoryNode();
        node.children.set(part, child);
      }
      node = child;
      on = below ?? on;
    }
    this.#mounts.set(path, { ...mount, path });
  }

  /** Walks a path as the kernel does. @throws SystemError ENOENT, ENOTDIR, EACCES, ELOOP */
  #find(path: string, { follow = true } = {}): Place {
    const absolute = path.startsWith('/') ? path : `${this.#cwd}/${path}`;
    let todo = segments(absolute).reverse();
    const top = { node: this.#root.node, mount: this.#root, path: '/', name: '' };
    let stack: { node: TreeNode; mount: Mount; path: string; name: string }[] = [top];
    let links = 0;
    for (let part = todo.pop(); part !== undefined; part = todo.pop()) {
      const here = stack.at(-1) ?? top;
      if (here.node.type !== 'directory') throw systemError('ENOTDIR', path);
      if (part === '..') {
        if (stack.length > 1) stack.pop();
        continue;
      }
      this.#demand(here.node, SEARCH, path);
      const childPath = here.path === '/' ? `/${part}` : `${here.path}/${part}`;
      const child = here.node.children.get(part);
      const mount =
        this.#mounts.get(childPath) ?? (child === undefined ? undefined : this.#below.at(here.mount, childPath));
      const node = mount?.node ?? child;
      if (node === undefined) {
        if (todo.length > 0) throw systemError('ENOENT', path);
        return { node, parent: here.node, name: part, path: childPath, mount: here.mount, mounted: false };
      }
      if (node.type === 'link' && (follow || todo.length > 0)) {
        if (++links > MOST_LINKS) throw systemError('ELOOP', path);
        if (node.target.startsWith('/')) stack = [top];
        todo = [...todo, ...segments(node.target).reverse()];
        continue;
      }
      stack.push({ node, mount: mount ?? here.mount, path: childPath, name: part });
    }
    const last = stack.at(-1) ?? top;
    const parent = stack.at(-2)?.node ?? this.#root.node;
    return {
      node: last.node,
      parent: parent as DirectoryNode,
      name: last.name,
      path: last.path,
      mount: last.mount,
      mounted: last.mount.path === last.path,
    };
  }

  #there(path: string): Place & { readonly node: TreeNode } {
    const { node, ...place } = this.#find(path);
    if (node === undefined) throw systemError('ENOENT', path);
    return { ...place, node };
  }

  /** Like `[ -e path ]`: what cannot be reached does not exist. */
  #look(path: string): TreeNode | undefined {
    try {
      return this.#find(path).node;
    } catch {
      return undefined;
    }
  }

  #groups(): readonly number[] {
    return [this.#identity.gid, ...this.#identity.groups];
  }

  #demand(node: TreeNode, wanted: number, path: string): void {
    const { uid, groups, gid, overridesPermissions, privileged } = this.#identity;
    if (node.type === 'file' && node.device && !privileged) throw systemError('EPERM', path);
    if (overridesPermissions) return;
    const shift = node.uid === uid ? 6 : node.gid === gid || groups.includes(node.gid) ? 3 : 0;
    if (((node.mode >> shift) & wanted) !== wanted) throw systemError('EACCES', path);
  }

  /** To make, remove or rename an entry one must be able to write its directory. */
  #demandChange(place: Place, path: string): void {
    if (place.mount.readOnly) throw systemError('EROFS', path);
    this.#demand(place.parent, WRITE | SEARCH, path);
  }

  /** In a directory with the sticky bit (/tmp) everybody removes but his own. */
  #demandSticky(place: Place, path: string): void {
    const { uid, overridesPermissions } = this.#identity;
    if ((place.parent.mode & 0o1000) === 0 || overridesPermissions) return;
    if (place.parent.uid !== uid && place.node?.uid !== uid) throw systemError('EPERM', path);
  }

  #owned<T extends FileNode | DirectoryNode>(node: T, mode: number, parent: DirectoryNode): T {
    const inherits = (parent.mode & 0o2000) !== 0;
    node.mode = mode & ~UMASK;
    if (inherits && node.type === 'directory') node.mode |= 0o2000;
    node.uid = this.#identity.uid;
    node.gid = inherits ? parent.gid : this.#identity.gid;
    return node;
  }

  #charge(volume: Volume, bytes: number, path: string): void {
    if (bytes > 0 && volume.capacity !== undefined && volume.used + bytes > volume.capacity)
      throw systemError('ENOSPC', path);
    volume.used += bytes;
  }
}
