import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from './place.ts';

/**
 * Bytes of memory that the node has, with all pods and guests in it, as the kubelet counts them: without the page cache that
 * nobody has asked for lately.
 */
export function memoryOf({ instance }: Place): number {
  const group = `openstack-operator-node${instance}`;
  const first = join('/sys/fs/cgroup/memory', group);
  const [directory, usage] = existsSync(first)
    ? [first, 'memory.usage_in_bytes']
    : [join('/sys/fs/cgroup', group), 'memory.current'];
  const text = readFileSync(join(directory, 'memory.stat'), 'utf8');
  const [, idle] = /^total_inactive_file (\d+)$/m.exec(text) ?? /^inactive_file (\d+)$/m.exec(text) ?? [];
  return Number(readFileSync(join(directory, usage), 'utf8')) - Number(idle ?? 0);
}
