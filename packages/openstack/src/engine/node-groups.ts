import type { KubeObject } from '@openstack-operator/kube';
import { canonical } from './digest.ts';
import { cloudLabel, cloudOf, computeLabel, nodeGroupLabel } from './names.ts';
import type { NodeClaim } from './step.ts';

/** What a claim is made of: a node group of Nova or OVNNetwork. */
export interface ClaimedGroup {
  readonly name: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** How many nodes; absent means every eligible one. */
  readonly replicas?: number;
}

/** The claims of a resource's cloud, one for each group; `compute` says whether guests run there. */
export function nodeClaims(
  resource: KubeObject,
  groups: readonly ClaimedGroup[],
  { compute }: { compute: boolean },
): NodeClaim[] {
  const cloud = cloudOf(resource);
  return groups.map(({ name, nodeSelector = {}, replicas }) => ({
    verb: 'claim',
    labels: { [cloudLabel]: cloud, [nodeGroupLabel]: name, ...(compute ? { [computeLabel]: 'true' } : {}) },
    selector: nodeSelector,
    ...(replicas === undefined ? {} : { count: replicas }),
  }));
}

/** Node groups that are treated alike, as one DaemonSet. */
export interface Variant<T> {
  readonly value: T;
  /** Names of the groups; absent when there is only one variant: it is for every node of the cloud. */
  readonly groups?: readonly string[];
  /** What follows the component's name: nothing for the first variant, which keeps the name that it always had. */
  readonly suffix: string;
}

/**
 * Groups by what makes them different. Further variants are named after their first group, so that a group that becomes
 * different from the others does not rename the DaemonSet of the others.
 */
export function variants<T>(groups: readonly { readonly name: string; readonly value: T }[]): Variant<T>[] {
  const alike = new Map<string, { value: T; names: string[] }>();
  for (const { name, value } of groups) {
    const key = canonical(value);
    const same = alike.get(key);
    if (same === undefined) alike.set(key, { value, names: [name] });
    else same.names.push(name);
  }
  const all = [...alike.values()];
  return all.map(({ value, names }, index) => ({
    value,
    suffix: index === 0 ? '' : `-${names[0]}`,
    ...(all.length === 1 ? {} : { groups: names }),
  }));
}
