import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { cell0, cellsOf, inApi, inCell } from './nova-cells.ts';

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
export async function discoverHosts(context: ServiceContext, options: DiscoveryOptions = {}): Promise<string[]> {
  const { say = () => undefined, byService = false, cell: wanted } = options;
  const cells = (await cellsOf(context)).filter(({ uuid }) => wanted === undefined || uuid === wanted);
  if (wanted === undefined) say(`Found ${cells.length} cell mappings.`);
  else if (cells.length === 0)
    throw new PythonError('nova.exception.CellMappingNotFound', `Cell ${wanted} has no mapping.`);
  const found: string[] = [];
  for (const cell of cells) {
    if (cell.uuid === cell0) {
      say('Skipping cell0 since it does not contain hosts.');
      continue;
    }
    say(`Getting computes from cell${cell.name ? ` '${cell.name}'` : ''}: ${cell.uuid}`);
    const computes = await inCell(context, cell, 'SELECT', (schema): Row[] =>
      byService
        ? rowsOf(schema, 'services', { binary: 'nova-compute' })
        : rowsOf(schema, 'compute_nodes').filter((node) => node['mapped'] !== 1),
    );
    const fresh: string[] = [];
    await inApi(context, 'INSERT', (schema) => {
      const mappings = tableOf(schema, 'host_mappings');
      for (const { host, uuid } of computes as { host: string; uuid: string }[]) {
        if (!byService) say(`Checking host mapping for compute host '${host}': ${uuid}`);
        if (mappings.has(host)) continue;
        say(`Creating host mapping for ${byService ? `service ${host}` : `compute host '${host}': ${uuid}`}`);
        mappings.set(host, { host, cell: cell.uuid });
        fresh.push(host);
      }
    });
    if (!byService)
      await inCell(context, cell, 'UPDATE', (schema) => {
        for (const node of tableOf(schema, 'compute_nodes').values())
          if (fresh.includes(String(node['host']))) node['mapped'] = 1;
      });
    say(`Found ${fresh.length} unmapped computes in cell: ${cell.uuid}`);
    found.push(...fresh.map((host) => `${cell.name ?? 'None'}:${host}`));
  }
  return found;
}
