import type { KubeObject } from '@openstack-operator/kube';
import { type Data, overlaid } from '../../formats/data.ts';
import { writeData } from '../../formats/write-data.ts';
import { type Layer, layered } from '../../oslo/layers.ts';
import { disputedVariables, isAmongSecrets, splitSecrets } from '../../oslo/references.ts';
import { writeOsloFile } from '../../oslo/writer.ts';
import { credentialDigest } from '../names/credential-digest.ts';
import { digest } from '../names/digest.ts';
import { annotations, labelsOf } from '../names/names.ts';
import type { Mount } from '../vocabulary/component.ts';
import type { ConfigFiles, OsloSource } from '../vocabulary/config-files.ts';
import type { Context } from '../vocabulary/context.ts';
import type { Service } from '../vocabulary/service.ts';
import type { Desired } from '../vocabulary/step.ts';
import type { Surroundings } from '../vocabulary/surroundings.ts';
import { trustMounts } from '../vocabulary/trust.ts';

/** Files and variables that containers mount together: what of it changes rolls all that mount it, and nothing else. */
export interface ConfigSet {
  /** Name of the volume in the pod. */
  readonly volume: string;
  /** Name of the immutable ConfigMap; absent when the set has no files. */
  readonly configMap?: string;
  /** Path in the container -> key of the ConfigMap. */
  readonly paths: Readonly<Record<string, string>>;
  /** Name of the Secret that holds the files with secrets in them, if any: texts, and what no variable can carry. */
  readonly secretFiles?: string;
  /** Path in the container -> key of that Secret. */
  readonly secretPaths: Readonly<Record<string, string>>;
  /** Name of the Secret whose keys become environment variables (`OS_<GROUP>__<OPTION>`), if any. */
  readonly environment?: string;
  /** What programs read beside it, as it says. */
  readonly mounts: readonly Mount[];
  /** What its Secrets are resolved from: another digest rolls the pods. */
  readonly inputs: readonly string[];
  readonly objects: readonly Desired[];
}

/** Whose set it is. */
export interface ConfigOwner {
  readonly service: string;
  readonly instance: string;
  readonly namespace: string;
  readonly surroundings: Surroundings;
  /** What a set with these texts has programs read beside it. */
  readonly mounts: (configuration: string) => readonly Mount[];
}

/** Whose sets of configuration a resource's are. */
export function ownerOf(service: Service, context: Context): ConfigOwner {
  return {
    service: service.name,
    instance: context.name,
    namespace: context.namespace,
    surroundings: context.surroundings,
    mounts: (configuration) => trustMounts(configuration, service, context),
  };
}

/** What a set of configuration is made from. */
export interface ConfigSetInput {
  readonly name: string;
  readonly volume: string;
  readonly files: ConfigFiles;
  readonly user?: (file: string, source: OsloSource) => readonly Layer[];
  readonly userData?: Readonly<Record<string, Data>>;
}

/** The name of a file, by which users speak of it. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/**
 * Turns files into an immutable ConfigMap `<instance>-<name>-<digest>` and, for what is secret in them, a Secret
 * `<instance>-<name>` of environment variables; a Secret `<instance>-<name>-files` for files that have to hold theirs.
 * `user` gives the user's layers over an oslo.config file, lowest first; `userData` has the one over each file of data.
 */
export function configSet(owner: ConfigOwner, options: ConfigSetInput): ConfigSet {
  const { name, volume, files, user = () => [], userData = {} } = options;
  const data: Record<string, string> = {};
  const paths: Record<string, string> = {};
  const secretFiles: Record<string, string> = {};
  const secretPaths: Record<string, string> = {};
  const environment: Record<string, string> = {};
  const sources = Object.entries(files).map(([path, content]) => {
    const key = fileName(path);
    if (typeof content === 'string') return { path, key, text: content };
    if ('oslo' in content)
      return { path, key, oslo: layered(content.oslo, ...user(key, content)), whole: content.whole };
    return { path, key, text: writeData(content.format, overlaid(content.data, userData[key])) };
  });
  const disputed = disputedVariables(sources.flatMap(({ oslo }) => (oslo === undefined ? [] : [oslo])));
  for (const { path, key, text, oslo, whole = false } of sources) {
    if (key in data || key in secretFiles)
      throw new Error(`${owner.instance}: two files named ${key} in one set of configuration`);
    if (oslo === undefined) (isAmongSecrets(text) ? secretFiles : data)[key] = text;
    else {
      const split = splitSecrets(oslo);
      const isDisputed = Object.keys(split.environment).some((variable) => whole || disputed.has(variable));
      if (isDisputed) secretFiles[key] = writeOsloFile(oslo);
      else if (split.secret === undefined) data[key] = writeOsloFile(split.plain);
      else secretFiles[key] = writeOsloFile(layered(split.plain, split.secret));
      if (!isDisputed) Object.assign(environment, split.environment);
    }
    if (key in secretFiles) secretPaths[path] = key;
    else paths[path] = key;
  }
  const labels = labelsOf(owner.service, owner.instance);
  const objects: Desired[] = [];
  const hasFiles = Object.keys(data).length > 0;
  const configMap = `${owner.instance}-${name}-${digest(data)}`;
  if (hasFiles) {
    const metadata = { name: configMap, namespace: owner.namespace, labels };
    objects.push({ verb: 'apply', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata, immutable: true, data } });
  }
  const secret = `${owner.instance}-${name}`;
  const hasSecrets = Object.keys(environment).length > 0;
  if (hasSecrets) objects.push(resolvedSecret(owner, secret, environment));
  const hasSecretFiles = Object.keys(secretFiles).length > 0;
  if (hasSecretFiles) objects.push(resolvedSecret(owner, `${secret}-files`, secretFiles));
  return {
    volume,
    ...(hasFiles ? { configMap } : {}),
    paths,
    ...(hasSecrets ? { environment: secret } : {}),
    ...(hasSecretFiles ? { secretFiles: `${secret}-files` } : {}),
    secretPaths,
    mounts: owner.mounts(JSON.stringify([data, secretFiles, environment])),
    inputs: objects.flatMap((desired) => (desired.verb === 'resolve' ? [inputsOf(desired.object)] : [])),
    objects,
  };
}

/**
 * Digest of what an object was made from. For a resolved Secret it says all that its digest would say, and is known
 * before the Secret is there: what depends on it is right the first time.
 */
export function inputsOf(object: KubeObject): string {
  return object.metadata.annotations?.[annotations.inputs] ?? '';
}

/** A Secret of templates; its annotation tells from which template and which source values it was resolved last. */
export function resolvedSecret(
  owner: Omit<ConfigOwner, 'mounts'>,
  name: string,
  stringData: Record<string, string>,
): Desired {
  const sources = [...JSON.stringify(stringData).matchAll(/\{\{([a-z0-9.-]+)\//g)].map(([, secret = '']) => secret);
  const { digest, digestKeyId } = owner.surroundings;
  const digests = sources.map((secret) => digest(secret) ?? null);
  const inputs = credentialDigest(digestKeyId, { template: { stringData }, whole: { stringData, digests } });
  return {
    verb: 'resolve',
    object: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        namespace: owner.namespace,
        labels: labelsOf(owner.service, owner.instance),
        annotations: { [annotations.inputs]: inputs },
      },
      type: 'Opaque',
      stringData,
    },
  };
}
