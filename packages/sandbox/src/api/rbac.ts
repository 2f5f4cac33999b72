import type { KubeObject } from '@openstack-operator/kube';
import { quote } from '../resources/field-error.ts';
import { type LabelSelector, selectorMatches } from '../resources/metadata.ts';
import type { RequestInfo, User } from './request-info.ts';
import { forbidden, StatusError } from './status.ts';
import type { Store } from './store.ts';

const GROUP = 'rbac.authorization.k8s.io';
export const ROLES = `roles.${GROUP}`;
export const CLUSTER_ROLES = `clusterroles.${GROUP}`;
export const ROLE_BINDINGS = `rolebindings.${GROUP}`;
export const CLUSTER_ROLE_BINDINGS = `clusterrolebindings.${GROUP}`;

/** `rbac/v1` PolicyRule. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** What somebody wants to do. `resource` may have a subresource (`pods/log`). */
export type Access =
  | {
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly namespace: string;
      readonly name: string;
    }
  | { readonly verb: string; readonly path: string };

interface Role extends KubeObject {
  readonly rules?: readonly PolicyRule[] | null;
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] };
}

interface Binding extends KubeObject {
  readonly subjects?: readonly { kind: string; name: string; namespace?: string }[];
  readonly roleRef: { readonly kind: string; readonly name: string };
}

const review = (resources: string[], apiGroup: string): PolicyRule => ({
  verbs: ['create'],
  apiGroups: [apiGroup],
  resources,
});

/** What bootstrap roles of every cluster grant (system:public-info-viewer, system:discovery, system:basic-user). */
const TO_EVERYBODY: readonly PolicyRule[] = [
  { verbs: ['get'], nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'] },
];
const TO_AUTHENTICATED: readonly PolicyRule[] = [
  { verbs: ['get'], nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'] },
  review(['selfsubjectaccessreviews', 'selfsubjectrulesreviews'], 'authorization.k8s.io'),
  review(['selfsubjectreviews'], 'authentication.k8s.io'),
];

/** Every rule that holds for a user: cluster-wide, and in `namespace` when one is given. */
export function rulesFor(store: Store, user: User, namespace: string): PolicyRule[] {
  if (user.groups.includes('system:masters')) {
    return [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ];
  }
  const rules = [...TO_EVERYBODY];
  if (user.groups.includes('system:authenticated')) rules.push(...TO_AUTHENTICATED);
  const bindings = [
    ...store.list(CLUSTER_ROLE_BINDINGS),
    ...(namespace ? store.list(ROLE_BINDINGS, namespace) : []),
  ] as unknown as Binding[];
  for (const binding of bindings) {
    if (!binding.subjects?.some((subject) => isSubject(user, subject, binding.metadata.namespace ?? ''))) continue;
    rules.push(...rulesOfRef(store, binding.roleRef, binding.metadata.namespace ?? ''));
  }
  return rules;
}

/** The rules of the role that a binding names; none when it is not there. */
export function rulesOfRef(store: Store, ref: Binding['roleRef'], namespace: string): readonly PolicyRule[] {
  if (ref.kind === 'Role') {
    const role = store.get(ROLES, `${namespace}/${ref.name}`) as unknown as Role | undefined;
    return role?.rules ?? [];
  }
  const role = store.get(CLUSTER_ROLES, ref.name) as unknown as Role | undefined;
  if (!role)
    return ref.name === 'cluster-admin'
      ? [
          { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
          { verbs: ['*'], nonResourceURLs: ['*'] },
        ]
      : [];
  const selectors = role.aggregationRule?.clusterRoleSelectors;
  if (!selectors) return role.rules ?? [];
  // Aggregated when asked: upstream a controller writes the sum into the role.
  const parts = (store.list(CLUSTER_ROLES) as unknown as Role[]).filter(
    (other) =>
      other.metadata.name !== ref.name &&
      selectors.some((selector) => selectorMatches(selector, other.metadata.labels ?? {})),
  );
  return parts.flatMap((part) => part.rules ?? []);
}

/** Whether a rule lets somebody do it. */
export function allows(rule: PolicyRule, access: Access): boolean {
  if (!matches(rule.verbs, access.verb)) return false;
  if ('path' in access) {
    return (rule.nonResourceURLs ?? []).some(
      (url) => url === '*' || url === access.path || (url.endsWith('*') && access.path.startsWith(url.slice(0, -1))),
    );
  }
  const { group, resource, name } = access;
  const slash = resource.indexOf('/');
  const wildcard = slash < 0 ? undefined : `*${resource.slice(slash)}`;
  const resources = rule.resources ?? [];
  if (!matches(rule.apiGroups ?? [], group)) return false;
  if (!matches(resources, resource) && !(wildcard && resources.includes(wildcard))) return false;
  return !rule.resourceNames?.length || rule.resourceNames.includes(name);
}

/** What a request wants to do. */
export function accessOf(info: RequestInfo): Access {
  if (!info.isResource) return { verb: info.verb, path: info.path };
  const resource = info.subresource ? `${info.resource}/${info.subresource}` : info.resource;
  return { verb: info.verb, group: info.group, resource, namespace: info.namespace, name: info.name };
}

/** Whether the user may. */
export function mayAccess(store: Store, user: User, access: Access): boolean {
  const namespace = 'path' in access ? '' : access.namespace;
  return rulesFor(store, user, namespace).some((rule) => allows(rule, access));
}

/** The refusal of what `mayAccess` denies, in the real words. */
export function accessDenied(user: User, access: Access): StatusError {
  const who = `User ${quote(user.name)} cannot ${access.verb}`;
  if ('path' in access) {
    return new StatusError(403, 'Forbidden', `forbidden: ${who} path ${quote(access.path)}`, {});
  }
  const { group, resource, namespace, name } = access;
  const where = namespace ? `in the namespace ${quote(namespace)}` : 'at the cluster scope';
  const because = `${who} resource ${quote(resource)} in API group ${quote(group)} ${where}`;
  return forbidden({ group, resource: resource.split('/')[0] ?? '' }, name, because);
}

function matches(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}

function isSubject(
  user: User,
  subject: { kind: string; name: string; namespace?: string },
  namespace: string,
): boolean {
  switch (subject.kind) {
    case 'User':
      return subject.name === user.name;
    case 'Group':
      return user.groups.includes(subject.name);
    case 'ServiceAccount':
      return user.name === `system:serviceaccount:${subject.namespace || namespace}:${subject.name}`;
    default:
      return false;
  }
}
