import { databaseName } from '../../engine/vocabulary/accounts.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Job } from '../../engine/vocabulary/service.ts';
import { cellsOf, databaseTemplate, mappingOf } from './cells.ts';
import { computeNodes } from './compute.ts';
import type { Nova } from './kind.ts';
import { hostDiscovery, setUpCells } from './scripts.ts';
import { statesZones } from './zones.ts';

const state = [{ path: '/var/lib/nova', scratch: true }] as const;

/**
 * In the order that works: the API's schema, the cells' mappings, then the schemas of cell0 and of the cells, which
 * are found through the mappings. Jobs of further cells carry the cell's name.
 */
export function novaJobs(context: Context<Nova>): Job[] {
  const cells = cellsOf(context);
  const nodes = computeNodes(context).map(({ name }) => name);
  const perCell = cells.flatMap((cell, index): Job[] => {
    const prefix = index === 0 ? '' : `${cell.name}-`;
    const mapping = mappingOf(context, cell);
    const common = { image: 'nova-conductor', config: `${cell.name}-manage`, mounts: state };
    return [
      {
        ...common,
        suffix: `${prefix}cell-setup`,
        step: 'CellsReady',
        env: {
          CELL0_DATABASE: databaseTemplate(context.database, databaseName(context.accounts, 'nova_cell0')),
          CELL_NAME: cell.name,
          CELL_DATABASE: mapping.database,
          CELL_TRANSPORT: mapping.transport,
        },
        runs: [
          { name: 'api-db-sync', command: ['nova-manage', 'api_db', 'sync'] },
          { name: 'cell-setup', script: setUpCells },
        ],
      },
      {
        ...common,
        suffix: `${prefix}db-sync`,
        step: 'MigrationReady',
        runs: [{ name: 'db-sync', command: ['nova-manage', 'db', 'sync'] }],
      },
    ];
  });
  const [first] = cells;
  return [
    ...perCell,
    {
      suffix: 'host-discovery',
      step: 'HostsReady',
      // A host is in its zone before the scheduler knows it: one that has servers is not taken into a zone any more.
      needs: ['MigrationReady', 'AgentsReady', ...(statesZones(context.spec) ? ['ResourcesReady'] : [])],
      image: 'nova-conductor',
      config: `${first?.name}-manage`,
      mounts: state,
      ...hostDiscovery(nodes, statesZones(context.spec)),
    },
  ];
}
