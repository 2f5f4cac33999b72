import { cpus, loadavg, totalmem } from 'node:os';

/** Where and when a figure was measured, in one line: without it a figure says nothing. */
export function machine(): string {
  const cores = cpus();
  const model = cores[0]?.model.replace(/\s+/g, ' ').trim() || 'unknown processor';
  const [busy = 0] = loadavg();
  const memory = Math.round(totalmem() / 2 ** 30);
  const date = new Date().toISOString().slice(0, 10);
  return `${date}: ${cores.length} cores (${model}), ${memory} GiB, Node ${process.versions.node}; load ${busy.toFixed(1)} at that moment`;
}
