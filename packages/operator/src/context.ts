import type { Kind, KubeObject, ObjectRef, ReconcileContext, StoredObject } from '@openstack-operator/kube';
import { isApiError } from '@openstack-operator/kube';
import type { Contention } from './contention.ts';
import type { DryRuns } from './dry-runs.ts';
import type { FailingSteps } from './failing-steps.ts';
import type { Refusals } from './managing-operator.ts';
import type { NodePace } from './node-pace.ts';
import type { DigestKey } from './secrets/digest-key.ts';
import type { StatusPace } from './status-pace.ts';

/** Which operator this is, of those in the cluster. */
export interface OperatorIdentity {
  /** Its namespace: the same for all its replicas, and after a restart. */
  readonly name: string;
  /** It manages the resources that are annotated with this class; without a class, those that are not annotated. */
  readonly resourceClass?: string;
}

/** What is the same for all reconciles of this operator. */
export interface OperatorFacts {
  readonly operator: OperatorIdentity;
  /** The one key that all clouds had, where an operator of that time left it. */
  readonly formerDigestKey?: DigestKey;
  /** Image of the operator itself, for its Jobs. */
  readonly operatorImage: string;
  /** The cluster's DNS domain. */
  readonly clusterDomain: string;
}

/** What all reconciles of this operator remember together. */
export interface OperatorMemory {
  readonly refusals: Refusals;
  readonly contention: Contention;
  readonly dryRuns: DryRuns;
  readonly statusPace: StatusPace;
  /** By `<kind> <namespace>/<name>` of the resource. */
  readonly failingSteps: FailingSteps;
  /** Likewise. */
  readonly nodePace: NodePace;
}

/** What a reconcile knows before it may compose: nobody has said yet that this operator is to write. */
export interface OperatorContext extends ReconcileContext, OperatorFacts, OperatorMemory {
  /** What events say of pods that do not start, and of workloads that get none, by uid (pod-events.ts). */
  readonly eventWords: ReadonlyMap<string, string>;
}

/** What a reconcile knows that composes and writes. */
export interface ComposeContext extends OperatorContext {
  /** Key of the digests of Secrets of the namespace. */
  readonly digestKey: DigestKey;
}

/** Reads an object from the cache, or live where the cache does not have it: it only follows what is ours. */
export async function readLive<T extends KubeObject>(
  context: OperatorContext,
  kind: Kind<T>,
  ref: ObjectRef,
): Promise<StoredObject<T> | undefined> {
  const cached = context.cache.get(kind, ref);
  if (cached !== undefined) return cached;
  try {
    return await context.client.get(kind, ref, { signal: context.signal });
  } catch (error) {
    if (isApiError(error, 404)) return undefined;
    throw error;
  }
}
