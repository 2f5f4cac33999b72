import type { AdmissionPlugin, AdmissionRequest } from '../api/core.ts';
import { invalid } from '../api/status.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { Service } from '../cluster/kinds.ts';
import { AddressPool } from '../network/address-pool.ts';

const FIRST_NODE_PORT = 30_000;
const LAST_NODE_PORT = 32_767;

/**
 * Gives Services their cluster addresses and node ports as kube-apiserver's storage does
 * (pkg/registry/core/service/storage/alloc.go). What is taken is what lies in the store; who is deleted and made anew has
 * another address, as it nearly always has with the real one, which draws them.
 * @throws StatusError 422 for an address or a port that somebody else has
 */
export function serviceAddresses(cluster: Cluster, cidr: string): AdmissionPlugin {
  const addresses = { cidr, next: 2 };
  return {
    name: 'ServiceAddresses',
    mutate(request) {
      const { operation, served, subresource, object } = request;
      if (served.id !== 'services' || subresource !== '' || operation === 'DELETE' || !object) return;
      const service = object as Service;
      const old = request.old as Service | undefined;
      service.spec ??= {};
      const { spec } = service;
      spec.type ??= 'ClusterIP';
      if (spec.type === 'ExternalName') return;
      allocateAddress(cluster, addresses, request, service, old);
      if (spec.type === 'NodePort' || spec.type === 'LoadBalancer') allocateNodePorts(cluster, request, service, old);
    },
  };
}

function allocateAddress(
  cluster: Cluster,
  addresses: { readonly cidr: string; next: number },
  request: AdmissionRequest,
  { spec }: Service,
  old: Service | undefined,
): void {
  const wanted = spec.clusterIP ?? spec.clusterIPs?.[0] ?? old?.spec.clusterIP ?? '';
  const others = cluster
    .list(Service)
    .filter(({ metadata }) => metadata.name !== request.name || metadata.namespace !== request.namespace);
  const pool = new AddressPool(addresses.cidr, addresses.next);
  for (const { spec: other } of others) if (other.clusterIP) pool.claim(other.clusterIP);
  let address = wanted;
  if (address === '') {
    address = pool.take();
    addresses.next = pool.next;
  } else if (address !== 'None' && address !== old?.spec.clusterIP && !pool.claim(address)) {
    const taken = others.some(({ spec: other }) => other.clusterIP === address);
    const why = taken ? 'provided IP is already allocated' : `the provided network does not match the current range`;
    const detail = `failed to allocate IP ${address}: ${why}`;
    throw refuse(request, 'spec.clusterIPs', [address], detail);
  }
  spec.clusterIP = address;
  spec.clusterIPs = [address];
  spec.ipFamilies ??= ['IPv4'];
  spec.ipFamilyPolicy ??= 'SingleStack';
}

function allocateNodePorts(
  cluster: Cluster,
  request: AdmissionRequest,
  { spec }: Service,
  old: Service | undefined,
): void {
  const taken = new Set<number>();
  for (const { metadata, spec: other } of cluster.list(Service)) {
    if (metadata.name === request.name && metadata.namespace === request.namespace) continue;
    for (const { nodePort } of other.ports ?? []) if (nodePort) taken.add(nodePort);
  }
  for (const [index, port] of (spec.ports ?? []).entries()) {
    const before = old?.spec.ports?.find(
      (other) => other.port === port.port && other.protocol === port.protocol,
    )?.nodePort;
    if (!port.nodePort && before && !taken.has(before)) port.nodePort = before;
    if (port.nodePort) {
      if (taken.has(port.nodePort)) {
        throw refuse(request, `spec.ports[${index}].nodePort`, port.nodePort, 'provided port is already allocated');
      }
    } else {
      port.nodePort = freePort(cluster, taken);
    }
    taken.add(port.nodePort);
  }
}

function freePort(cluster: Cluster, taken: ReadonlySet<number>): number {
  const count = LAST_NODE_PORT - FIRST_NODE_PORT + 1;
  const start = Math.floor(cluster.random.next() * count);
  for (let offset = 0; offset < count; offset++) {
    const port = FIRST_NODE_PORT + ((start + offset) % count);
    if (!taken.has(port)) return port;
  }
  throw new Error(`no node port is left between ${FIRST_NODE_PORT} and ${LAST_NODE_PORT}`);
}

function refuse(request: AdmissionRequest, field: string, value: unknown, detail: string) {
  return invalid({ group: '', kind: 'Service' }, request.name, [{ type: 'Invalid', field, value, detail }]);
}
