import { isApiError } from '../objects/errors.ts';
import type { ServedKind } from './api.ts';
import { groupVersionPath } from './urls.ts';

/** Reads JSON from a path; `accept` is the header's value. */
type Read = (path: string, accept: string) => Promise<unknown>;

/** APIGroupDiscoveryList, `apidiscovery.k8s.io/v2`: what we read of it. */
interface AggregatedDiscovery {
  readonly kind: 'APIGroupDiscoveryList';
  readonly items: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: { readonly kind?: string };
        readonly scope: 'Namespaced' | 'Cluster';
        readonly verbs?: readonly string[];
        readonly shortNames?: readonly string[];
        readonly categories?: readonly string[];
        readonly subresources?: readonly { readonly subresource: string }[];
      }[];
    }[];
  }[];
}

/** `APIVersions` (of `/api`), `APIGroupList` (of `/apis`), `APIResourceList`: what we read of them. */
interface LegacyVersions {
  readonly versions?: readonly string[];
}
interface LegacyGroups {
  readonly groups?: readonly {
    readonly name: string;
    readonly versions: readonly { readonly version: string }[];
    readonly preferredVersion?: { readonly version: string };
  }[];
}
interface LegacyResources {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs?: readonly string[];
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  }[];
}

/** Aggregated where the server can (GA since Kubernetes 1.30), else what it has. */
const acceptAggregated = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat('application/json')
  .join(',');

/**
 * Every kind that the server serves, preferred versions first: two requests with aggregated discovery, else one more
 * for each version of each group. `warn` hears of groups that do not answer.
 */
export async function discoverKinds(read: Read, warn: (text: string) => void): Promise<ServedKind[]> {
  const [core, groups] = await Promise.all([read('/api', acceptAggregated), read('/apis', acceptAggregated)]);
  const kinds = await Promise.all([
    isAggregated(core) ? aggregatedKinds(core) : legacyKinds(read, coreVersions(core as LegacyVersions), warn),
    isAggregated(groups) ? aggregatedKinds(groups) : legacyKinds(read, groupVersions(groups as LegacyGroups), warn),
  ]);
  return kinds.flat();
}

function isAggregated(value: unknown): value is AggregatedDiscovery {
  return (value as { kind?: unknown } | null)?.kind === 'APIGroupDiscoveryList';
}

function aggregatedKinds(discovery: AggregatedDiscovery): ServedKind[] {
  return discovery.items.flatMap((group) =>
    (group.versions ?? []).flatMap((version) =>
      (version.resources ?? []).flatMap((resource): ServedKind[] => {
        // A parent of subresources that is itself not served has no kind.
        const kind = resource.responseKind?.kind;
        if (!kind || !resource.verbs?.length) return [];
        return [
          {
            group: group.metadata?.name ?? '',
            version: version.version,
            kind,
            plural: resource.resource,
            namespaced: resource.scope === 'Namespaced',
            verbs: resource.verbs,
            shortNames: resource.shortNames ?? [],
            categories: resource.categories ?? [],
            subresources: (resource.subresources ?? []).map(({ subresource }) => subresource),
          },
        ];
      }),
    ),
  );
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

function coreVersions({ versions = [] }: LegacyVersions): GroupVersion[] {
  return versions.map((version) => ({ group: '', version }));
}

function groupVersions({ groups = [] }: LegacyGroups): GroupVersion[] {
  return groups.flatMap(({ name, versions, preferredVersion }) => {
    const preferred = preferredVersion?.version;
    const rest = versions.map(({ version }) => version).filter((version) => version !== preferred);
    return [...(preferred ? [preferred] : []), ...rest].map((version) => ({ group: name, version }));
  });
}

async function legacyKinds(
  read: Read,
  versions: readonly GroupVersion[],
  warn: (text: string) => void,
): Promise<ServedKind[]> {
  const kinds = await Promise.all(
    versions.map(async (version) => {
      const path = groupVersionPath(version);
      try {
        return resourceKinds(version, (await read(path, 'application/json')) as LegacyResources);
      } catch (error) {
        // One aggregated API whose server is away (503), or a group that went away meanwhile (404), is not all of them.
        if (!isApiError(error) || (error.code < 500 && error.code !== 404)) throw error;
        warn(`discovery leaves out ${path}: ${error.message}`);
        return [];
      }
    }),
  );
  return kinds.flat();
}

function resourceKinds({ group, version }: GroupVersion, { resources = [] }: LegacyResources): ServedKind[] {
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map((resource) => ({
      group,
      version,
      kind: resource.kind,
      plural: resource.name,
      namespaced: resource.namespaced,
      verbs: resource.verbs ?? [],
      shortNames: resource.shortNames ?? [],
      categories: resource.categories ?? [],
      subresources: resources
        .filter(({ name }) => name.startsWith(`${resource.name}/`))
        .map(({ name }) => name.slice(resource.name.length + 1)),
    }));
}
