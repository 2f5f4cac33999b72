import { Role, RoleBinding, ServiceAccount } from '@openstack-operator/kube';
import { labelsOf } from '../names/names.ts';
import type { Context } from './context.ts';
import type { Service } from './service.ts';
import type { Desired } from './step.ts';

/** What pods of a component, or of a Job, may do in the namespace of their resource (rbac.authorization.k8s.io/v1, PolicyRule). */
export interface AccessRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Suffixes of the resource's own objects that alone are meant; default: all objects of these resources. */
  readonly own?: readonly string[];
}

/** What a Job needs that publishes an artifact of the first suffix, which supersedes the others: to write these Secrets. */
export function publishing(...own: readonly string[]): AccessRule {
  return { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'patch'], own };
}

/** The kinds that give access. */
export const accessKinds = [ServiceAccount, Role, RoleBinding];

/** Name of the ServiceAccount of a component or a Job; undefined for one without access, which has no token either. */
export function serviceAccountOf(
  { access }: Pick<Service, 'access'>,
  context: Context,
  name: string,
): string | undefined {
  return access !== undefined && Object.hasOwn(access, name) ? context.named(name) : undefined;
}

/**
 * The ServiceAccounts of a resource, each with a Role of the same name that is bound to it. `present`: names of the components and
 * Jobs that it has.
 */
export function accessObjects(
  { name: service, access = {} }: Service,
  context: Context,
  present: readonly string[],
): Desired[] {
  return Object.entries(access).flatMap(([name, rules]): Desired[] => {
    if (!present.includes(name)) return [];
    const { namespace } = context;
    const metadata = { name: context.named(name), namespace, labels: labelsOf(service, context.name, name) };
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const stated = rules.map(({ own, ...rule }) => ({
      ...rule,
      ...(own === undefined ? {} : { resourceNames: own.map((suffix) => context.named(suffix)) }),
    }));
    return [
      // A token comes with the pods that ask for it alone.
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false },
      { apiVersion, kind: 'Role', metadata, rules: stated },
      {
        apiVersion,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
        subjects: [{ kind: 'ServiceAccount', name: metadata.name, namespace }],
      },
    ].map((object) => ({ verb: 'apply', object }));
  });
}
