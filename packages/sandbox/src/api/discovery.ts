import { apiVersionOf } from '@openstack-operator/kube';
import type { Registry, ServedType } from './registry.ts';
import { OFFERED_SUBRESOURCES } from './subresources.ts';

/** The order in which a real API server names its groups; others follow by name. */
const GROUP_ORDER = [
  '',
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
];

/** One group with its versions, preferred first. */
export interface ServedGroup {
  readonly name: string;
  readonly versions: readonly { readonly version: string; readonly types: readonly ServedType[] }[];
}

/** Everything that is served, in the order of discovery. */
export function servedGroups(registry: Registry): ServedGroup[] {
  const groups = Map.groupBy(registry.all(), (served) => served.type.kind.group);
  const rank = (name: string) => {
    const index = GROUP_ORDER.indexOf(name);
    return index < 0 ? GROUP_ORDER.length : index;
  };
  return [...groups]
    .sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(([name, types]) => ({
      name,
      versions: [...Map.groupBy(types, (served) => served.type.kind.version)]
        .sort(([a], [b]) => compareVersions(a, b))
        .map(([version, inVersion]) => ({
          version,
          types: inVersion.sort((a, b) => (a.type.kind.plural < b.type.kind.plural ? -1 : 1)),
        })),
    }));
}

/** Negative when `a` is preferred: v2 before v1 before v1beta1 before v1alpha1 (apimachinery/pkg/version). */
export function compareVersions(a: string, b: string): number {
  const rank = (version: string): number[] => {
    const found = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
    if (!found) return [-1, 0, 0];
    const stage = { alpha: 0, beta: 1 }[found[2] ?? ''] ?? 2;
    return [stage, Number(found[1]), Number(found[3] ?? 0)];
  };
  const [rankA, rankB] = [rank(a), rank(b)];
  for (const [index, mine] of rankA.entries()) {
    const difference = (rankB[index] ?? 0) - mine;
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : 1;
}

/** `/api`. */
export function coreVersions(): unknown {
  const address = { clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1' };
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [address] };
}

/** `/apis`. */
export function groupList(registry: Registry): unknown {
  const groups = servedGroups(registry).filter(({ name }) => name !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(describeGroup) };
}

/** `/apis/<group>`; undefined when nothing of it is served. */
export function groupOf(registry: Registry, name: string): unknown {
  const group = servedGroups(registry).find((candidate) => candidate.name === name);
  return group && { kind: 'APIGroup', apiVersion: 'v1', ...(describeGroup(group) as object) };
}

/** `/api/v1` and `/apis/<group>/<version>`; undefined when nothing of it is served. */
export function resourceList(registry: Registry, groupName: string, version: string): unknown {
  const group = servedGroups(registry).find((candidate) => candidate.name === groupName);
  const types = group?.versions.find((candidate) => candidate.version === version)?.types;
  if (!types) return undefined;
  const groupVersion = apiVersionOf({ group: groupName, version });
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: types.flatMap(legacyResources) };
}

/** `/api` and `/apis` for clients that read all at once (apidiscovery.k8s.io). */
export function aggregatedDiscovery(registry: Registry, core: boolean, apiVersion: 'v2' | 'v2beta1'): unknown {
  const groups = servedGroups(registry).filter(({ name }) => (name === '') === core);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${apiVersion}`,
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map(({ version, types }) => ({
        version,
        resources: types.map(discoveredResource),
        freshness: 'Current',
      })),
    })),
  };
}

function describeGroup({ name, versions }: ServedGroup): unknown {
  const named = versions.map(({ version }) => ({ groupVersion: apiVersionOf({ group: name, version }), version }));
  return { name, versions: named, preferredVersion: named[0] };
}

function legacyResources({ type }: ServedType): unknown[] {
  const { kind } = type;
  const main = {
    name: kind.plural,
    singularName: type.singular,
    namespaced: kind.namespaced,
    kind: kind.kind,
    verbs: type.verbs,
    ...(type.shortNames.length > 0 && { shortNames: type.shortNames }),
    ...(type.categories.length > 0 && { categories: type.categories }),
  };
  const below = offered(type.subresources).map(([name, { verbs, ...of }]) => ({
    name: `${kind.plural}/${name}`,
    singularName: '',
    namespaced: kind.namespaced,
    kind: kind.kind,
    ...of,
    verbs,
  }));
  return [main, ...below];
}

function discoveredResource({ type, custom }: ServedType): unknown {
  const { kind } = type;
  // Built-in kinds leave out what they share with their group and version, custom ones do not.
  const own = { group: custom ? kind.group : '', version: custom ? kind.version : '', kind: kind.kind };
  const subresources = offered(type.subresources).map(([name, { verbs, ...of }]) => ({
    subresource: name,
    responseKind: { ...own, ...of },
    verbs,
  }));
  return {
    resource: kind.plural,
    responseKind: own,
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: type.singular,
    verbs: type.verbs,
    ...(type.shortNames.length > 0 && { shortNames: type.shortNames }),
    ...(type.categories.length > 0 && { categories: type.categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}

function offered(subresources: readonly string[]) {
  return Object.entries(OFFERED_SUBRESOURCES)
    .filter(([name]) => subresources.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
