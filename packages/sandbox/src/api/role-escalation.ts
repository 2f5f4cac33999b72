import type { KubeObject } from '@openstack-operator/kube';
import { deepEqual } from '../resources/json.ts';
import type { AdmissionPlugin, Core } from './core.ts';
import {
  type Access,
  allows,
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  mayAccess,
  type PolicyRule,
  ROLE_BINDINGS,
  ROLES,
  rulesFor,
  rulesOfRef,
} from './rbac.ts';
import type { User } from './request-info.ts';
import { forbidden } from './status.ts';

interface Rbac extends KubeObject {
  readonly rules?: readonly PolicyRule[] | null;
  readonly roleRef?: { readonly kind: string; readonly name: string };
}

/** Nobody grants what they do not hold, unless they may `escalate` (roles) or `bind` (bindings). */
export function roleEscalation(core: Core): AdmissionPlugin {
  return {
    name: 'RoleEscalation',
    validate({ operation, served, namespace, name, user, object, old }) {
      if (operation === 'DELETE' || !object) return;
      const { id, groupResource } = served;
      const role = object as Rbac;
      const before = old as Rbac | undefined;
      let granted: readonly PolicyRule[];
      let access: Access;
      if (id === ROLES || id === CLUSTER_ROLES) {
        if (before && deepEqual(role.rules ?? [], before.rules ?? [])) return;
        granted = role.rules ?? [];
        access = { verb: 'escalate', group: groupResource.group, resource: groupResource.resource, namespace, name };
      } else if ((id === ROLE_BINDINGS || id === CLUSTER_ROLE_BINDINGS) && role.roleRef) {
        if (before && deepEqual(role['subjects'], before['subjects'])) return;
        granted = rulesOfRef(core.store, role.roleRef, namespace);
        const resource = role.roleRef.kind === 'Role' ? 'roles' : 'clusterroles';
        access = { verb: 'bind', group: groupResource.group, resource, namespace, name: role.roleRef.name };
      } else return;
      if (mayAccess(core.store, user, access)) return;
      const held = rulesFor(core.store, user, namespace);
      const missing = granted.flatMap(singleRules).filter((one) => !held.some((rule) => covers(rule, one)));
      if (missing.length === 0) return;
      throw forbidden(groupResource, name, describeEscalation(user, missing));
    },
  };
}

/** A rule taken apart into rules of one verb, group and resource. */
function singleRules(rule: PolicyRule): PolicyRule[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = resourceNames.length > 0 ? resourceNames.map((name) => [name]) : [undefined];
  return verbs.flatMap((verb) => [
    ...nonResourceURLs.map((url) => ({ verbs: [verb], nonResourceURLs: [url] })),
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        names.map((name) => ({
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          ...(name && { resourceNames: name }),
        })),
      ),
    ),
  ]);
}

function covers(rule: PolicyRule, one: PolicyRule): boolean {
  const verb = one.verbs[0] ?? '';
  const path = one.nonResourceURLs?.[0];
  if (path !== undefined) return allows(rule, { verb, path });
  const name = one.resourceNames?.[0] ?? '';
  // A rule for all names is not covered by one for some.
  if (rule.resourceNames?.length && !one.resourceNames) return false;
  return allows(rule, {
    verb,
    group: one.apiGroups?.[0] ?? '',
    resource: one.resources?.[0] ?? '',
    namespace: '',
    name,
  });
}

function describeEscalation(user: User, missing: readonly PolicyRule[]): string {
  const list = (values: readonly string[] = []) => `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
  const lines = compact(missing).map((rule) =>
    rule.nonResourceURLs
      ? `{NonResourceURLs:${list(rule.nonResourceURLs)}, Verbs:${list(rule.verbs)}}`
      : `{APIGroups:${list(rule.apiGroups)}, Resources:${list(rule.resources)}${rule.resourceNames ? `, ResourceNames:${list(rule.resourceNames)}` : ''}, Verbs:${list(rule.verbs)}}`,
  );
  const groups = `[${user.groups.map((group) => JSON.stringify(group)).join(' ')}]`;
  return `user ${JSON.stringify(user.name)} (groups=${groups}) is attempting to grant RBAC permissions not currently held:\n${lines.sort().join('\n')}`;
}

/** Rules that differ in their verbs alone become one. */
function compact(rules: readonly PolicyRule[]): PolicyRule[] {
  const groups = Map.groupBy(rules, (rule) => JSON.stringify({ ...rule, verbs: undefined }));
  return [...groups.values()].map((same) => ({ ...same[0], verbs: same.flatMap(({ verbs }) => verbs) }));
}
