import { type Controller, Event, type Kind, Lease, Node, Pod } from '@openstack-operator/kube';

/** One rule of a Role or ClusterRole. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const read = ['get', 'list', 'watch'];
const write = ['create', 'patch', 'delete'];

/**
 * The rights that the controllers use, and no others: read what they follow, write what they own, state the status of
 * their kinds. `cluster` are those that no Role can give.
 */
export function permissionsOf(controllers: readonly Controller[]): { namespaced: PolicyRule[]; cluster: PolicyRule[] } {
  const rights = new Map<string, { kind: Kind; verbs: Set<string>; status: boolean; finalizers: boolean }>();
  const allow = (kind: Kind, verbs: readonly string[]) => {
    const id = `${kind.group}/${kind.plural}`;
    const entry = rights.get(id) ?? { kind, verbs: new Set<string>(), status: false, finalizers: false };
    for (const verb of verbs) entry.verbs.add(verb);
    rights.set(id, entry);
    return entry;
  };
  for (const { kind, owns = [], watches = [] } of controllers) {
    const entry = allow(kind, [...read, 'patch']);
    entry.status = true;
    // An owner reference that blocks the owner's deletion needs the right to finalize the owner.
    entry.finalizers = true;
    for (const owned of owns) allow('plural' in owned ? owned : owned.kind, [...read, ...write]);
    for (const watched of watches) allow(watched.kind, read);
  }
  // Secrets are completed and rotated under their resourceVersion, which is a PUT.
  for (const { kind, verbs } of rights.values()) if (kind.kind === 'Secret') verbs.add('update');
  allow(Node, ['patch']);
  // Pods that block their own correction are replaced (stuck-pods.ts).
  allow(Pod, ['delete']);
  allow(Event, ['create', 'patch']);
  allow(Lease, ['get', 'create', 'update', 'patch']);
  const rules = [...rights.values()].sort((a, b) =>
    a.kind.group + a.kind.plural < b.kind.group + b.kind.plural ? -1 : 1,
  );
  const ruleOf = ({ kind, verbs, status, finalizers }: (typeof rules)[number]): PolicyRule[] => [
    { apiGroups: [kind.group], resources: [kind.plural], verbs: [...verbs].sort() },
    ...(status ? [{ apiGroups: [kind.group], resources: [`${kind.plural}/status`], verbs: ['get', 'patch'] }] : []),
    ...(finalizers ? [{ apiGroups: [kind.group], resources: [`${kind.plural}/finalizers`], verbs: ['update'] }] : []),
  ];
  return {
    namespaced: rules.filter(({ kind }) => kind.namespaced).flatMap(ruleOf),
    cluster: rules.filter(({ kind }) => !kind.namespaced).flatMap(ruleOf),
  };
}
