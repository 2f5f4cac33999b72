import type { IContainer } from 'kubernetes-models/v1';
import { ContainerFileSystem, type Identity } from '../programs/file-system.ts';
import {
  type DirectoryNode,
  directoryAt,
  directoryNode,
  emptyVolume,
  fileNode,
  plant,
  segments,
} from '../programs/file-tree.ts';
import type { Mount } from '../programs/mount.ts';
import type { Image } from '../programs/program.ts';
import type { ContainerLog } from './container-log.ts';

/** Files that the kubelet puts over those of every image. */
export interface PodEtc {
  readonly hosts: string;
  readonly hostname: string;
  readonly resolvConf: string;
}

/** Makes the file system of a container: the image below, the node's own mounts, then the volumes. */
export function containerFiles(options: {
  readonly image: Image;
  readonly container: IContainer;
  readonly identity: Identity;
  readonly mounts: readonly Mount[];
  readonly etc: PodEtc;
  readonly log: ContainerLog;
  /** What /proc shows of processes and connections. */
  readonly proc: DirectoryNode;
  /** What /sys/class/net shows: the devices of its network namespace. */
  readonly devices: DirectoryNode;
}): ContainerFileSystem {
  const { image, container, identity, mounts, etc, log, proc, devices } = options;
  const root = imageTree(image);
  const workingDir = container.workingDir ?? '/';
  directoryAt(root, segments(workingDir));
  const rootVolume = { root, used: 0 };
  const file = (path: string, content: string, mode = 0o644): Mount => {
    const node = fileNode(content, { mode });
    return { path, node, volume: rootVolume, readOnly: false };
  };
  const kernel = (path: string): Mount => {
    const volume = emptyVolume();
    return { path, node: volume.root, volume, readOnly: !identity.privileged };
  };
  const sys = kernel('/sys');
  // Where what a container may not change is mounted, there is a directory already.
  directoryAt(sys.node as DirectoryNode, ['class', 'net']);
  const dev = deviceFiles(log);
  const shm = emptyVolume({ ownership: { mode: 0o1777 } });
  return new ContainerFileSystem({
    identity,
    cwd: workingDir,
    mounts: [
      {
        path: '/',
        node: root,
        volume: rootVolume,
        readOnly: container.securityContext?.readOnlyRootFilesystem === true,
      },
      { path: '/proc', node: proc, volume: { root: proc, used: 0 }, readOnly: !identity.privileged },
      sys,
      { ...sys, path: '/sys/class/net', node: devices },
      { path: '/dev', node: dev, volume: { root: dev, used: 0 }, readOnly: false },
      { path: '/dev/shm', node: shm.root, volume: shm, readOnly: false },
      file('/etc/hosts', etc.hosts),
      file('/etc/hostname', `${etc.hostname}\n`),
      file('/etc/resolv.conf', etc.resolvConf),
      file(container.terminationMessagePath ?? '/dev/termination-log', '', 0o666),
      ...mounts,
    ],
  });
}

function imageTree(image: Image): DirectoryNode {
  const root = directoryNode();
  for (const path of ['etc', 'run', 'root', 'usr/bin', 'var/lib', 'var/log']) directoryAt(root, path.split('/'));
  for (const path of ['tmp', 'var/tmp']) directoryAt(root, path.split('/')).mode = 0o1777;
  for (const [path, entry] of Object.entries(image.files ?? {})) {
    if (typeof entry === 'string') {
      plant(root, path, fileNode(entry));
      continue;
    }
    const { content, mode, uid = 0, gid = 0 } = entry;
    if (content === undefined) Object.assign(directoryAt(root, segments(path)), { mode: mode ?? 0o755, uid, gid });
    else plant(root, path, fileNode(content, { mode: mode ?? 0o644, uid, gid }));
  }
  return root;
}

function deviceFiles(log: ContainerLog): DirectoryNode {
  const dev = directoryNode();
  const sink = (write: (text: string) => void) => ({ ...fileNode('', { mode: 0o666 }), sink: write });
  dev.children.set(
    'null',
    sink(() => {}),
  );
  dev.children.set(
    'stdout',
    sink((text) => log.write(text)),
  );
  dev.children.set(
    'stderr',
    sink((text) => log.write(text)),
  );
  return dev;
}
