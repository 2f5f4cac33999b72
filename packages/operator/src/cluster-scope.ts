import { type Client, defineKind, type Kind, type KubeObject, Node, StorageClass } from '@openstack-operator/kube';

interface SelfSubjectAccessReview extends KubeObject {
  readonly spec: {
    readonly resourceAttributes: {
      readonly group: string;
      readonly resource: string;
      readonly verb: string;
      readonly name?: string;
    };
  };
  readonly status?: { readonly allowed: boolean };
}
const SelfSubjectAccessReview = defineKind<SelfSubjectAccessReview>(
  'authorization.k8s.io/v1',
  'SelfSubjectAccessReview',
  'selfsubjectaccessreviews',
  { namespaced: false },
);

/** Cluster-scoped kinds that the operator can do without, and what it does with them. */
const optional: readonly { kind: Kind; verbs: readonly string[] }[] = [
  { kind: Node, verbs: ['list', 'watch', 'patch'] },
  { kind: StorageClass, verbs: ['list', 'watch'] },
];

/**
 * The cluster-scoped kinds that the operator may not use, as an operator with Roles alone may not: it neither claims
 * nodes then, nor tells a StorageClass that is missing. Asked once, at start.
 */
export async function hiddenKinds(client: Client, signal: AbortSignal): Promise<Kind[]> {
  const hidden: Kind[] = [];
  for (const { kind, verbs } of optional) {
    const answers = await Promise.all(verbs.map((verb) => canI(client, { kind, verb }, signal)));
    if (answers.includes(false)) hidden.push(kind);
  }
  return hidden;
}

/** Whether the operator may do that in the whole cluster, or with the object of that name. */
export async function canI(
  client: Client,
  { kind: { group, plural }, ...asked }: { readonly kind: Kind; readonly verb: string; readonly name?: string },
  signal: AbortSignal,
): Promise<boolean> {
  const review = await client.create(
    SelfSubjectAccessReview,
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec: { resourceAttributes: { group, resource: plural, ...asked } },
    },
    { signal },
  );
  return review.status?.allowed === true;
}
