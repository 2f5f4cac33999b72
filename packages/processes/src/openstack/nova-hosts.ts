import { type Row, tableOf } from '../infrastructure/mysql-protocol.ts';
import { Database } from '../oslo/database.ts';
import { PythonError } from '../oslo/python-error.ts';
import { apiDatabase, cell0, cellMapping, cellRows } from './nova-cells.ts';
import type { NovaContext } from './nova-service.ts';

/** How hosts are looked for. */
export interface DiscoveryOptions {
  readonly say?: (text: string) => void;
  /** By rows of nova-compute instead of compute nodes, which come a little later. */
  readonly byService?: boolean;
  /** Only in this cell. */
  readonly cell?: string;
}

/**
 * Maps compute hosts that stand in a cell's database and in no cell yet; gives the new ones as `cell:host`.
 * @throws PythonError CellMappingNotFound, and of the databases
 */
export async function discoverHosts(context: NovaContext, options: DiscoveryOptions = {}): Promise<string[]> {
  const { config, log } = context;
  const { say = () => undefined, byService = false, cell: wanted } = options;
  const api = apiDatabase(context);
  const all = await api.transaction('SELECT', cellRows);
  const rows = wanted === undefined ? all : all.filter((row) => row['uuid'] === wanted);
  if (wanted === undefined) say(`Found ${rows.length} cell mappings.`);
  else if (rows.length === 0)
    throw new PythonError('nova.exception.CellMappingNotFound', `Cell ${wanted} has no mapping.`);
  const found: string[] = [];
  for (const row of rows) {
    const cell = cellMapping(row, config, log);
    if (cell.uuid === cell0) {
      say('Skipping cell0 since it does not contain hosts.');
      continue;
    }
    say(
      cell.name
        ? `Getting computes from cell '${cell.name}': ${cell.uuid}`
        : `Getting computes from cell: ${cell.uuid}`,
    );
    const database = new Database({ ...context, url: cell.databaseConnection });
    const computes = await database.transaction('SELECT', (schema): Row[] =>
      byService
        ? [...tableOf(schema, 'services').values()].filter((service) => service['binary'] === 'nova-compute')
        : [...tableOf(schema, 'compute_nodes').values()].filter((node) => node['mapped'] !== 1),
    );
    const fresh: string[] = [];
    await api.transaction('INSERT', (schema) => {
      const mappings = tableOf(schema, 'host_mappings');
      for (const { host, uuid } of computes as { host: string; uuid: string }[]) {
        if (!byService) say(`Checking host mapping for compute host '${host}': ${uuid}`);
        if (mappings.has(host)) continue;
        say(
          byService
            ? `Creating host mapping for service ${host}`
            : `Creating host mapping for compute host '${host}': ${uuid}`,
        );
        mappings.set(host, { host, cell: cell.uuid });
        fresh.push(host);
      }
    });
    if (!byService) {
      await database.transaction('UPDATE', (schema) => {
        for (const node of tableOf(schema, 'compute_nodes').values())
          if (fresh.includes(String(node['host']))) node['mapped'] = 1;
      });
    }
    database.close();
    say(`Found ${fresh.length} unmapped computes in cell: ${cell.uuid}`);
    found.push(...fresh.map((host) => `${cell.name ?? 'None'}:${host}`));
  }
  api.close();
  return found;
}
