import { type ErrorCode, SystemError, strerror } from './program.ts';
import type { ServerSocket } from './socket.ts';

/** Permission bits and numeric owner. */
export interface Ownership {
  mode: number;
  uid: number;
  gid: number;
}

/** A regular file, or a character device (`device`), or a file that hands on what is written to it (`sink`). */
export interface FileNode extends Ownership {
  readonly type: 'file';
  content: string;
  /** The live structure behind `FileSystem.attach`. */
  live?: object;
  /** Bytes that `live` is counted with against its volume. */
  liveBytes?: number;
  /** Extended attributes: what they are, by name. */
  attributes?: Map<string, string>;
  /** Opened by privileged containers only. */
  readonly device?: boolean;
  readonly sink?: (text: string) => void;
}

/** A directory. */
export interface DirectoryNode extends Ownership {
  readonly type: 'directory';
  readonly children: Map<string, TreeNode>;
}

/** A symbolic link. */
export interface LinkNode extends Ownership {
  readonly type: 'link';
  readonly target: string;
}

/** A Unix socket; `server` is absent or closed once its process has gone. */
export interface SocketNode extends Ownership {
  readonly type: 'socket';
  server?: ServerSocket;
}

/** Anything that a directory may hold. */
export type TreeNode = FileNode | DirectoryNode | LinkNode | SocketNode;

/** A file tree with a size: an emptyDir, a claim's data, a projected ConfigMap, a node's disk. */
export interface Volume {
  readonly root: DirectoryNode;
  /** Bytes; without limit when absent. */
  capacity?: number;
  used: number;
  /** What df calls the type of its file system; default xfs. */
  fileSystem?: string;
  /** Of a node's disk: file systems that are mounted on directories of it, by their absolute paths. */
  readonly mounts?: Map<string, Volume>;
}

const ROOT_OWNED: Ownership = { mode: 0o755, uid: 0, gid: 0 };

/** A directory without content; owned by root, mode 0755, unless told otherwise. */
export function directoryNode(ownership: Partial<Ownership> = {}): DirectoryNode {
  return { type: 'directory', children: new Map(), ...ROOT_OWNED, ...ownership };
}

/** A file; owned by root, mode 0644, unless told otherwise. */
export function fileNode(content: string, ownership: Partial<Ownership> = {}): FileNode {
  return { type: 'file', content, ...ROOT_OWNED, mode: 0o644, ...ownership };
}

/** An empty volume. */
export function emptyVolume(options: { capacity?: number; ownership?: Partial<Ownership> } = {}): Volume {
  return {
    root: directoryNode(options.ownership),
    used: 0,
    ...(options.capacity === undefined ? {} : { capacity: options.capacity }),
  };
}

/** The parts of a path, without empty ones and dots. */
export function segments(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

/** Puts a node at an absolute path of a tree, with root-owned directories where they are missing. */
export function plant(root: DirectoryNode, path: string, node: TreeNode): void {
  const parts = segments(path);
  const name = parts.pop();
  if (name === undefined) return;
  directoryAt(root, parts).children.set(name, node);
}

/** The directory at a path of a tree, made (root, 0755) where it is missing. @throws SystemError ENOTDIR */
export function directoryAt(root: DirectoryNode, parts: readonly string[]): DirectoryNode {
  let current = root;
  for (const part of parts) {
    let next = current.children.get(part);
    if (next === undefined) {
      next = directoryNode();
      current.children.set(part, next);
    }
    if (next.type !== 'directory') throw systemError('ENOTDIR', `/${parts.join('/')}`);
    current = next;
  }
  return current;
}

/** What a tree counts against its volume, in bytes. */
export function sizeOf(node: TreeNode): number {
  switch (node.type) {
    case 'file':
      return Buffer.byteLength(node.content) + (node.liveBytes ?? 0);
    case 'directory': {
      let sum = 0;
      for (const child of node.children.values()) sum += sizeOf(child);
      return sum;
    }
    case 'link':
    case 'socket':
      return 0;
  }
}

/**
 * Hands a tree to a pod's fsGroup as the kubelet does (pkg/volume/volume_linux.go): group, read or read-write for it,
 * directories with setgid.
 */
export function applyFsGroup(node: TreeNode, fsGroup: number, readOnly: boolean): void {
  node.gid = fsGroup;
  if (node.type === 'link') return;
  node.mode |= readOnly ? 0o440 : 0o660;
  if (node.type !== 'directory') return;
  node.mode |= 0o2110;
  for (const child of node.children.values()) applyFsGroup(child, fsGroup, readOnly);
}

/** A `SystemError` with `strerror`'s text and what it was about. */
export function systemError(code: ErrorCode, subject: string): SystemError {
  return new SystemError(code, `${strerror[code]}: '${subject}'`);
}
