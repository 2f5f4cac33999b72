import { EndpointSlice, Service, type Stored } from '../cluster/kinds.ts';
import type { ObjectSource } from '../cluster/object-source.ts';

/** One address that a Service leads to. */
export interface Backend {
  readonly address: string;
  readonly port: number;
}

/** Services by what one connects to, with their backends: what kube-proxy and the cluster's DNS keep. */
export class ServiceTable {
  readonly #objects: ObjectSource;
  readonly #byClusterIp = new Map<string, string>();
  readonly #byNodePort = new Map<number, string>();
  readonly #slices = new Map<string, Map<string, Stored<EndpointSlice>>>();

  constructor(objects: ObjectSource) {
    this.#objects = objects;
    objects.subscribe(Service, ({ key, object, old }) => this.#indexService(key, object, old));
    objects.subscribe(EndpointSlice, ({ key, object, old }) => this.#indexSlice(key, object, old));
    for (const service of objects.list(Service)) this.#indexService(keyOfService(service), service, undefined);
    for (const slice of objects.list(EndpointSlice)) {
      this.#indexSlice(`${slice.metadata.namespace}/${slice.metadata.name}`, slice, undefined);
    }
  }

  service(namespace: string, name: string): Stored<Service> | undefined {
    return this.#objects.get(Service, `${namespace}/${name}`);
  }

  atClusterIp(address: string): Stored<Service> | undefined {
    const key = this.#byClusterIp.get(address);
    return key === undefined ? undefined : this.#objects.get(Service, key);
  }

  atNodePort(port: number): Stored<Service> | undefined {
    const key = this.#byNodePort.get(port);
    return key === undefined ? undefined : this.#objects.get(Service, key);
  }

  /** Ready backends of one port of a Service. */
  backends(service: Stored<Service>, portName: string): Backend[] {
    const backends: Backend[] = [];
    for (const slice of this.#slicesOf(service)) {
      const port = slice.ports?.find(({ name }) => (name ?? '') === portName)?.port;
      if (port === undefined) continue;
      for (const { addresses, conditions } of slice.endpoints ?? []) {
        if (conditions?.ready === false) continue;
        for (const address of addresses) backends.push({ address, port });
      }
    }
    return backends;
  }

  /** Addresses behind a headless Service: all, or those of one host name. */
  addresses(service: Stored<Service>, hostname?: string): string[] {
    const addresses = new Set<string>();
    for (const slice of this.#slicesOf(service)) {
      for (const endpoint of slice.endpoints ?? []) {
        if (endpoint.conditions?.ready === false) continue;
        for (const address of endpoint.addresses)
          if (hostname === undefined || hostname === (endpoint.hostname ?? dashed(address))) addresses.add(address);
      }
    }
    return [...addresses];
  }

  /** How many entries it holds; 0 when there is no Service and no slice. */
  get size(): number {
    return this.#byClusterIp.size + this.#byNodePort.size + this.#slices.size;
  }

  #slicesOf(service: Stored<Service>): Iterable<Stored<EndpointSlice>> {
    return this.#slices.get(keyOfService(service))?.values() ?? [];
  }

  #indexService(key: string, service: Stored<Service> | undefined, old: Stored<Service> | undefined): void {
    for (const ip of clusterIps(old)) if (this.#byClusterIp.get(ip) === key) this.#byClusterIp.delete(ip);
    for (const port of nodePorts(old)) if (this.#byNodePort.get(port) === key) this.#byNodePort.delete(port);
    for (const ip of clusterIps(service)) this.#byClusterIp.set(ip, key);
    for (const port of nodePorts(service)) this.#byNodePort.set(port, key);
  }

  #indexSlice(key: string, slice: Stored<EndpointSlice> | undefined, old: Stored<EndpointSlice> | undefined): void {
    const previous = serviceOf(old);
    const current = serviceOf(slice);
    if (previous !== undefined && previous !== current) {
      const slices = this.#slices.get(previous);
      slices?.delete(key);
      if (slices?.size === 0) this.#slices.delete(previous);
    }
    if (current === undefined || slice === undefined) return;
    const slices = this.#slices.get(current) ?? new Map<string, Stored<EndpointSlice>>();
    this.#slices.set(current, slices);
    slices.set(key, slice);
  }
}

function keyOfService(service: Stored<Service>): string {
  return `${service.metadata.namespace}/${service.metadata.name}`;
}

/** What CoreDNS calls an endpoint that has no host name (its plugin kubernetes). */
function dashed(address: string): string {
  return address.replaceAll(/[.:]/gu, '-');
}

function clusterIps(service: Stored<Service> | undefined): string[] {
  return (service?.spec.clusterIPs ?? [service?.spec.clusterIP ?? '']).filter((ip) => ip !== '' && ip !== 'None');
}

function nodePorts(service: Stored<Service> | undefined): number[] {
  return (service?.spec.ports ?? []).flatMap(({ nodePort }) => (nodePort ? [nodePort] : []));
}

function serviceOf(slice: Stored<EndpointSlice> | undefined): string | undefined {
  const name = slice?.metadata.labels?.['kubernetes.io/service-name'];
  return name === undefined ? undefined : `${slice?.metadata.namespace}/${name}`;
}
