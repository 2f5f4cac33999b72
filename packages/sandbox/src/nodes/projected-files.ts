import type { IKeyToPath, IPodSpec, IVolume } from 'kubernetes-models/v1';
import { ConfigMap, type Pod, Secret, type Stored } from '../cluster/kinds.ts';
import type { ObjectReader } from '../cluster/object-source.ts';
import { applyFsGroup, type DirectoryNode, directoryNode, fileNode, plant, segments } from '../programs/file-tree.ts';
import { type DownwardFacts, fieldValue, resourceValue } from './downward-api.ts';
import { decodeSecret } from './environment.ts';

/** What a file of a ConfigMap, Secret, downward API or projected volume holds. */
export interface ProjectedFile {
  readonly content: string;
  readonly mode: number;
}

const DEFAULT_MODE = 0o644;

/**
 * The files of a volume that is made from objects: path -> file; undefined for every other sort of volume.
 * @throws Error with the kubelet's words when an object or a key is missing (FailedMount)
 */
export function projectedFiles(
  pod: Stored<Pod>,
  volume: IVolume,
  facts: DownwardFacts,
  objects: ObjectReader,
): Map<string, ProjectedFile> | undefined {
  const files = new Map<string, ProjectedFile>();
  const { configMap, secret, downwardAPI, projected } = volume;
  if (configMap) {
    addConfigMap(files, pod, configMap, configMap.defaultMode ?? DEFAULT_MODE, objects);
  } else if (secret) {
    const source = { ...secret, name: secret.secretName ?? '' };
    addSecret(files, pod, source, secret.defaultMode ?? DEFAULT_MODE, objects);
  } else if (downwardAPI) {
    addDownward(files, pod, downwardAPI.items ?? [], downwardAPI.defaultMode ?? DEFAULT_MODE, facts);
  } else if (projected) {
    const mode = projected.defaultMode ?? DEFAULT_MODE;
    for (const source of projected.sources ?? []) {
      if (source.configMap) addConfigMap(files, pod, source.configMap, mode, objects);
      else if (source.secret) addSecret(files, pod, source.secret, mode, objects);
      else if (source.downwardAPI) addDownward(files, pod, source.downwardAPI.items ?? [], mode, facts);
      else if (source.serviceAccountToken) {
        const token = `sandbox.${pod.metadata.namespace}.${pod.spec.serviceAccountName ?? 'default'}`;
        files.set(source.serviceAccountToken.path, { content: token, mode });
      } else {
        throw new Error(`the sandbox does not serve this source of a projected volume: ${Object.keys(source).join()}`);
      }
    }
  } else {
    return undefined;
  }
  return files;
}

/** Names of the ConfigMaps and Secrets that a volume is made from. */
export function projectedSources(volume: IVolume): { configMaps: string[]; secrets: string[] } {
  const sources = volume.projected?.sources ?? [];
  const configMaps = [volume.configMap, ...sources.map(({ configMap }) => configMap)].map((source) => source?.name);
  const secrets = [volume.secret?.secretName, ...sources.map(({ secret }) => secret?.name)];
  const present = (name: string | undefined): name is string => name !== undefined;
  return { configMaps: configMaps.filter(present), secrets: secrets.filter(present) };
}

interface Source {
  readonly name?: string;
  readonly optional?: boolean;
  readonly items?: readonly IKeyToPath[];
}

function addConfigMap(
  files: Map<string, ProjectedFile>,
  pod: Stored<Pod>,
  source: Source,
  mode: number,
  objects: ObjectReader,
): void {
  const configMap = objects.get(ConfigMap, `${pod.metadata.namespace}/${source.name}`);
  if (!configMap && !source.optional) throw new Error(`configmap "${source.name}" not found`);
  const binary = Object.entries(configMap?.binaryData ?? {}).map(([key, value]) => [
    key,
    Buffer.from(value, 'base64').toString(),
  ]);
  const data: Record<string, string> = { ...configMap?.data, ...Object.fromEntries(binary) };
  addKeys(files, data, source, mode, 'configmap references non-existent config key: ');
}

function addSecret(
  files: Map<string, ProjectedFile>,
  pod: Stored<Pod>,
  source: Source,
  mode: number,
  objects: ObjectReader,
): void {
  const secret = objects.get(Secret, `${pod.metadata.namespace}/${source.name}`);
  if (!secret && !source.optional) throw new Error(`secret "${source.name}" not found`);
  addKeys(files, secret ? decodeSecret(secret) : {}, source, mode, 'references non-existent secret key: ');
}

function addKeys(
  files: Map<string, ProjectedFile>,
  data: Readonly<Record<string, string>>,
  source: Source,
  mode: number,
  complaint: string,
): void {
  if (!source.items?.length) {
    for (const [key, content] of Object.entries(data)) files.set(key, { content, mode });
    return;
  }
  for (const item of source.items) {
    const content = data[item.key];
    if (content !== undefined) files.set(item.path, { content, mode: item.mode ?? mode });
    else if (!source.optional) throw new Error(`${complaint}${item.key}`);
  }
}

function addDownward(
  files: Map<string, ProjectedFile>,
  pod: Stored<Pod>,
  items: NonNullable<NonNullable<IVolume['downwardAPI']>['items']>,
  mode: number,
  facts: DownwardFacts,
): void {
  for (const item of items) {
    const named = item.resourceFieldRef?.containerName;
    const container = allContainers(pod.spec).find(({ name }) => name === named);
    const content = item.fieldRef
      ? fieldValue(pod, facts, item.fieldRef)
      : item.resourceFieldRef
        ? resourceValue(container, facts, item.resourceFieldRef)
        : '';
    files.set(item.path, { content, mode: item.mode ?? mode });
  }
}

function allContainers(spec: IPodSpec) {
  return [...(spec.initContainers ?? []), ...spec.containers];
}

/**
 * Writes the files as the kubelet's AtomicWriter does (pkg/volume/util/atomic_writer.go): into a new `..<stamp>`
 * directory, `..data` linked to it, and a link for every first name. What was bound by subPath keeps the old file.
 * @param stamp tells versions apart, such as `2026_01_02_03_04_05.123456789`
 */
export function writeProjectedFiles(
  root: DirectoryNode,
  files: ReadonlyMap<string, ProjectedFile>,
  stamp: string,
  fsGroup: number | undefined,
): void {
  const version = directoryNode();
  for (const [path, { content, mode }] of files) plant(version, path, fileNode(content, { mode }));
  if (fsGroup !== undefined) applyFsGroup(version, fsGroup, true);
  root.children.clear();
  root.children.set(`..${stamp}`, version);
  const link = (name: string, target: string) =>
    root.children.set(name, { type: 'link', target, mode: 0o777, uid: 0, gid: 0 });
  link('..data', `..${stamp}`);
  for (const path of files.keys()) {
    const [first = ''] = segments(path);
    link(first, `..data/${first}`);
  }
}
