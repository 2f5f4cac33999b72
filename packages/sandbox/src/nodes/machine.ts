import { type DirectoryNode, directoryNode, type FileNode, fileNode } from '../programs/file-tree.ts';
import { quantityNumber } from '../resources/quantity.ts';

/** What a kernel tells of its machine in /proc (proc_cpuinfo(5), proc_meminfo(5)): all of it, in every container. */
export function machineFiles(capacity: Readonly<Record<string, string | number>>): [string, FileNode][] {
  const processors = Array.from({ length: quantityNumber(capacity['cpu']) }, (_, index) => `processor\t: ${index}\n\n`);
  const kibibytes = String(Math.floor(quantityNumber(capacity['memory']) / 1024));
  return [
    ['cpuinfo', fileNode(processors.join(''), { mode: 0o444 })],
    ['meminfo', fileNode(`MemTotal:       ${kibibytes.padStart(8)} kB\n`, { mode: 0o444 })],
  ];
}

/** Network devices of every machine: `eth0` carries its address, the others none. */
export const machineDevices: readonly string[] = ['lo', 'eth0', 'eth1', 'bond0', 'bond1'];

/** /sys/class/net (the kernel's Documentation/ABI/testing/sysfs-class-net) of a network namespace with these devices. */
export function networkDevices(names: readonly string[]): DirectoryNode {
  const directory = directoryNode();
  for (const name of names) directory.children.set(name, directoryNode());
  return directory;
}
