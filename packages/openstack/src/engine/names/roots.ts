import { controllerOf, type KubeObject, type OwnerReference } from '@openstack-operator/kube';

/** Kinds, by group, that are the root of a cloud: they name it, claim its nodes, and pass on what they are told. */
const roots: ReadonlySet<string> = new Set(['openstack.k8s.io/OpenStackControlPlane']);

/** Whether an object, or what an owner reference is about, is the root of a cloud, in whatever version of its API. */
export function isRoot({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): boolean {
  return roots.has(`${apiVersion.split('/', 1)[0]}/${kind}`);
}

/** The root that a resource is a child of; undefined when it stands alone, or below something of another API. */
export function rootOf(resource: KubeObject): OwnerReference | undefined {
  const owner = controllerOf(resource);
  return owner !== undefined && isRoot(owner) ? owner : undefined;
}
