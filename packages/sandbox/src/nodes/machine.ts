import { type FileNode, fileNode } from './file-tree.ts';
import { quantityNumber } from './quantity.ts';

/** What a kernel tells of its machine in /proc (proc_cpuinfo(5), proc_meminfo(5)): all of it, in every container. */
export function machineFiles(capacity: Readonly<Record<string, string | number>>): [string, FileNode][] {
  const processors = Array.from({ length: quantityNumber(capacity['cpu']) }, (_, index) => `processor\t: ${index}\n\n`);
  const kibibytes = String(Math.floor(quantityNumber(capacity['memory']) / 1024));
  return [
    ['cpuinfo', fileNode(processors.join(''), { mode: 0o444 })],
    ['meminfo', fileNode(`MemTotal:       ${kibibytes.padStart(8)} kB\n`, { mode: 0o444 })],
  ];
}
