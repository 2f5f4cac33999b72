import { tableOf } from '../infrastructure/mysql-protocol.ts';
import { Database } from '../oslo/database.ts';
import type { ServiceContext } from '../oslo/service.ts';
import { cell0, cellMapping, cellRows } from './nova-cells.ts';

/** Maps compute hosts that stand in a cell's database and in no cell yet; gives the new ones. */
export async function discoverHosts(
  { process, config, log }: Pick<ServiceContext, 'process' | 'config' | 'log'>,
  say: (text: string) => void,
): Promise<string[]> {
  const api = new Database({ process, config, log, group: 'api_database' });
  const rows = await api.transaction('SELECT', cellRows);
  say(`Found ${rows.length} cell mappings.`);
  const found: string[] = [];
  for (const row of rows) {
    const cell = cellMapping(row, config, log);
    if (cell.uuid === cell0) {
      say('Skipping cell0 since it does not contain hosts.');
      continue;
    }
    say(`Getting computes from cell '${cell.name ?? 'None'}': ${cell.uuid}`);
    const database = new Database({ process, config, log, url: cell.databaseConnection });
    const computes = await database.transaction('SELECT', (schema) =>
      [...tableOf(schema, 'compute_nodes').values()].map((node) => String(node['host'])),
    );
    database.close();
    const fresh = await api.transaction('INSERT', (schema) => {
      const mappings = tableOf(schema, 'host_mappings');
      const unmapped = computes.filter((host) => !mappings.has(host));
      for (const host of unmapped) mappings.set(host, { host, cell: cell.uuid });
      return unmapped;
    });
    say(`Found ${fresh.length} unmapped computes in cell: ${cell.uuid}`);
    for (const host of fresh) say(`Creating host mapping for compute host '${host}'`);
    found.push(...fresh);
  }
  api.close();
  return found;
}
