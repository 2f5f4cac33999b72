import { type Client, controllerOf, PersistentVolumeClaim, type StoredObject } from '@openstack-operator/kube';
import { builtInKinds, group } from '@openstack-operator/openstack';

/** What the operator has stated in a namespace, as it lies in the cluster. */
export async function statedObjects(client: Client, namespace: string): Promise<StoredObject[]> {
  const selection = { namespace, labelSelector: 'app.kubernetes.io/managed-by=openstack-operator' };
  const stated = builtInKinds.filter(({ namespaced, group }) => namespaced && group !== 'gateway.networking.k8s.io');
  const live: StoredObject[] = [];
  for (const kind of stated) live.push(...(await client.list(kind, selection)).items.filter(isStated));
  return live;
}

/** Whether the operator states it; pods and their like are made by the cluster from what is stated. */
function isStated(object: StoredObject): boolean {
  const owner = controllerOf(object);
  const ofStatefulSet =
    owner === undefined && object.kind === PersistentVolumeClaim.kind && /-\d+$/.test(object.metadata.name);
  // The operator's own, which is nobody's.
  if (object.metadata.name === 'openstack-digest-key') return false;
  return !ofStatefulSet && (owner === undefined || owner.apiVersion.startsWith(`${group}/`));
}
