import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

export const gnocchiDatabase: ProjectDatabase = {
  heads: ['04eba72e4f90'],
  tables: 'archive_policy archive_policy_rule metric resource resource_history resource_type',
  url: ['indexer', 'url'],
};

/** What was measured, and when. */
export interface Measure {
  readonly timestamp: string;
  readonly value: number;
}

/** Measures by metric: those that nobody has looked at yet, and those that were aggregated. */
export interface Measures {
  readonly incoming: Map<string, Measure[]>;
  readonly aggregated: Map<string, Measure[]>;
}

const directory = ({ config, process }: ServiceContext): string => {
  const driver = config.text('storage', 'driver');
  if (driver === 'file') return config.text('storage', 'file_basepath');
  process.stderr(`no model knows how ${driver} keeps measures\n`);
  throw new PythonError('NotImplementedError', driver);
};

/** Makes the place where measures are kept, unless it is there (`gnocchi-upgrade`). @throws PythonError, SystemError */
export function makeStore(context: ServiceContext): void {
  const path = `${directory(context)}/tmp`;
  if (!context.process.files.exists(path)) context.process.files.mkdir(path);
}

/** The place. @throws PythonError before it was made, SystemError */
export function storeOf(context: ServiceContext): Measures {
  const { files } = context.process;
  const path = `${directory(context)}/tmp`;
  if (!files.exists(path))
    throw new PythonError('gnocchi.incoming.SackDetectionError', 'Unable to detect the number of storage sacks.');
  return files.attach<Measures>(`${path}/measures`, () => ({ incoming: new Map(), aggregated: new Map() }));
}
