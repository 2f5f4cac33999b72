import type { Clock, Random } from '@openstack-operator/kube';
import { sleep } from '@openstack-operator/kube';
import type { ObjectSource } from '../cluster/object-source.ts';
import { systemError } from '../programs/file-tree.ts';
import { type Connection, type Protocol, SystemError } from '../programs/program.ts';
import type { ServerSocket } from '../programs/socket.ts';
import { connectSocket } from './connection.ts';
import { Dns, type Resolver } from './dns.ts';
import { Host, isLoopback, type Remote } from './host.ts';
import { type PolicyEnd, policiesAllow, policyPod } from './network-policy.ts';
import { ServiceTable } from './service-table.ts';

/** What a TCP client waits at most before it gives up on an address that does not answer, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;
const DNS_PORT = 53;

/** Where a packet ends up after Services have been resolved. */
interface Target {
  readonly host: Host;
  readonly address: string;
  readonly port: number;
}

/** The network of the whole cluster: hosts by address, Services, DNS, policies. */
export class ClusterNetwork {
  readonly services: ServiceTable;
  readonly dns: Dns;
  readonly #objects: ObjectSource;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #hosts = new Map<string, Host>();

  constructor(options: { objects: ObjectSource; clock: Clock; random: Random }) {
    this.#objects = options.objects;
    this.#clock = options.clock;
    this.#random = options.random;
    this.services = new ServiceTable(options.objects);
    this.dns = new Dns(this.services);
  }

  add(host: Host): void {
    this.#hosts.set(host.address, host);
  }

  remove(host: Host): void {
    if (this.#hosts.get(host.address) === host) this.#hosts.delete(host.address);
  }

  /**
   * A machine that is no node, with what listens at its ports. Gives what switches it off and on: it is on.
   */
  beside(
    address: string,
    listeners: Readonly<Record<number, Pick<ServerSocket, 'protocol' | 'accept'>>>,
  ): [off: () => void, on: () => void] {
    const host = new Host({ address });
    for (const [port, listener] of Object.entries(listeners))
      host.bind(Number(port), { ...listener, bindAddress: '0.0.0.0', connections: new Set(), open: true });
    this.add(host);
    const turn = (up: boolean) => () => {
      host.up = up;
    };
    return [turn(false), turn(true)];
  }

  /** How many hosts there are: nodes and pods. */
  get size(): number {
    return this.#hosts.size;
  }

  /**
   * Addresses of a name as a process on that host finds them.
   * @throws SystemError ENOTFOUND; EAI_AGAIN when a policy keeps the pod from the cluster's DNS
   */
  lookup(from: Host, name: string, resolver: Resolver): readonly string[] {
    const needsServer = resolver.cluster && !resolver.hosts.has(name) && !/^[\d.]+$|:/.test(name);
    if (needsServer && from.pod && !this.#reachesDns(from)) throw systemError('EAI_AGAIN', name);
    const addresses = this.dns.lookup(name, resolver);
    if (addresses === undefined) throw systemError('ENOTFOUND', name);
    return addresses;
  }

  /**
   * Opens a connection: to the first of a name's addresses that does not refuse it.
   * @throws SystemError ENOTFOUND, EAI_AGAIN, ECONNREFUSED, ETIMEDOUT, EPROTO
   */
  async connect(
    from: Host,
    name: string,
    port: number,
    protocol: Protocol | undefined,
    resolver: Resolver,
  ): Promise<Connection & { readonly socket: ServerSocket; readonly remote: Remote }> {
    const [...addresses] = this.lookup(from, name, resolver);
    const last = addresses.pop() ?? name;
    for (const address of addresses) {
      try {
        return await this.#connectTo(from, name, address, port, protocol);
      } catch (error) {
        if (!(error instanceof SystemError) || error.code !== 'ECONNREFUSED') throw error;
      }
    }
    return this.#connectTo(from, name, last, port, protocol);
  }

  async #connectTo(from: Host, name: string, address: string, port: number, protocol: Protocol | undefined) {
    const subject = address === name ? `${name}:${port}` : `${name}:${port} (${address})`;
    const target = this.#route(from, address, port, subject);
    if (target === undefined || !target.host.up || !from.up || !this.#allowed(from, target)) {
      await sleep(this.#clock, CONNECT_TIMEOUT_MS);
      throw systemError('ETIMEDOUT', subject);
    }
    const socket = target.host.socketAt(target.address, target.port);
    if (socket === undefined) throw systemError('ECONNREFUSED', subject);
    if (protocol !== undefined && socket.protocol !== protocol) throw systemError('EPROTO', subject);
    const peer = { address: from === target.host ? target.address : from.address, ...(from.pod && { pod: from.pod }) };
    return { ...connectSocket(socket, peer, subject), remote: { address, port } };
  }

  /** Undefined: nothing has that address, packets are lost. @throws SystemError ECONNREFUSED without endpoints */
  #route(from: Host, address: string, port: number, subject: string): Target | undefined {
    if (isLoopback(address)) return { host: from, address, port };
    const service = this.services.atClusterIp(address);
    if (service) {
      const found = service.spec.ports?.find((candidate) => candidate.port === port);
      return found && this.#backend(service, found.name ?? '', subject);
    }
    const host = this.#hosts.get(address);
    if (host === undefined) return undefined;
    if (host.pod === undefined && host.socketAt(address, port) === undefined) {
      const forward = host.forwards.get(port);
      if (forward) return { host: forward.host, address: forward.host.address, port: forward.port };
      const exposed = this.services.atNodePort(port);
      const found = exposed?.spec.ports?.find(({ nodePort }) => nodePort === port);
      if (exposed && found) return this.#backend(exposed, found.name ?? '', subject);
    }
    return { host, address, port };
  }

  #backend(service: Parameters<ServiceTable['backends']>[0], portName: string, subject: string): Target | undefined {
    const backends = this.services.backends(service, portName);
    const backend = backends[Math.floor(this.#random.next() * backends.length)];
    // kube-proxy rejects packets to a Service without endpoints.
    if (backend === undefined) throw systemError('ECONNREFUSED', subject);
    const host = this.#hosts.get(backend.address);
    return host && { host, address: backend.address, port: backend.port };
  }

  #allowed(from: Host, { host, port }: Target): boolean {
    if (from === host) return true;
    // A node always reaches the pods that run on it: else its kubelet could not probe them.
    if (from.pod === undefined && host.node === from) return true;
    return policiesAllow(this.#objects, this.#end(from), this.#end(host), port);
  }

  #reachesDns(from: Host): boolean {
    const server: PolicyEnd = {
      address: '10.96.0.10',
      pod: {
        namespace: 'kube-system',
        labels: { 'k8s-app': 'kube-dns' },
        ports: { dns: DNS_PORT, 'dns-tcp': DNS_PORT },
      },
    };
    return policiesAllow(this.#objects, this.#end(from), server, DNS_PORT, 'UDP');
  }

  #end({ address, pod }: Host): PolicyEnd {
    const known = pod && policyPod(this.#objects, pod.namespace, pod.name);
    return known ? { address, pod: known } : { address };
  }
}
