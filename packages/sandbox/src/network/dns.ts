import { isIP } from 'node:net';
import type { ServiceTable } from './service-table.ts';

/** How a pod resolves names: its `/etc/resolv.conf` and `/etc/hosts`. */
export interface Resolver {
  /** Whether the nameserver is the cluster's; else the node's, which knows no cluster name. */
  readonly cluster: boolean;
  readonly searches: readonly string[];
  readonly ndots: number;
  /** Name -> address, from `/etc/hosts`. */
  readonly hosts: ReadonlyMap<string, string>;
}

const ZONE = 'cluster.local';
const MOST_ALIASES = 8;

/** The cluster's DNS zone: Services, headless members, pods, ExternalNames. */
export class Dns {
  readonly #services: ServiceTable;
  /** Names outside the cluster: name -> addresses. */
  readonly external = new Map<string, readonly string[]>();

  constructor(services: ServiceTable) {
    this.#services = services;
  }

  /** Addresses of a name as a pod's C library finds them; undefined when there is none. */
  lookup(name: string, resolver: Resolver): readonly string[] | undefined {
    if (isIP(name) !== 0) return [name];
    const local = resolver.hosts.get(name.toLowerCase());
    if (local !== undefined) return [local];
    for (const candidate of candidates(name.toLowerCase(), resolver)) {
      const addresses = this.#resolve(candidate, resolver.cluster);
      if (addresses !== undefined && addresses.length > 0) return addresses;
    }
    return undefined;
  }

  #resolve(name: string, cluster: boolean, depth = 0): readonly string[] | undefined {
    if (depth > MOST_ALIASES) return undefined;
    if (!name.endsWith(`.${ZONE}`)) return isIP(name) === 0 ? this.external.get(name) : [name];
    if (!cluster) return undefined;
    const labels = name.slice(0, -ZONE.length - 1).split('.');
    const type = labels.pop();
    const namespace = labels.pop();
    const last = labels.pop();
    if (namespace === undefined || last === undefined) return undefined;
    if (type === 'pod') return labels.length === 0 ? [last.replaceAll('-', '.')] : undefined;
    if (type !== 'svc' || labels.length > 1) return undefined;
    const service = this.#services.service(namespace, last);
    if (service === undefined) return undefined;
    const [hostname] = labels;
    if (service.spec.type === 'ExternalName') {
      return hostname === undefined
        ? this.#resolve((service.spec.externalName ?? '').replace(/\.$/, '').toLowerCase(), cluster, depth + 1)
        : undefined;
    }
    const { clusterIP } = service.spec;
    if (clusterIP === 'None') return this.#services.addresses(service, hostname);
    return hostname === undefined && clusterIP ? [clusterIP] : undefined;
  }
}

/** resolv.conf(5): names with fewer dots than `ndots` try the search list first. */
function candidates(name: string, { searches, ndots }: Resolver): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const searched = searches.map((domain) => `${name}.${domain}`);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [name, ...searched] : [...searched, name];
}

/** The search list of a pod with the cluster's DNS. */
export function clusterSearches(namespace: string): string[] {
  return [`${namespace}.svc.${ZONE}`, `svc.${ZONE}`, ZONE];
}
