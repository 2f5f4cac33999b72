import type { Pod, Stored } from '../cluster/kinds.ts';
import { clusterSearches, type Resolver } from '../network/dns.ts';
import { Host } from '../network/host.ts';
import type { PodEtc } from './container-files.ts';
import type { NodeContext } from './node-context.ts';

/** A pod's place in the network. */
export interface PodNetwork {
  readonly host: Host;
  readonly resolver: Resolver;
  readonly hostname: string;
  readonly etc: PodEtc;
  /** Gives the address back. */
  release(): void;
}

const CLUSTER_DNS = '10.96.0.10';

/** Gives a pod its address (the node's with hostNetwork), its name and its resolver. */
export function setUpPodNetwork(pod: Stored<Pod>, node: NodeContext): PodNetwork {
  const { spec, metadata } = pod;
  const { namespace = '', name } = metadata;
  const shared = spec.hostNetwork === true;
  const host = shared
    ? node.host
    : new Host({ address: node.podAddresses.take(), pod: { namespace, name }, node: node.host });
  if (!shared) node.network.add(host);
  for (const { hostPort, containerPort } of spec.containers.flatMap(({ ports = [] }) => ports)) {
    if (hostPort && !shared) node.host.forwards.set(hostPort, { host, port: containerPort });
  }
  const hostname = shared ? node.name : (spec.hostname ?? name).slice(0, 63);
  const domain = spec.subdomain ? `${hostname}.${spec.subdomain}.${namespace}.svc.cluster.local` : undefined;
  const own = [...(domain ? [domain] : []), hostname];
  const hosts = new Map([['localhost', '127.0.0.1'], ...own.map((entry) => [entry, host.address] as const)]);
  const lines = ['127.0.0.1\tlocalhost', `${host.address}\t${own.join('\t')}`];
  for (const { ip, hostnames = [] } of spec.hostAliases ?? []) {
    for (const alias of hostnames) hosts.set(alias, ip);
    lines.push(`${ip}\t${hostnames.join('\t')}`);
  }
  const resolver = podResolver(pod, hosts);
  const nameserver = resolver.cluster ? CLUSTER_DNS : node.host.address;
  const resolvConf = [
    ...(resolver.searches.length > 0 ? [`search ${resolver.searches.join(' ')}`] : []),
    `nameserver ${nameserver}`,
    `options ndots:${resolver.ndots}`,
  ];
  return {
    host,
    resolver,
    hostname,
    etc: { hosts: `${lines.join('\n')}\n`, hostname, resolvConf: `${resolvConf.join('\n')}\n` },
    release: () => {
      if (shared) return;
      node.network.remove(host);
      node.podAddresses.free(host.address);
      for (const [port, forward] of node.host.forwards) if (forward.host === host) node.host.forwards.delete(port);
    },
  };
}

/** dnsPolicy and dnsConfig. With hostNetwork, `ClusterFirst` means the node's own resolver. */
function podResolver({ spec, metadata }: Stored<Pod>, hosts: ReadonlyMap<string, string>): Resolver {
  const policy = spec.dnsPolicy ?? 'ClusterFirst';
  const cluster =
    policy === 'ClusterFirstWithHostNet' ||
    (policy === 'ClusterFirst' && !spec.hostNetwork) ||
    (policy === 'None' && (spec.dnsConfig?.nameservers ?? []).includes(CLUSTER_DNS));
  const searches = cluster && policy !== 'None' ? clusterSearches(metadata.namespace ?? '') : [];
  const ndots = spec.dnsConfig?.options?.find(({ name }) => name === 'ndots')?.value;
  return {
    cluster,
    searches: [...searches, ...(spec.dnsConfig?.searches ?? [])],
    ndots: Number(ndots ?? (cluster && policy !== 'None' ? 5 : 1)),
    hosts,
  };
}
