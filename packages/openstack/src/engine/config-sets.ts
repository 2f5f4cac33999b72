import { knownOptions } from '../options/known-options.ts';
import { type Layer, layered } from '../oslo/layers.ts';
import type { Component } from './component.ts';
import { type ConfigOwner, type ConfigSet, configSet } from './config.ts';
import type { Context } from './context.ts';
import { ownedByProviders } from './owned-options.ts';
import { withPeers } from './peers.ts';
import type { ConfigFiles, OsloSource, Service } from './service.ts';
import type { Problem } from './step.ts';
import { type OwnedOptions, type UserConfig, userConfig, type WrittenConfig } from './user-config.ts';

/** All sets of configuration of a resource, and what is wrong with what users say in them. */
export interface ConfigSets {
  readonly byName: Readonly<Record<string, ConfigSet>>;
  /** Sets of components that users configure apart from the others. */
  readonly ofComponents: Readonly<Record<string, ConfigSet>>;
  readonly problems: readonly Problem[];
  /** What is to be mended, and was rolled out before. */
  readonly degraded: readonly string[];
  /** What is as it should be, all the same. */
  readonly remarks: readonly string[];
}

/**
 * The sets that a definition names, with the layers of users over them: the definition, then what `spec.config` says
 * of the file, then what it says of the component, then what a definition adds (a node group's). A component that is
 * configured by itself has a set of its own, so that its edits reach nobody else.
 */
export function configSets(
  service: Service,
  context: Context,
  options: { owner: ConfigOwner; components: Readonly<Record<string, Component>> },
): ConfigSets {
  const { owner, components } = options;
  const sets = withPeers(service, context, service.config?.(context) ?? {});
  const sources = Object.values(sets).flatMap((files) =>
    Object.values(files).flatMap((content) => (typeof content === 'string' ? [] : [content])),
  );
  const written = sources.map(({ oslo }) => oslo);
  const config = context.spec.config as WrittenConfig | undefined;
  const said = [config, ...sources.flatMap(({ more = [] }) => more.map((layer) => layer.config))].flatMap((one) =>
    Object.values(one ?? {}).flatMap((sections) => sections ?? []),
  ) as readonly Layer[];
  const known = said.length === 0 ? undefined : knownOptions(context.release.name, service.name, [...written, ...said]);
  const found: UserConfig[] = [];
  const checked = (
    config: WrittenConfig | undefined,
    path: string,
    names: readonly string[],
    more: OwnedOptions = {},
  ) => {
    const owned = layered(ownedByProviders(service, written), service.owned ?? {}, more) as OwnedOptions;
    const allowsUnknown = context.spec.unknownOptions === 'Allow';
    const result = userConfig(config, {
      path,
      names,
      owned,
      known,
      allowsUnknown,
      isRunning: context.surroundings.wasReady,
    });
    found.push(result);
    return result.layers;
  };
  const files = [...new Set(Object.values(sets).flatMap(osloFiles))];
  const names = Object.entries(components)
    .filter(([, component]) => primaryFile(sets[component.config ?? 'main']) !== undefined)
    .map(([name, component]) => component.variantOf ?? name);
  const layers = checked(config, 'spec.config', [...files, ...new Set(names)]);
  const user =
    (primary: string | undefined, component: Layer | undefined) =>
    (file: string, { takes = () => true, more = [] }: OsloSource): Layer[] => [
      Object.fromEntries(Object.entries(layers[file] ?? {}).filter(([section]) => takes(section))),
      ...(file === primary && component !== undefined ? [component] : []),
      ...more.map(({ path, config, owned }) => checked(config, path, [file], owned)[file] ?? {}),
    ];
  const byName = Object.entries(sets).map(([name, files]) => {
    const base = name === 'main' ? 'config' : `${name}-config`;
    return [name, configSet(owner, { name: base, volume: 'config', files, user: user(undefined, undefined) })] as const;
  });
  const ofComponents = Object.entries(components).flatMap(([name, component]) => {
    const layer = layers[component.variantOf ?? name];
    const files = sets[component.config ?? 'main'];
    const primary = primaryFile(files);
    if (layer === undefined || files === undefined || primary === undefined) return [];
    const own = configSet(owner, { name: `${name}-own-config`, volume: 'config', files, user: user(primary, layer) });
    return [[name, own] as const];
  });
  return {
    byName: Object.fromEntries(byName),
    ofComponents: Object.fromEntries(ofComponents),
    problems: distinct(found.flatMap(({ problems }) => problems)),
    degraded: [...new Set(found.flatMap(({ degraded }) => degraded))],
    remarks: [...new Set(found.flatMap(({ remarks }) => remarks))],
  };
}

/** Names of the oslo.config files of a set. */
function osloFiles(files: ConfigFiles): string[] {
  return Object.entries(files)
    .filter(([, content]) => typeof content !== 'string')
    .map(([path]) => path.slice(path.lastIndexOf('/') + 1));
}

/** The file that a component's own options go to: the first of its set. */
function primaryFile(files: ConfigFiles | undefined): string | undefined {
  return files === undefined ? undefined : osloFiles(files)[0];
}

function distinct(problems: readonly Problem[]): Problem[] {
  return [...new Map(problems.map((problem) => [problem.message, problem])).values()];
}
