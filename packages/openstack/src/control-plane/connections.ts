import type { ServiceSpec } from '../engine/surroundings.ts';

/** What one pod of a component may hold open: its processes (parents count, they keep what they opened) times their pools. */
interface Pools {
  readonly processes: number;
  readonly pools: number;
}

/** `[database] max_pool_size` and `max_overflow` (engine/sections.ts). */
const poolSize = 5 + 10;

/** Beside the services: records, migrations, monitoring, an administrator. */
const reserve = 50;

/** Field of the control plane -> component -> pools. What of Nova knows the API's database may speak to every cell. */
function poolsOf(cells: number): Readonly<Record<string, Readonly<Record<string, Pools>>>> {
  const allCells = 2 + cells;
  return {
    keystone: { api: { processes: 2, pools: 1 } },
    glance: { api: { processes: 3, pools: 1 } },
    placement: { api: { processes: 2, pools: 1 } },
    neutron: {
      server: { processes: 2, pools: 1 },
      'rpc-server': { processes: 2, pools: 1 },
      'periodic-workers': { processes: 1, pools: 1 },
      'ovn-maintenance-worker': { processes: 2, pools: 1 },
    },
    nova: {
      api: { processes: 2, pools: allCells },
      metadata: { processes: 2, pools: allCells },
      scheduler: { processes: 3, pools: allCells },
      conductor: { processes: 3, pools: allCells },
      'cell-conductor': { processes: 3 * cells, pools: allCells },
      novncproxy: { processes: cells, pools: 1 },
    },
  };
}

/**
 * How many connections the services of a control plane may open at most, with the pool sizes that the operator sets.
 * `spec` holds the templates of the children by field; `fields` are those that are made.
 */
export function connectionCeiling(spec: Readonly<Record<string, unknown>>, fields: readonly string[]): number {
  const { cells } = (spec['nova'] ?? {}) as { cells?: readonly unknown[] };
  let sum = 0;
  for (const [field, components] of Object.entries(poolsOf(cells?.length ?? 1))) {
    if (!fields.includes(field)) continue;
    const template = (spec[field] ?? {}) as ServiceSpec;
    for (const [index, [name, { processes, pools }]] of Object.entries(components).entries()) {
      const own = template.components?.[name];
      const replicas = own?.replicas ?? (index === 0 ? template.replicas : undefined) ?? 1;
      sum += replicas * (own?.processes ?? processes) * pools * poolSize;
    }
  }
  return sum;
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
