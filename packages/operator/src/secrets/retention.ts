import { ConfigMap, type KubeObject, PersistentVolumeClaim, Secret, type StoredObject } from '@openstack-operator/kube';
import {
  fieldManager,
  kindOf,
  lastingSuffix,
  retainedFor,
  retainedForLabel,
  services,
} from '@openstack-operator/openstack';
import type { OperatorContext } from '../context.ts';
import { assertStillMeant, rootOf } from '../still-meant.ts';

/**
 * What is to outlive a resource loses its owner reference first, whatever holds its steps back, and although nothing can
 * be composed from it: who sets `deletionPolicy: Retain` because a cloud is unwell may delete it next.
 */
export async function letGo(context: OperatorContext): Promise<void> {
  if (policyOf(context.object) === 'Delete' && !isRetainedByRoot(context)) return;
  for (const live of retainable(context, context.object)) await orphan(context, live);
}

/** What is going already is not told any more by its control plane that the data are to stay. */
function isRetainedByRoot(context: OperatorContext): boolean {
  const root = rootOf(context);
  return (
    root !== context.object && context.object.metadata.deletionTimestamp !== undefined && policyOf(root) !== 'Delete'
  );
}

async function orphan(context: OperatorContext, live: StoredObject): Promise<void> {
  const { client, object: resource, signal } = context;
  const { name, namespace = '', uid, resourceVersion, ownerReferences = [] } = live.metadata;
  assertStillMeant(context, `whose end ${live.kind} ${name} goes with`);
  const others = ownerReferences.filter((owner) => owner.uid !== resource.metadata.uid);
  const labels = { [retainedForLabel]: retainedFor(resource) };
  const metadata = { uid, resourceVersion, labels, ownerReferences: others };
  await client.patch(kindOf(live), { name, namespace }, 'merge', { metadata }, { fieldManager, signal });
}

/** Volumes, what else holds data, generated Secrets, and what data are found by, that go with a resource although `Retain` would keep them. */
function retainable({ cache }: OperatorContext, resource: StoredObject): StoredObject[] {
  const { name, namespace = '' } = resource.metadata;
  const { retainedSecrets = [], foreignKinds = [] } = services.find(({ kind }) => kind.kind === resource.kind) ?? {};
  const names = retainedSecrets.map((suffix) => `${name}-${suffix}`);
  const claims = cache.has(PersistentVolumeClaim) ? cache.list(PersistentVolumeClaim, { namespace }) : [];
  return [
    ...cache.controlledBy(Secret, resource).filter(({ metadata }) => names.includes(metadata.name)),
    ...cache.controlledBy(ConfigMap, resource).filter(({ metadata }) => metadata.name === `${name}-${lastingSuffix}`),
    ...claims.filter((claim) => isOwnedBy(claim, resource)),
    ...foreignKinds.flatMap(({ kind, holdsData }) => (holdsData ? cache.controlledBy(kind, resource) : [])),
  ];
}

/** Whether a child that is to keep its data has read that, and the end of no volume and no key goes with its own. */
export function hasLetGo(context: OperatorContext, child: StoredObject): boolean {
  if (policyOf(child) === 'Delete') return false;
  const { observedGeneration } = (child['status'] ?? {}) as { observedGeneration?: number };
  // A child that never got as far has nothing yet.
  if (observedGeneration === undefined) return true;
  return observedGeneration === child.metadata.generation && retainable(context, child).length === 0;
}

/** What a spec says of it. */
export interface Policy {
  readonly deletionPolicy?: 'Retain' | 'Delete';
}

/** Whether the data of a resource go with it. */
export function policyOf(resource: KubeObject): Policy['deletionPolicy'] {
  return ((resource['spec'] ?? {}) as Policy).deletionPolicy;
}

function isOwnedBy({ metadata: { ownerReferences = [] } }: StoredObject, { metadata: { uid } }: StoredObject): boolean {
  return ownerReferences.some((owner) => owner.uid === uid);
}
