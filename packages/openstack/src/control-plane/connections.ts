import { usualProcesses } from '../engine/vocabulary/component.ts';
import type { Connections } from '../engine/vocabulary/service.ts';
import type { ServiceSpec } from '../engine/vocabulary/surroundings.ts';
import { services } from '../services/index.ts';

/** `[database] max_pool_size` and `max_overflow` (engine/configuration/sections.ts). */
const poolSize = 5 + 10;

/** Beside the services: records, migrations, monitoring, an administrator. */
const reserve = 50;

/**
 * How many connections the services of a control plane may open at most, with the pool sizes that the operator sets.
 * `spec` holds the templates of the children by field; `fields` are those that are made.
 */
export function connectionCeiling(spec: Readonly<Record<string, unknown>>, fields: readonly string[]): number {
  let sum = 0;
  for (const { child, connections } of services) {
    if (child === undefined || connections === undefined || !fields.includes(child.field)) continue;
    const template = (spec[child.field] ?? {}) as ServiceSpec;
    for (const [index, [name, held]] of Object.entries(connections(template)).entries()) {
      const own = template.components?.[name];
      const replicas = own?.replicas ?? (index === 0 ? template.replicas : undefined) ?? 1;
      sum += replicas * processesOf(held, own?.processes) * held.pools * poolSize;
    }
  }
  return sum;
}

/** Processes with connections, for each replica; `asked`: how many the user asks for. */
function processesOf(held: Connections, asked: number | undefined): number {
  const { processes = usualProcesses, launched = false, others = 0, workloads = 1 } = held;
  const those = asked ?? processes;
  return workloads * (those + (launched && those > 1 ? 1 : 0) + others);
}

/** What holds the pools of most clouds: a connection that nobody opens costs nothing. */
const usualConnections = 4000;

/**
 * `spec.maxConnections` of the database: in steps that few clouds ever take, because another number restarts the server,
 * which nobody expects of one more pod of an API.
 */
export function neededConnections(spec: Readonly<Record<string, unknown>>, fields: readonly string[]): number {
  const needed = connectionCeiling(spec, fields) + reserve;
  let held = usualConnections;
  while (held < needed) held *= 2;
  return held;
}
