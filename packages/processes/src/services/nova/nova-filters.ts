import { type Row, rowsOf } from '../../infrastructure/mysql-protocol.ts';
import type { Config } from '../../oslo/config.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { inApi } from './nova-cells.ts';

const ofNova = new Set(
  'AggregateImagePropertiesIsolation AggregateInstanceExtraSpecsFilter AggregateIoOpsFilter AggregateMultiTenancyIsolation AggregateNumInstancesFilter AggregateTypeAffinityFilter AllHostsFilter ComputeCapabilitiesFilter ComputeFilter DifferentHostFilter ImagePropertiesFilter IoOpsFilter IsolatedHostsFilter JsonFilter MetricsFilter NumInstancesFilter NUMATopologyFilter PciPassthroughFilter SameHostFilter ServerGroupAffinityFilter ServerGroupAntiAffinityFilter SimpleCIDRAffinityFilter'.split(
    ' ',
  ),
);

/** Modules beside Nova's that its images have, with their filters. */
const ofOthers = ['blazarnova.scheduler.filters.blazar_filter.BlazarFilter'];

/** What a scheduler loads when it starts (nova.scheduler.host_manager). @throws PythonError */
export function enabledFilters(config: Config): readonly string[] {
  const stated = config.all('filter_scheduler', 'available_filters');
  const available = stated.length === 0 ? ['nova.scheduler.filters.all_filters'] : stated;
  const names = available.map((path) => {
    if (path === 'nova.scheduler.filters.all_filters' || ofOthers.includes(path)) return path.split('.').at(-1);
    const [module = ''] = path.split('.');
    throw new PythonError('ModuleNotFoundError', `No module named '${module}'`);
  });
  const enabled = config.list('filter_scheduler', 'enabled_filters');
  const unknown = enabled.find((name) => !names.includes(name) && !(names.includes('all_filters') && ofNova.has(name)));
  if (unknown === undefined) return enabled;
  throw new PythonError(
    'nova.exception.SchedulerHostFilterNotFound',
    `Scheduler Host Filter ${unknown} could not be found.`,
  );
}

/**
 * Hosts that the filter of Blazar leaves to those who name their reservation, or who do not: what is in the pool of free
 * hosts is nobody's, and what is in an aggregate of a reservation its owner's (blazarnova.scheduler.filters.blazar_filter).
 */
export async function passes(
  context: ServiceContext,
  reservation: string | undefined,
): Promise<(host: string) => boolean> {
  if (!context.config.list('filter_scheduler', 'enabled_filters').includes('BlazarFilter')) return () => true;
  const aggregates = await inApi(context, 'SELECT', (schema) => rowsOf(schema, 'aggregates'));
  const has = (host: string) => (row: Row) => (row['hosts'] as string[]).includes(host);
  const isPool = ({ name, availability_zone: zone }: Row) => name === 'freepool' || String(zone).startsWith('blazar_');
  return (host) => {
    const pools = aggregates.filter(isPool).filter(has(host));
    return reservation === undefined ? pools.length === 0 : pools.some(({ name }) => name === reservation);
  };
}
