import { readFileSync } from 'node:fs';

/** Seconds of processor time that a process and its threads have used, user and system; as Linux counts for all alike. */
export function processorSeconds(pid: number): number {
  // The name of the program is in parentheses, and may hold spaces; user and system time are fields 14 and 15.
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The most memory that a process ever held (RSS), in bytes. */
export function peakMemory(pid: number): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}
