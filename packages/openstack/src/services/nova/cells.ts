import { databaseName } from '../../engine/vocabulary/accounts.ts';
import { bracketed } from '../../engine/vocabulary/addresses.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Nova } from './kind.ts';

/** A cell with the names that follow from its entry. */
export interface Cell {
  readonly name: string;
  readonly database: string;
  readonly vhost: string;
}

/** The cells: those of the spec, else one. Each has a database and a vhost of its own. */
export function cellsOf({ spec, accounts }: Context<Nova>): readonly Cell[] {
  const cells: NonNullable<Nova['spec']['cells']> = spec.cells ?? [{ name: spec.cellName ?? 'cell1' }];
  return cells.map((cell) => ({
    name: cell.name,
    database: cell.databaseName ?? databaseName(accounts, 'nova'),
    vhost: cell.vhost ?? `${accounts.broker.vhost}-${cell.name}`,
  }));
}

/**
 * Where a cell is, as templates that every process fills with its own account, and with how it connects: no credential
 * stands in the database, and processes that connect by TLS already and those that do not yet read the same mapping.
 */
export function mappingOf({ database, broker }: Context<Nova>, cell: Pick<Cell, 'database' | 'vhost'>) {
  return {
    database: databaseTemplate(database, cell.database),
    transport: `{scheme}://{username}:{password}@${bracketed(broker.host)}:{port}/${cell.vhost}`,
  };
}

/** Template of the URL of a database. */
export function databaseTemplate(address: Context<Nova>['database'], name: string): string {
  return `{scheme}://{username}:{password}@${bracketed(address.host)}:{port}/${name}?{query}`;
}
