import type { INetworkPolicyPeer, INetworkPolicyPort } from 'kubernetes-models/networking.k8s.io/v1';
import { Namespace, NetworkPolicy, Pod, type Stored } from '../cluster/kinds.ts';
import type { ObjectReader } from '../cluster/object-source.ts';
import { parseCidr, parseIp, samePrefix } from '../resources/ip.ts';
import { selectorMatches } from '../resources/metadata.ts';

/** One end of a connection, as policies see it. Without `pod` it is a node or outside: only `ipBlock` meets it. */
export interface PolicyEnd {
  readonly address: string;
  readonly pod?: PolicyPod;
}

/** A pod as policies see it. */
export interface PolicyPod {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Numbers of its named ports. */
  readonly ports: Readonly<Record<string, number>>;
}

/** The pod of that key as policies see it; undefined when it is not there or lives in its node's network. */
export function policyPod(objects: ObjectReader, namespace: string, name: string): PolicyPod | undefined {
  const pod = objects.get(Pod, `${namespace}/${name}`);
  if (!pod || pod.spec.hostNetwork) return undefined;
  return { namespace, labels: pod.metadata.labels ?? {}, ports: namedPorts(pod) };
}

function namedPorts(pod: Stored<Pod>): Record<string, number> {
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const ports = containers.flatMap((container) => container.ports ?? []);
  return Object.fromEntries(ports.flatMap(({ name, containerPort }) => (name ? [[name, containerPort]] : [])));
}

/** Whether the NetworkPolicies let `from` connect to `to`: both the sender's egress and the receiver's ingress rules. */
export function policiesAllow(
  objects: ObjectReader,
  from: PolicyEnd,
  to: PolicyEnd,
  port: number,
  protocol: 'TCP' | 'UDP' = 'TCP',
): boolean {
  return (
    directionAllows(objects, 'Egress', from, to, to, port, protocol) &&
    directionAllows(objects, 'Ingress', to, from, to, port, protocol)
  );
}

function directionAllows(
  objects: ObjectReader,
  direction: 'Ingress' | 'Egress',
  subject: PolicyEnd,
  other: PolicyEnd,
  destination: PolicyEnd,
  port: number,
  protocol: string,
): boolean {
  const { pod } = subject;
  if (pod === undefined) return true;
  let judged = false;
  for (const policy of objects.list(NetworkPolicy, pod.namespace)) {
    if (!policyTypes(policy).includes(direction)) continue;
    // An absent podSelector selects all pods, as an empty one does.
    if (!selectorMatches(policy.spec.podSelector ?? {}, pod.labels)) continue;
    judged = true;
    const rules =
      direction === 'Ingress'
        ? (policy.spec.ingress ?? []).map((rule) => ({ peers: rule.from, ports: rule.ports }))
        : (policy.spec.egress ?? []).map((rule) => ({ peers: rule.to, ports: rule.ports }));
    const allowed = rules.some(
      ({ peers, ports }) =>
        (!peers?.length || peers.some((peer) => peerMatches(objects, policy, peer, other))) &&
        (!ports?.length || ports.some((rule) => portMatches(rule, port, protocol, destination))),
    );
    if (allowed) return true;
  }
  return !judged;
}

function policyTypes(policy: Stored<NetworkPolicy>): readonly string[] {
  return policy.spec.policyTypes ?? (policy.spec.egress ? ['Ingress', 'Egress'] : ['Ingress']);
}

function peerMatches(
  objects: ObjectReader,
  policy: Stored<NetworkPolicy>,
  peer: INetworkPolicyPeer,
  end: PolicyEnd,
): boolean {
  if (peer.ipBlock) {
    const { cidr, except = [] } = peer.ipBlock;
    return inCidr(end.address, cidr) && !except.some((part) => inCidr(end.address, part));
  }
  if (end.pod === undefined) return false;
  if (peer.namespaceSelector) {
    const labels = objects.get(Namespace, end.pod.namespace)?.metadata.labels;
    if (!selectorMatches(peer.namespaceSelector, labels ?? {})) return false;
  } else if (end.pod.namespace !== policy.metadata.namespace) {
    return false;
  }
  return !peer.podSelector || selectorMatches(peer.podSelector, end.pod.labels);
}

function portMatches(rule: INetworkPolicyPort, port: number, protocol: string, destination: PolicyEnd): boolean {
  if ((rule.protocol ?? 'TCP') !== protocol) return false;
  if (rule.port === undefined) return true;
  const first = typeof rule.port === 'string' ? destination.pod?.ports[rule.port] : rule.port;
  if (first === undefined) return false;
  return port >= first && port <= (rule.endPort ?? first);
}

function inCidr(address: string, cidr: string): boolean {
  const network = parseCidr(cidr);
  const ip = parseIp(address);
  return network !== undefined && ip !== undefined && samePrefix(network.ip, ip, network.prefix);
}
