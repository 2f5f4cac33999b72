import type { DataMap } from '../../formats/data.ts';

/** Ceilometer keeps what it measures for each of these seconds (its archive policies `ceilometer-low` and `-low-rate`). */
const granularity = 300;

/** A measure of resources of a type, for which Gnocchi has the mean of each granule; `metadata`: what prices may depend on. */
function measure(type: string, unit: string, metadata: string[], more: DataMap = {}): DataMap {
  return {
    unit,
    groupby: ['id', 'user_id', 'project_id'],
    metadata,
    extra_args: { resource_type: type, aggregation_method: 'mean', force_granularity: granularity },
    ...more,
  };
}

/** What is rated unless users say otherwise: servers, images, volumes and floating IPs, as Ceilometer measures them. */
export const measuredInGnocchi: DataMap = {
  // Whoever has worked is there.
  cpu: measure('instance', 'instance', ['flavor_name', 'flavor_id'], { alt_name: 'instance', mutate: 'NUMBOOL' }),
  'image.size': measure('image', 'MiB', ['container_format', 'disk_format'], { factor: '1/1048576' }),
  'volume.size': measure('volume', 'GiB', ['volume_type']),
  'ip.floating': measure('network', 'ip', [], { mutate: 'NUMBOOL' }),
};
