import type { Data } from '../../formats/data.ts';
import { knownOptions } from '../../options/known-options.ts';
import { type Layer, layered } from '../../oslo/layers.ts';
import { ownValue } from '../names/own-value.ts';
import type { Component } from '../vocabulary/component.ts';
import type { ConfigFiles, DataSource, OsloSource } from '../vocabulary/config-files.ts';
import type { Context } from '../vocabulary/context.ts';
import { withPeers } from '../vocabulary/peers.ts';
import type { Service } from '../vocabulary/service.ts';
import type { Problem } from '../vocabulary/step.ts';
import { type ConfigOwner, type ConfigSet, type ConfigSetInput, configSet, fileName } from './config.ts';
import { ownedByProviders } from './owned-options.ts';
import { withPolicy } from './policy-file.ts';
import { type OwnedOptions, type UserConfig, userConfig, type WrittenConfig } from './user-config.ts';
import { userData } from './user-data.ts';

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
  const policy = withPolicy(service, context, withPeers(service, context, service.config?.(context) ?? {}), components);
  const { sets } = policy;
  const sources = Object.values(sets).flatMap((files) =>
    Object.values(files).flatMap((content) => (isOslo(content) ? [content] : [])),
  );
  const written = sources.map(({ oslo }) => oslo);
  const ownedBySources = sources.map(({ owned = {} }) => owned);
  const data = dataOf(sets, (context.spec.config ?? {}) as Readonly<Record<string, Data | null>>);
  const config = data.others as WrittenConfig;
  const said = [config, ...sources.flatMap(({ more = [] }) => more.map((layer) => layer.config))].flatMap((one) =>
    Object.values(one ?? {}).flatMap((sections) => sections ?? []),
  ) as readonly Layer[];
  const known =
    said.length === 0
      ? undefined
      : knownOptions(context.release.name, service.facts ?? service.name, [...written, ...said]);
  const found: UserConfig[] = [];
  const checked = (
    config: WrittenConfig | undefined,
    path: string,
    names: readonly string[],
    more: OwnedOptions = {},
  ) => {
    const ofService = [ownedByProviders(service, written), service.owned ?? {}, policy.owned, ...ownedBySources];
    const owned = layered(...ofService, more) as OwnedOptions;
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
  const layers = checked(config, 'spec.config', [...files, ...data.names, ...new Set(names)]);
  const user =
    (primary: string | undefined, component: Layer | undefined) =>
    (file: string, { takes = () => true, more = [] }: OsloSource): Layer[] => [
      Object.fromEntries(Object.entries(layers[file] ?? {}).filter(([section]) => takes(section))),
      ...(file === primary && component !== undefined ? [component] : []),
      ...more.map(({ path, config, owned }) => checked(config, path, [file], owned)[file] ?? {}),
    ];
  const setOf = (set: Pick<ConfigSetInput, 'name' | 'files' | 'user'>) =>
    configSet(owner, { ...set, volume: 'config', userData: data.layers });
  const byName = Object.entries(sets).map(([name, files]) => {
    const base = name === 'main' ? 'config' : `${name}-config`;
    return [name, setOf({ name: base, files, user: user(undefined, undefined) })] as const;
  });
  const ofComponents = Object.entries(components).flatMap(([name, component]) => {
    const layer = layers[component.variantOf ?? name];
    const files = sets[component.config ?? 'main'];
    const primary = primaryFile(files);
    if (layer === undefined || files === undefined || primary === undefined) return [];
    return [[name, setOf({ name: `${name}-own-config`, files, user: user(primary, layer) })] as const];
  });
  return {
    byName: Object.fromEntries(byName),
    ofComponents: Object.fromEntries(ofComponents),
    problems: distinct([...[policy, ...found].flatMap(({ problems }) => problems), ...data.problems]),
    degraded: [...new Set([policy, ...found].flatMap(({ degraded }) => degraded))],
    remarks: [...new Set([policy, ...found].flatMap(({ remarks }) => remarks))],
  };
}

/** What users say of files of data, and what they say of others; `names` are those of the files of data. */
function dataOf(sets: Readonly<Record<string, ConfigFiles>>, said: Readonly<Record<string, Data | null>>) {
  const sources = new Map(Object.values(sets).flatMap(dataFiles));
  const layers: Record<string, Data> = {};
  const problems: Problem[] = [];
  for (const [file, source] of sources) {
    const layer = ownValue(said, file) ?? undefined;
    if (layer === undefined) continue;
    const checked = userData(source, layer, `spec.config[${JSON.stringify(file)}]`);
    problems.push(...checked.problems);
    if (checked.layer !== undefined) layers[file] = checked.layer;
  }
  const others = Object.fromEntries(Object.entries(said).filter(([file]) => !sources.has(file)));
  return { layers, problems, others, names: [...sources.keys()] };
}

/** Names of the oslo.config files of a set. */
function osloFiles(files: ConfigFiles): string[] {
  return Object.entries(files)
    .filter(([, content]) => isOslo(content))
    .map(([path]) => fileName(path));
}

/** The files of data of a set, by name. */
function dataFiles(files: ConfigFiles): [string, DataSource][] {
  return Object.entries(files).flatMap(([path, content]): [string, DataSource][] =>
    typeof content !== 'string' && !isOslo(content) ? [[fileName(path), content]] : [],
  );
}

function isOslo(content: ConfigFiles[string]): content is OsloSource {
  return typeof content === 'object' && 'oslo' in content;
}

/** The file that a component's own options go to: the first of its set. */
function primaryFile(files: ConfigFiles | undefined): string | undefined {
  return files === undefined ? undefined : osloFiles(files)[0];
}

function distinct(problems: readonly Problem[]): Problem[] {
  return [...new Map(problems.map((problem) => [problem.message, problem])).values()];
}
