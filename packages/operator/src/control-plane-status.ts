import { Node } from '@openstack-operator/kube';
import {
  children,
  cloudOf,
  joinedNode,
  kinds,
  lostNode,
  nodesByCloud,
  type RecordedNodes,
  recordedIn,
} from '@openstack-operator/openstack';
import type { ComposeContext } from './context.ts';
import { groupIn, maintenanceIn } from './joined-nodes.ts';

/** Nodes that the status lists: with thousands of them it would come near the 1.5 MiB that etcd takes for an object. */
const mostNodes = 500;

interface ChildStatus extends RecordedNodes {
  readonly endpoints?: { readonly public?: string };
}

/**
 * What a control plane shows of its cloud: the public endpoints of its children, and the nodes that it has claimed. A
 * node has joined when every child with agents there says so, and is lost when one does.
 */
export function controlPlaneStatus(context: ComposeContext): Record<string, unknown> {
  const { name, namespace = '' } = context.object.metadata;
  const statuses = children.map(({ kind, field, suffix }) => {
    const api = kinds.find((one) => one.kind === kind);
    const child = api && context.cache.get(api, { namespace, name: `${name}-${suffix}` });
    const status: ChildStatus = child?.status ?? {};
    return [field, status] as const;
  });
  const endpoints = statuses.flatMap(([field, { endpoints: urls }]) =>
    urls?.public === undefined ? [] : [[field, urls.public] as const],
  );
  const told = statuses.flatMap(([, status]) => recordedIn(status));
  const phases = Map.groupBy(told, (node) => node.name);
  const claimed = (
    context.cache.has(Node) ? context.cache.byIndex(Node, nodesByCloud, cloudOf(context.object)) : []
  ).map(({ metadata: { name: node, labels } }) => ({
    name: node,
    ...groupIn(labels),
    phase: phases.get(node)?.every(({ phase }) => phase === joinedNode) === true ? joinedNode : 'Claimed',
    ...maintenanceIn(phases.get(node)?.find(({ maintenance }) => maintenance !== undefined)?.maintenance),
  }));
  const names = new Set(claimed.map(({ name: node }) => node));
  const lost = told.filter(({ name: node, phase }) => phase === lostNode && !names.has(node));
  const nodes = [...claimed.sort(byName).slice(0, mostNodes), ...new Map(lost.map((one) => [one.name, one])).values()];
  return {
    ...(endpoints.length === 0 ? {} : { endpoints: Object.fromEntries(endpoints) }),
    ...(nodes.length === 0 ? {} : { nodes: nodes.sort(byName), claimedNodes: claimed.length }),
  };
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}
