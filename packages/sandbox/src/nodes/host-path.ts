import {
  type DirectoryNode,
  directoryAt,
  directoryNode,
  fileNode,
  plant,
  segments,
  type TreeNode,
  type Volume,
} from '../programs/file-tree.ts';
import { machineDevices, networkDevices } from './machine.ts';

/** What a node has on its disk besides what tests and pods put there. */
export function nodeDisk(): DirectoryNode {
  const root = directoryNode();
  for (const path of ['etc', 'var/lib', 'var/log', 'run', 'lib', 'usr', 'opt', 'home', 'proc', 'sys/fs/cgroup']) {
    directoryAt(root, path.split('/'));
  }
  directoryAt(root, ['sys', 'class']).children.set('net', networkDevices(machineDevices));
  for (const path of ['tmp', 'var/tmp', 'dev/shm']) directoryAt(root, path.split('/')).mode = 0o1777;
  for (const path of ['/dev/kvm', '/dev/net/tun', '/dev/vhost-net']) {
    plant(root, path, { ...fileNode('', { mode: 0o666 }), device: true });
  }
  return root;
}

/**
 * A hostPath volume: of the node's disk, or of the file system that is mounted there.
 * @throws Error with the kubelet's words when the type does not fit
 */
export function hostPathOn(
  disk: Volume,
  { path, type = '' }: { readonly path: string; readonly type?: string },
): { readonly node: TreeNode; readonly volume: Volume } {
  const parts = segments(path);
  for (let length = parts.length; length > 0; length -= 1) {
    const volume = disk.mounts?.get(`/${parts.slice(0, length).join('/')}`);
    if (volume !== undefined) return { node: hostPathNode(volume.root, parts.slice(length).join('/'), type), volume };
  }
  return { node: hostPathNode(disk.root, path, type), volume: disk };
}

/**
 * The node of a hostPath volume, made where its type allows that (pkg/volume/hostpath/host_path.go; the container
 * runtime makes a missing directory when there is no type).
 * @throws Error with the kubelet's words when the type does not fit
 */
export function hostPathNode(disk: DirectoryNode, path: string, type: string): TreeNode {
  const found = lookUp(disk, path);
  const parts = segments(path);
  switch (type) {
    case '':
      return found ?? directoryAt(disk, parts);
    case 'DirectoryOrCreate':
      return demand(found ?? directoryAt(disk, parts), found?.type !== 'file', path, 'a directory');
    case 'Directory':
      return demand(found, found?.type === 'directory', path, 'a directory');
    case 'FileOrCreate': {
      if (found === undefined) plant(disk, path, fileNode(''));
      const node = lookUp(disk, path);
      return demand(node, node?.type === 'file', path, 'a file');
    }
    case 'File':
      return demand(found, found?.type === 'file', path, 'a file');
    case 'Socket':
      return demand(found, found?.type === 'socket', path, 'a socket file');
    case 'CharDevice':
      return demand(found, found?.type === 'file' && found.device === true, path, 'a character device');
    case 'BlockDevice':
      return demand(found, false, path, 'a block device');
    default:
      throw new Error(`${type} is an invalid volume type`);
  }
}

function demand(node: TreeNode | undefined, fits: boolean, path: string, what: string): TreeNode {
  if (node === undefined || !fits) throw new Error(`hostPath type check failed: ${path} is not ${what}`);
  return node;
}

/** Follows links within a tree; undefined when nothing is there. */
export function lookUp(root: DirectoryNode, path: string): TreeNode | undefined {
  let todo = segments(path).reverse();
  let stack: TreeNode[] = [root];
  for (let links = 0, part = todo.pop(); part !== undefined; part = todo.pop()) {
    const here = stack.at(-1);
    if (here?.type !== 'directory') return undefined;
    if (part === '..') {
      if (stack.length > 1) stack.pop();
      continue;
    }
    const node = here.children.get(part);
    if (node === undefined) return undefined;
    if (node.type !== 'link') stack.push(node);
    else if (++links > 40) return undefined;
    else {
      if (node.target.startsWith('/')) stack = [root];
      todo = [...todo, ...segments(node.target).reverse()];
    }
  }
  return stack.at(-1);
}
