import type { KubeObject } from '@openstack-operator/kube';
import type { Failure } from './failure.ts';
import type { Objects } from './mistakes.ts';

/** Label of all copies of one failure. */
export const copyLabel = 'failures.example.com/copy';

/** Copies of what takes part in a failure, with its mistakes: beside the originals, which nothing leads to them. */
export interface Copies {
  /** ConfigMaps, Secrets and Services. */
  readonly objects: readonly KubeObject[];
  /** Pods, in the order in which they begin; the last one is watched. */
  readonly pods: readonly KubeObject[];
}

type Tree = Record<string, unknown>;

interface Template {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: Tree;
}

/**
 * Makes the copies. Nothing that runs is touched by them: they have no owner, no labels that a Service or a workload
 * selects, and empty directories where the originals have volumes and the node's own directories.
 */
export function copiesFor(failure: Failure, objects: Objects, changed: Objects, id: string): Copies {
  const find = (name: string) => {
    const object = changed.get(name) ?? objects.get(name);
    if (object === undefined) throw new Error(`${failure.what}: the cloud has no ${name}`);
    return object;
  };
  const nameOf = ({ metadata }: KubeObject) => `${id}-${metadata.name}`.slice(0, 63).replace(/-+$/, '');
  const names = [...(failure.before ?? []), failure.run];
  const workloads = names.map(find);
  const services = new Map<string, KubeObject>();
  for (const [title, { kind }] of objects) {
    if (kind !== 'Service') continue;
    const service = find(title);
    const { selector } = service['spec'] as { selector?: Record<string, string> };
    const leadsTo = workloads.find(
      (workload, index) =>
        (index < workloads.length - 1 || workload.kind === 'StatefulSet') &&
        selector !== undefined &&
        isSubset(selector, templateOf(workload).metadata?.labels ?? {}),
    );
    if (leadsTo === undefined && !changed.has(title)) continue;
    services.set(service.metadata.name ?? '', serviceCopy(service, nameOf(service), leadsTo && nameOf(leadsTo), id));
  }
  const redirected = (text: string) =>
    [...services].reduce(
      (all, [name, copy]) =>
        all.replaceAll(new RegExp(String.raw`(?<![\w-])${name}(?=\.[\w-]+\.svc)`, 'g'), copy.metadata.name ?? ''),
      text,
    );
  const data = new Map<string, KubeObject>();
  const texts: string[] = [];
  const pods = workloads.map((workload) => {
    const references = new Map<string, string>();
    for (const object of referencedBy(templateOf(workload).spec, [...objects.values()])) {
      const title = [...objects].find(([, one]) => one === object)?.[0] ?? '';
      const now = redirectedData(changed.get(title) ?? object, redirected);
      texts.push(...plain(now));
      if (JSON.stringify(now['data']) === JSON.stringify(object['data'])) continue;
      const copy = { apiVersion: 'v1', kind: object.kind, metadata: metadata(nameOf(object), id), data: now['data'] };
      data.set(`${object.kind} ${object.metadata.name}`, copy);
      references.set(`${object.kind} ${object.metadata.name}`, nameOf(object));
    }
    const { serviceName } = workload['spec'] as { serviceName?: string };
    const subdomain = services.get(serviceName ?? '')?.metadata.name;
    const spec = JSON.parse(redirected(JSON.stringify(podSpecOf(workload)))) as Tree;
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: metadata(nameOf(workload), id, {
        // What lets a pod of the cloud through its network policies; Services select by more.
        'app.kubernetes.io/part-of': 'openstack',
        'app.kubernetes.io/name': templateOf(workload).metadata?.labels?.['app.kubernetes.io/name'] ?? '',
        [`${copyLabel}-of`]: nameOf(workload),
      }),
      spec: {
        ...withReferences(spec, references),
        ...(subdomain !== undefined && { hostname: nameOf(workload), subdomain }),
      },
    };
  });
  demandOwnCache(failure, workloads, texts);
  return { objects: [...data.values(), ...services.values()], pods };
}

/** What a program finds in another database must not get into the cache of the cloud. @throws Error */
function demandOwnCache({ what }: Failure, workloads: readonly KubeObject[], texts: readonly string[]): void {
  const isCopied = (service: string) =>
    workloads.some(({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] === service);
  if (isCopied('mariadb') && !isCopied('memcached') && texts.some((text) => /memcached[\w-]*\.[\w-]+\.svc/.test(text)))
    throw new Error(`${what}: a copy of the database needs one of memcached: add its Deployment to \`before\``);
}

/** The texts of a ConfigMap or a Secret. */
function plain({ kind, data }: KubeObject): string[] {
  const values = Object.values((data ?? {}) as Record<string, string>);
  return kind === 'Secret' ? values.map((value) => Buffer.from(value, 'base64').toString()) : values;
}

function templateOf({ kind, metadata, spec }: KubeObject): Template {
  const { template } = (spec ?? {}) as { template?: Template };
  if (template === undefined) throw new Error(`${kind} ${metadata.name} has no pod template: it cannot be run`);
  return template;
}

function metadata(name: string, id: string, labels: Record<string, string> = {}): KubeObject['metadata'] {
  return { name, namespace: 'openstack', labels: { ...labels, [copyLabel]: id } };
}

function isSubset(part: Readonly<Record<string, string>>, whole: Readonly<Record<string, string>>): boolean {
  return Object.entries(part).every(([key, value]) => whole[key] === value);
}

/** A Service under another name: to the copies of its pods where these have any, else to wherever it leads. */
function serviceCopy(service: KubeObject, name: string, podName: string | undefined, id: string): KubeObject {
  const { ports, selector, clusterIP, publishNotReadyAddresses } = service['spec'] as Tree;
  const kept = { ports, ...(clusterIP === 'None' && { clusterIP, publishNotReadyAddresses }) };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata(name, id),
    spec: { ...kept, selector: podName === undefined ? selector : { [`${copyLabel}-of`]: podName } },
  };
}

/** A workload's pod, which runs once, asks for nothing, and keeps nothing. */
function podSpecOf(workload: KubeObject): Tree {
  const { volumeClaimTemplates = [] } = workload['spec'] as { volumeClaimTemplates?: { metadata: { name: string } }[] };
  const { topologySpreadConstraints: _, affinity: __, priorityClassName: ___, ...spec } = templateOf(workload).spec;
  const volumes = ((spec['volumes'] ?? []) as Tree[]).map((volume) => {
    const { hostPath } = volume as { hostPath?: { path: string } };
    // Nothing starts without devices; they are nobody's state.
    const kept = hostPath === undefined ? !('persistentVolumeClaim' in volume) : hostPath.path === '/dev';
    return kept ? volume : { name: volume['name'], emptyDir: {} };
  });
  const frugal = (containers: unknown) =>
    (containers as Tree[]).map(({ resources, ...container }) => ({
      ...container,
      resources: { ...(resources as Tree), requests: { cpu: '1m', memory: '1Mi' } },
    }));
  return {
    ...spec,
    volumes: [...volumes, ...volumeClaimTemplates.map(({ metadata }) => ({ name: metadata.name, emptyDir: {} }))],
    containers: frugal(spec['containers']),
    ...(spec['initContainers'] !== undefined && { initContainers: frugal(spec['initContainers']) }),
    restartPolicy: 'Never',
  };
}

/** Where a pod's spec names a ConfigMap or a Secret. */
const holders: Readonly<Record<string, { kind: string; field: string }>> = {
  configMap: { kind: 'ConfigMap', field: 'name' },
  configMapRef: { kind: 'ConfigMap', field: 'name' },
  configMapKeyRef: { kind: 'ConfigMap', field: 'name' },
  secret: { kind: 'Secret', field: 'secretName' },
  secretRef: { kind: 'Secret', field: 'name' },
  secretKeyRef: { kind: 'Secret', field: 'name' },
};

function referencedBy(spec: Tree, objects: readonly KubeObject[]): KubeObject[] {
  const named = new Set<string>();
  withReferences(spec, { get: (title) => void named.add(title) });
  return objects.filter(({ kind, metadata }) => named.has(`${kind} ${metadata.name}`));
}

/** The spec with other names for what is in the map. */
function withReferences<T>(value: T, names: { get(title: string): string | undefined | void }, holder?: string): T {
  if (Array.isArray(value)) return value.map((element) => withReferences(element as unknown, names)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const { kind, field } = holders[holder ?? ''] ?? {};
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === field ? (names.get(`${kind} ${String(inner)}`) ?? inner) : withReferences(inner as unknown, names, key),
    ]),
  ) as T;
}

function redirectedData(object: KubeObject, redirected: (text: string) => string): KubeObject {
  const encoded = object.kind === 'Secret';
  const data = Object.entries((object['data'] ?? {}) as Record<string, string>).map(([key, value]) => {
    if (!encoded) return [key, redirected(value)];
    const text = Buffer.from(value, 'base64').toString();
    // Keys may be bytes that are no text.
    return [key, redirected(text) === text ? value : Buffer.from(redirected(text)).toString('base64')];
  });
  return { ...object, data: Object.fromEntries(data) as unknown };
}
