import type { OptionFacts } from './option-facts.ts';

/** Groups whose names a user chooses: any group of them has the options of a known one. */
export interface DynamicGroup {
  /** `[group] option` whose value names the groups; absent: any group that has the option `auth_type`. */
  readonly namedBy?: readonly [group: string, option: string];
  /** The names are the keys of the value, `name:driver`, not its elements. */
  readonly keys?: true;
  /** Groups whose options such a group may have, as the facts name them. */
  readonly options: readonly string[];
}

/**
 * What no package says of itself. cinder/volume/manager.py and glance_store/multi_backend.py read a group for each name;
 * manila/share/manager.py as well; designate registers a group for each backend of its own.
 */
const named: Readonly<Record<string, readonly DynamicGroup[]>> = {
  cinder: [{ namedBy: ['DEFAULT', 'enabled_backends'], options: ['backend_defaults', 'DEFAULT'] }],
  glance: [{ namedBy: ['DEFAULT', 'enabled_backends'], keys: true, options: ['glance_store'] }],
  manila: [{ namedBy: ['DEFAULT', 'enabled_share_backends'], options: ['DEFAULT'] }],
};

/** The dynamic groups of a service; options of a plug-in of keystoneauth stand in any group that has an `auth_type`. */
export function dynamicGroupsOf(service: string, options: readonly OptionFacts[]): readonly DynamicGroup[] {
  const known = new Set(options.map(({ group, name }) => `${group}/${name}`));
  const own = (named[service] ?? []).filter(({ namedBy }) => namedBy !== undefined && known.has(namedBy.join('/')));
  const authenticates = options.some(({ name }) => name === 'auth_type');
  return authenticates ? [...own, { options: [] }] : own;
}
