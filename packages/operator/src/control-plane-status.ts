import { Node } from '@openstack-operator/kube';
import { type ClaimedNode, children, cloudOf, kinds, nodeGroupLabel } from '@openstack-operator/openstack';
import { nodesByCloud } from './cluster-nodes.ts';
import { joined } from './joined-nodes.ts';
import type { Pass } from './pass.ts';

/** Nodes that the status lists: with thousands of them it would come near the 1.5 MiB that etcd takes for an object. */
const mostNodes = 500;

interface ChildStatus {
  readonly endpoints?: { readonly public?: string };
  readonly nodes?: readonly ClaimedNode[];
}

/**
 * What a control plane shows of its cloud: the public endpoints of its children, and the nodes that it has claimed. A
 * node has joined when every child with agents there says so.
 */
export function controlPlaneStatus(pass: Pass): Record<string, unknown> {
  const { name, namespace = '' } = pass.object.metadata;
  const statuses = children.map(({ kind, field, suffix }) => {
    const api = kinds.find((one) => one.kind === kind);
    const child = api && pass.cache.get(api, { namespace, name: `${name}-${suffix}` });
    const status: ChildStatus = child?.status ?? {};
    return [field, status] as const;
  });
  const endpoints = statuses.flatMap(([field, { endpoints: urls }]) =>
    urls?.public === undefined ? [] : [[field, urls.public] as const],
  );
  const phases = Map.groupBy(
    statuses.flatMap(([, { nodes = [] }]) => nodes),
    (node) => node.name,
  );
  const nodes = (pass.cache.has(Node) ? pass.cache.byIndex(Node, nodesByCloud, cloudOf(pass.object)) : [])
    .map(({ metadata: { name: node, labels } }) => ({
      name: node,
      group: labels?.[nodeGroupLabel] ?? 'default',
      phase: phases.get(node)?.every(({ phase }) => phase === joined) === true ? joined : 'Claimed',
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    ...(endpoints.length === 0 ? {} : { endpoints: Object.fromEntries(endpoints) }),
    ...(nodes.length === 0 ? {} : { nodes: nodes.slice(0, mostNodes), claimedNodes: nodes.length }),
  };
}
