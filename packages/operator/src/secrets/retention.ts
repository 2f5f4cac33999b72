import { type KubeObject, PersistentVolumeClaim, Secret, type StoredObject } from '@openstack-operator/kube';
import { fieldManager, kindOf, retainedFor, retainedForLabel, services } from '@openstack-operator/openstack';
import type { Begun } from '../pass.ts';
import { assertStillMeant, rootOf } from '../still-meant.ts';

/**
 * What is to outlive a resource loses its owner reference first, whatever holds its steps back, and although nothing can
 * be composed from it: who sets `deletionPolicy: Retain` because a cloud is unwell may delete it next.
 */
export async function letGo(pass: Begun): Promise<void> {
  if (policyOf(pass.object) === 'Delete' && !isRetainedByRoot(pass)) return;
  for (const live of retainable(pass, pass.object)) await orphan(pass, live);
}

/** What is going already is not told any more by its control plane that the data are to stay. */
function isRetainedByRoot(pass: Begun): boolean {
  const root = rootOf(pass);
  return root !== pass.object && pass.object.metadata.deletionTimestamp !== undefined && policyOf(root) !== 'Delete';
}

async function orphan(pass: Begun, live: StoredObject): Promise<void> {
  const { client, object: resource, signal } = pass;
  const { name, namespace = '', uid, resourceVersion, ownerReferences = [] } = live.metadata;
  assertStillMeant(pass, `whose end ${live.kind} ${name} goes with`);
  const others = ownerReferences.filter((owner) => owner.uid !== resource.metadata.uid);
  const labels = { [retainedForLabel]: retainedFor(resource) };
  const metadata = { uid, resourceVersion, labels, ownerReferences: others };
  await client.patch(kindOf(live), { name, namespace }, 'merge', { metadata }, { fieldManager, signal });
}

/** Volumes and generated Secrets that go with a resource although `Retain` would keep them. */
function retainable({ cache }: Begun, resource: StoredObject): StoredObject[] {
  const { name, namespace = '' } = resource.metadata;
  const { retainedSecrets = [] } = services.find(({ kind }) => kind.kind === resource.kind) ?? {};
  const names = retainedSecrets.map((suffix) => `${name}-${suffix}`);
  const claims = cache.has(PersistentVolumeClaim) ? cache.list(PersistentVolumeClaim, { namespace }) : [];
  return [
    ...cache.controlledBy(Secret, resource).filter(({ metadata }) => names.includes(metadata.name)),
    ...claims.filter((claim) => isOwnedBy(claim, resource)),
  ];
}

/** Whether a child that is to keep its data has read that, and the end of no volume and no key goes with its own. */
export function hasLetGo(pass: Begun, child: StoredObject): boolean {
  if (policyOf(child) === 'Delete') return false;
  const { observedGeneration } = (child['status'] ?? {}) as { observedGeneration?: number };
  // A child that never got as far has nothing yet.
  if (observedGeneration === undefined) return true;
  return observedGeneration === child.metadata.generation && retainable(pass, child).length === 0;
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
