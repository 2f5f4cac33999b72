import type { IContainer, IEnvVarSource } from 'kubernetes-models/v1';
import { ConfigMap, type Pod, Secret, Service, type Stored } from '../cluster/kinds.ts';
import type { ObjectReader } from '../cluster/object-source.ts';
import { type DownwardFacts, fieldValue, resourceValue } from './downward-api.ts';
import { expandVariables } from './expand.ts';

/**
 * The environment of a container as the kubelet makes it (makeEnvironmentVariables in pkg/kubelet/kubelet_pods.go):
 * Service links, then `envFrom`, then `env` with `$(NAME)` expanded. The image's own variables come from the runtime,
 * below all of these.
 * @throws Error with the kubelet's words when a ConfigMap, a Secret or a key is not there (CreateContainerConfigError)
 */
export function containerEnvironment(
  pod: Stored<Pod>,
  container: IContainer,
  facts: DownwardFacts,
  objects: ObjectReader,
): Record<string, string> {
  const links = serviceLinks(pod, objects);
  const env: Record<string, string> = {};
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    if (configMapRef) {
      const data = configMapData(pod, configMapRef.name ?? '', configMapRef.optional, objects);
      for (const [key, value] of Object.entries(data ?? {})) env[prefix + key] = value;
    } else if (secretRef) {
      const data = secretData(pod, secretRef.name ?? '', secretRef.optional, objects);
      for (const [key, value] of Object.entries(data ?? {})) env[prefix + key] = value;
    }
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const result = value
      ? expandVariables(value, (variable) => env[variable] ?? links[variable])
      : valueFrom
        ? sourceValue(pod, container, facts, objects, valueFrom)
        : '';
    if (result !== undefined) env[name] = result;
  }
  return { ...links, ...env };
}

/** Undefined: an optional reference that leads nowhere. */
function sourceValue(
  pod: Stored<Pod>,
  container: IContainer,
  facts: DownwardFacts,
  objects: ObjectReader,
  source: IEnvVarSource,
): string | undefined {
  const { configMapKeyRef, secretKeyRef, fieldRef, resourceFieldRef } = source;
  if (fieldRef) return fieldValue(pod, facts, fieldRef);
  if (resourceFieldRef) {
    const named = resourceFieldRef.containerName;
    const target = named ? pod.spec.containers.find(({ name }) => name === named) : container;
    return resourceValue(target, facts, resourceFieldRef);
  }
  const reference = configMapKeyRef ?? secretKeyRef;
  if (!reference) return '';
  const kind = configMapKeyRef ? 'ConfigMap' : 'Secret';
  const read = configMapKeyRef ? configMapData : secretData;
  const value = read(pod, reference.name ?? '', reference.optional, objects)?.[reference.key];
  if (value === undefined && !reference.optional) {
    throw new Error(`couldn't find key ${reference.key} in ${kind} ${pod.metadata.namespace}/${reference.name}`);
  }
  return value;
}

/** A ConfigMap's texts. Undefined when it is missing and may be. @throws Error `configmap "x" not found` */
export function configMapData(
  pod: Stored<Pod>,
  name: string,
  optional: boolean | undefined,
  objects: ObjectReader,
): Readonly<Record<string, string>> | undefined {
  const configMap = objects.get(ConfigMap, `${pod.metadata.namespace}/${name}`);
  if (!configMap && !optional) throw new Error(`configmap "${name}" not found`);
  return configMap && (configMap.data ?? {});
}

/** A Secret's values, decoded. Undefined when it is missing and may be. @throws Error `secret "x" not found` */
export function secretData(
  pod: Stored<Pod>,
  name: string,
  optional: boolean | undefined,
  objects: ObjectReader,
): Readonly<Record<string, string>> | undefined {
  const secret = objects.get(Secret, `${pod.metadata.namespace}/${name}`);
  if (!secret && !optional) throw new Error(`secret "${name}" not found`);
  return secret && decodeSecret(secret);
}

/** A Secret's `data` as text. */
export function decodeSecret(secret: Stored<Secret>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}

/** `{SERVICE}_SERVICE_HOST` and its kin; `KUBERNETES_*` even when the pod wants no links (pkg/kubelet/envvars). */
function serviceLinks(pod: Stored<Pod>, objects: ObjectReader): Record<string, string> {
  const links: Record<string, string> = {};
  const services = pod.spec.enableServiceLinks === false ? [] : objects.list(Service, pod.metadata.namespace ?? '');
  const kubernetes = objects.get(Service, 'default/kubernetes');
  for (const service of kubernetes ? [...services, kubernetes] : services) {
    const { clusterIP, ports = [] } = service.spec;
    const [first] = ports;
    if (!clusterIP || clusterIP === 'None' || first === undefined) continue;
    const prefix = variableName(service.metadata.name);
    links[`${prefix}_SERVICE_HOST`] = clusterIP;
    links[`${prefix}_SERVICE_PORT`] = String(first.port);
    links[`${prefix}_PORT`] = `${(first.protocol ?? 'TCP').toLowerCase()}://${clusterIP}:${first.port}`;
    for (const { name, port, protocol = 'TCP' } of ports) {
      if (name) links[`${prefix}_SERVICE_PORT_${variableName(name)}`] = String(port);
      const own = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
      links[own] = `${protocol.toLowerCase()}://${clusterIP}:${port}`;
      links[`${own}_PROTO`] = protocol.toLowerCase();
      links[`${own}_PORT`] = String(port);
      links[`${own}_ADDR`] = clusterIP;
    }
  }
  return links;
}

function variableName(name: string): string {
  return name.replaceAll('-', '_').toUpperCase();
}
