import {
  type Controller,
  CustomResourceDefinition,
  Event,
  type Kind,
  Lease,
  Node,
  Pod,
  Secret,
} from '@openstack-operator/kube';
import { dataKinds, OpenStackControlPlane, services } from '@openstack-operator/openstack';
import { formerDigestKeySecret } from './secrets/digest-key.ts';
import { definitionNames } from './served-definitions.ts';

/** One rule of a Role or ClusterRole. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** The rights of the operator, by where they are needed. */
export interface Permissions {
  /** In every namespace that it follows. */
  readonly namespaced: readonly PolicyRule[];
  /** On what no namespace has: no Role can give them, and the operator works without (`cluster-scope.ts`). */
  readonly cluster: readonly PolicyRule[];
  /** In its own namespace. */
  readonly own: readonly PolicyRule[];
}

/** Name of the lease of the leader election, in the operator's own namespace. */
export const leaseName = 'openstack-operator';

/**
 * Who may state what has agents run as root on nodes: a verb of OpenStackControlPlanes that the policies of
 * `config/admission` ask for.
 */
export const useNodes: PolicyRule = {
  apiGroups: [OpenStackControlPlane.group],
  resources: [OpenStackControlPlane.plural],
  verbs: ['use-nodes'],
};

const follow = ['list', 'watch'];
/** Stated by server-side apply, read live before the first time, deleted when no longer wanted. */
const state = ['get', 'create', 'patch', 'delete'];

/** Owned kinds that are not written as the others are. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  // Made once for each set of inputs, and never changed.
  Job: ['get', 'create', 'delete'],
  // Completed and rotated under their resourceVersion, which is a PUT; never deleted, as the volumes are.
  Secret: ['get', 'create', 'patch', 'update'],
  PersistentVolumeClaim: ['get', 'create', 'patch'],
  ...Object.fromEntries(dataKinds.map(({ kind }) => [kind, ['get', 'create', 'patch']])),
};

/** The rights that the controllers use, and no others: follow what they watch, write what they own, state the status. */
export function permissionsOf(controllers: readonly Controller[]): Permissions {
  const rights = new Map<string, { kind: Kind; verbs: Set<string>; reconciled: boolean }>();
  const allow = (kind: Kind, verbs: readonly string[], reconciled = false) => {
    const id = `${kind.group}/${kind.plural}`;
    const entry = rights.get(id) ?? { kind, verbs: new Set<string>(), reconciled: false };
    for (const verb of verbs) entry.verbs.add(verb);
    rights.set(id, { ...entry, reconciled: entry.reconciled || reconciled });
  };
  for (const { kind, owns = [], watches = [] } of controllers) {
    // Its finalizer is a patch.
    allow(kind, [...follow, 'patch'], true);
    for (const owned of owns) {
      const kind = 'plural' in owned ? owned : owned.kind;
      allow(kind, [...follow, ...(exceptions[kind.kind] ?? state)]);
    }
    for (const watched of watches) allow(watched.kind, follow);
  }
  allow(Node, ['patch']);
  // Pods that block their own correction are replaced (stuck-pods.ts).
  allow(Pod, ['delete']);
  const rules = [...rights.values()].sort((a, b) =>
    a.kind.group + a.kind.plural < b.kind.group + b.kind.plural ? -1 : 1,
  );
  const ruleOf = ({ kind, verbs, reconciled }: (typeof rules)[number]): PolicyRule[] => [
    rule(kind, kind.plural, [...verbs].sort()),
    ...(reconciled
      ? [
          rule(kind, `${kind.plural}/status`, ['patch']),
          // An owner reference that blocks the owner's deletion needs the right to finalize the owner.
          rule(kind, `${kind.plural}/finalizers`, ['update']),
        ]
      : []),
  ];
  return {
    namespaced: [
      ...rules.filter(({ kind }) => kind.namespaced).flatMap(ruleOf),
      // Those of a pod whose volumes cannot be mounted, of a workload whose pods are refused (pod-events.ts).
      rule(Event, Event.plural, ['list']),
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      useNodes,
      // Whoever gives rights has to have them.
      ...services.flatMap(({ access = {} }) =>
        Object.values(access).flatMap((rules) => rules.map(({ own: _own, ...rule }) => rule)),
      ),
    ],
    cluster: [
      ...rules.filter(({ kind }) => !kind.namespaced).flatMap(ruleOf),
      {
        ...rule(CustomResourceDefinition, CustomResourceDefinition.plural, ['get']),
        resourceNames: definitionNames,
      },
      // Who asks for its metrics, and whether that one may.
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ],
    own: [
      rule(Lease, Lease.plural, ['create']),
      { ...rule(Lease, Lease.plural, ['get', 'update']), resourceNames: [leaseName] },
      { ...rule(Secret, Secret.plural, ['get']), resourceNames: [formerDigestKeySecret] },
      // Its own, for the image of its Jobs.
      rule(Pod, Pod.plural, ['get']),
    ],
  };
}

function rule({ group }: Kind, resource: string, verbs: readonly string[]): PolicyRule {
  return { apiGroups: [group], resources: [resource], verbs };
}
