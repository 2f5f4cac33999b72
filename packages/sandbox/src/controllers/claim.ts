import { controllerReference, type Kind, type KubeObject, keyOf } from '@openstack-operator/kube';
import type { Stored } from '../cluster/kinds.ts';
import { type LabelSelector, selectorMatches } from '../resources/metadata.ts';
import type { ControllerContext } from './controller.ts';
import type { OwnerIndex } from './owner-index.ts';

/**
 * What an owner controls of a kind: orphans that its selector meets are adopted first, those that it does not meet any
 * more are let go (ControllerRefManager).
 */
export function claim<T extends KubeObject>(
  kind: Kind<T>,
  owner: Stored,
  selector: LabelSelector | undefined,
  index: OwnerIndex<T>,
  { cluster }: ControllerContext,
): Stored<T>[] {
  const meets = ({ metadata }: Stored<T>) => selectorMatches(selector, metadata.labels ?? {});
  if (!owner.metadata.deletionTimestamp) {
    for (const orphan of index.orphans(owner.metadata.namespace ?? '')) {
      if (!meets(orphan) || orphan.metadata.deletionTimestamp) continue;
      cluster.update(kind, keyOf(orphan), ({ metadata }) => {
        metadata.ownerReferences = [...(metadata.ownerReferences ?? []), controllerReference(owner)];
      });
    }
  }
  return index.owned(owner).filter((owned) => {
    if (meets(owned)) return true;
    cluster.update(kind, keyOf(owned), ({ metadata }) => {
      metadata.ownerReferences = (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
    });
    return false;
  });
}
