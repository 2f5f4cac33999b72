import type { Kind, StoredObject } from '@openstack-operator/kube';
import { apiVersionOf } from '@openstack-operator/kube';
import { conditionOf } from '../status/conditions.ts';
import type { Service } from './service.ts';
import type { Desired, Problem } from './step.ts';
import type { Surroundings } from './surroundings.ts';

/** A kind of somebody else's API that a service composes (`objects`): the operator may write it, follows it and prunes it. */
export interface ForeignKind {
  readonly kind: Kind;
  /** What serves it, such as `Rook >= 1.15`: told where the cluster does not. */
  readonly servedBy: string;
  /**
   * When an object of it is done: a condition of its status is True, or a field of the status has a value. Default: once it
   * exists.
   */
  readonly done?: { readonly condition: string } | { readonly field: string; readonly value: string };
}

/** What is wrong with objects whose kinds the cluster does not serve. */
export function unservedProblems(
  { foreignKinds = [] }: Pick<Service, 'foreignKinds'>,
  objects: readonly Desired[],
  { serves }: Pick<Surroundings, 'serves'>,
): Problem[] {
  return foreignKinds
    .filter(({ kind }) => objects.some((desired) => isOf(kind, desired)) && !serves(`${kind.group}/${kind.kind}`))
    .map(({ kind, servedBy }) => ({
      reason: 'ApiMissing',
      message: `the cluster does not serve ${apiVersionOf(kind)} ${kind.kind}; install ${servedBy}`,
    }));
}

function isOf(kind: Kind, desired: Desired): boolean {
  return 'object' in desired && desired.object.kind === kind.kind && desired.object.apiVersion === apiVersionOf(kind);
}

/** What a foreign object is still to reach, in words; undefined when it is done. */
export function foreignWait({ done }: ForeignKind, live: StoredObject): string | undefined {
  if (done === undefined) return undefined;
  if ('condition' in done) {
    const condition = conditionOf(live, done.condition);
    const { observedGeneration = live.metadata.generation } = condition ?? {};
    if (condition?.status === 'True' && observedGeneration === live.metadata.generation) return undefined;
    return condition?.message || `condition ${done.condition} is ${condition?.status ?? 'not there yet'}`;
  }
  const value = ((live['status'] ?? {}) as Readonly<Record<string, unknown>>)[done.field];
  return value === done.value
    ? undefined
    : `status.${done.field} is ${JSON.stringify(value) ?? 'not there yet'}, not ${done.value}`;
}
