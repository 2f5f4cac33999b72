import {
  authOptionsOf,
  authTypes,
  type DynamicGroup,
  factsOf,
  type OptionFacts,
  pluginsOf,
  type ServiceFacts,
} from '@openstack-operator/facts';
import type { Layer } from '../oslo/layers.ts';

/** Which options the files of a service may hold. */
export interface KnownOptions {
  /** The option of this place, or the one that took over from it. */
  readonly find: (group: string, name: string) => OptionFacts | undefined;
  /** The groups that there are. */
  readonly groups: () => ReadonlySet<string>;
  /** Names of the options of a group, its former ones left out. */
  readonly namesIn: (group: string) => readonly string[];
  /** The groups that have an option of this name. */
  readonly groupsWith: (name: string) => readonly string[];
}

/** What the facts say of a service and its plug-ins, whatever its files say. */
interface Static {
  readonly all: readonly ServiceFacts[];
  /** Group -> name -> option. */
  readonly groups: ReadonlyMap<string, ReadonlyMap<string, OptionFacts>>;
  readonly dynamic: readonly DynamicGroup[];
}

/** By release and service: the facts do not change, and are large. */
const loaded = new Map<string, Static | undefined>();

/**
 * The options of a service in a release; undefined when there are no facts of it (it has no options of oslo.config).
 * `layers`: all that its files say. They name further groups, such as stores of images, and how groups log in. Facts are
 * parsed when they are first needed.
 */
export function knownOptions(release: string, service: string, layers: readonly Layer[]): KnownOptions | undefined {
  const key = `${release}/${service}`;
  if (!loaded.has(key)) loaded.set(key, load(release, service));
  const known = loaded.get(key);
  return known && withLayers(known, release, layers);
}

function load(release: string, service: string): Static | undefined {
  const own = factsOf(release, service);
  if (own === undefined || own.options.length === 0) return undefined;
  const all = [own, ...pluginsOf(release, service)];
  const groups = new Map<string, Map<string, OptionFacts>>();
  for (const option of all.flatMap(({ options }) => options)) {
    const group = groups.get(option.group) ?? new Map<string, OptionFacts>();
    groups.set(option.group, group);
    if (!group.has(option.name)) group.set(option.name, option);
  }
  return { all, groups, dynamic: own.dynamicGroups };
}

function withLayers({ all, groups, dynamic }: Static, release: string, layers: readonly Layer[]): KnownOptions {
  const further = new Map<string, Map<string, OptionFacts>>();
  const add = (group: string, options: Iterable<OptionFacts>) => {
    const target = further.get(group) ?? new Map<string, OptionFacts>();
    further.set(group, target);
    for (const option of options) target.set(option.name, { ...option, group });
  };
  for (const { namedBy, keys, prefix = '', names = [], options, own = [] } of dynamic) {
    const values = namedBy === undefined ? [] : valuesOf(layers, ...namedBy);
    const said = values.map((name) => (keys === true ? (name.split(':')[0] ?? '') : name));
    for (const name of [...names, ...said])
      add(`${prefix}${name.trim()}`, [...options.flatMap((group) => [...(groups.get(group)?.values() ?? [])]), ...own]);
  }
  for (const section of new Set(layers.flatMap((layer) => Object.keys(layer)))) {
    const types = valuesOf(layers, section, 'auth_type');
    for (const type of types) add(section, authOptionsOf(release, type) ?? []);
    // The section that it names has the options of any plug-in: which one, that section says.
    for (const shared of valuesOf(layers, section, 'auth_section'))
      add(shared, [...typeOption(groups), ...authTypes(release).flatMap((type) => authOptionsOf(release, type) ?? [])]);
  }
  const find = (group: string, name: string) => groups.get(group)?.get(name) ?? further.get(group)?.get(name);
  const names = new Set([...groups.keys(), ...further.keys()]);
  return {
    find: (group, name) =>
      find(group, name) ??
      all.map((facts) => facts.renamed(group, name)).find((option) => option !== undefined) ??
      [...(further.get(group)?.values() ?? [])].find(({ deprecated }) =>
        deprecated.some(([, former]) => former === name),
      ),
    groups: () => names,
    namesIn: (group) => [...new Set([...(groups.get(group)?.keys() ?? []), ...(further.get(group)?.keys() ?? [])])],
    groupsWith: (name) => [...groups].flatMap(([group, options]) => (options.has(name) ? [group] : [])),
  };
}

/** The option that says how a section logs in, as any known section has it. */
function typeOption(groups: Static['groups']): readonly OptionFacts[] {
  const found = [...groups.values()].map((options) => options.get('auth_type')).find((option) => option !== undefined);
  return found === undefined ? [] : [found];
}

/** The elements of all values that layers give an option; what users say may be anything. */
function valuesOf(layers: readonly Layer[], group: string, name: string): string[] {
  return layers.flatMap((layer) => {
    const value: unknown = layer[group]?.[name];
    const elements: readonly unknown[] = Array.isArray(value)
      ? value
      : typeof value === 'string'
        ? value.split(',')
        : [];
    return elements.flatMap((element) =>
      typeof element === 'string' && element.trim() !== '' ? [element.trim()] : [],
    );
  });
}
