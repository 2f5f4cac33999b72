import type { Kind, StoredObject } from '@openstack-operator/kube';
import { apiVersionOf } from '@openstack-operator/kube';
import { conditionOf } from '../status/conditions.ts';
import { certificates } from './issued.ts';
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
  /** What its API waits for before it begins, in words: told as long as it is not done. */
  readonly follows?: string;
  /** It holds data, as volumes do: it is never pruned, and outlives its resource unless that says otherwise. */
  readonly holdsData?: true;
}

/** The kinds of somebody else's APIs that a service may compose: its own, and those of all. */
export function foreignKindsOf({ foreignKinds = [] }: Pick<Service, 'foreignKinds'>): readonly ForeignKind[] {
  return [certificates, ...foreignKinds];
}

/** What is wrong with objects whose kinds the cluster does not serve. */
export function unservedProblems(
  service: Pick<Service, 'foreignKinds'>,
  objects: readonly Desired[],
  { serves }: Pick<Surroundings, 'serves'>,
): Problem[] {
  return foreignKindsOf(service)
    .filter(({ kind }) => objects.some((desired) => isOf(kind, desired)) && !serves(`${kind.group}/${kind.kind}`))
    .map(({ kind, servedBy }) => ({
      reason: 'ApiMissing',
      message: `the cluster does not serve ${apiVersionOf(kind)} ${kind.kind}; install ${servedBy}`,
    }));
}

function isOf(kind: Kind, desired: Desired): boolean {
  return 'object' in desired && desired.object.kind === kind.kind && desired.object.apiVersion === apiVersionOf(kind);
}

/** What a foreign object is still to reach, in words; undefined when it is done. What is said of an earlier generation says nothing. */
export function foreignWait({ done, follows }: ForeignKind, live: StoredObject): string | undefined {
  if (done === undefined) return undefined;
  const words = 'condition' in done ? conditionWait(done.condition, live) : fieldWait(done, live);
  return words && `${words}${follows === undefined ? '' : ` (${follows})`}`;
}

function conditionWait(type: string, live: StoredObject): string | undefined {
  const condition = conditionOf(live, type);
  const { observedGeneration = live.metadata.generation } = condition ?? {};
  if (condition?.status === 'True' && observedGeneration === live.metadata.generation) return undefined;
  return condition?.message || `condition ${type} is ${condition?.status ?? 'not there yet'}`;
}

function fieldWait({ field, value: wanted }: { readonly field: string; readonly value: string }, live: StoredObject) {
  const { generation } = live.metadata;
  const status = (live['status'] ?? {}) as Readonly<Record<string, unknown>>;
  const { [field]: value, observedGeneration = generation } = status;
  if (value !== wanted) return `status.${field} is ${JSON.stringify(value) ?? 'not there yet'}, not ${wanted}`;
  return observedGeneration === generation
    ? undefined
    : `status.${field} is ${wanted} of generation ${JSON.stringify(observedGeneration)}, not ${generation}`;
}
