import type { ConfigFiles } from '../../engine/vocabulary/config-files.ts';
import type { NodeGroup, Nova } from './kind.ts';

/** Where nova-compute looks for such files when it starts, unless `[compute] provider_config_location` says otherwise. */
const file = '/etc/nova/provider_config/traits.yaml';

/**
 * What nova-compute adds to the traits of its host's provider in Placement, each time that it reports it. It takes away none:
 * it cannot tell those of former files from those of somebody else (nova.compute.resource_tracker, `_merge_provider_configs`).
 */
export function traitFile(traits: NonNullable<NodeGroup['traits']>): ConfigFiles {
  const providers = [{ identification: { uuid: '$COMPUTE_NODE' }, traits: { additional: traits } }];
  return { [file]: { format: 'yaml', data: { meta: { schema_version: '1.0' }, providers } } };
}

/** Options by which such files are looked for elsewhere. */
export function traitProblems(at: string, configs: readonly Nova['spec']['config'][]): string[] {
  const isStated = configs.some((config) => config?.['nova.conf']?.['compute']?.['provider_config_location'] != null);
  return isStated
    ? [`${at}.traits: conflicts with [compute] provider_config_location of nova.conf; remove one of the two`]
    : [];
}
