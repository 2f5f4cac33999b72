import type { KubeObject } from '@openstack-operator/kube';
import { invalid, notSupported, required, struct } from '../field-error.ts';
import { deepEqual, objectOf, objectsOf, textOf } from '../json.ts';
import { isPathSegment, nameCheck } from '../names.ts';
import { child, index } from '../path.ts';
import type { Cell, FieldError } from '../resource-type.ts';
import { builtinType } from './builtin-type.ts';
import { ageOf, nameOf } from './cells.ts';

const name = nameCheck(isPathSegment);
const group = 'rbac.authorization.k8s.io';

function validateRules(role: KubeObject, namespaced: boolean): FieldError[] {
  return objectsOf(role.rules).flatMap((rule, position) => {
    const at = index('rules', position);
    const empty = (field: string) => !Array.isArray(rule[field]) || rule[field].length === 0;
    const errors: FieldError[] = [];
    if (empty('verbs')) errors.push(required(child(at, 'verbs'), 'verbs must contain at least one value'));
    if (!empty('nonResourceURLs')) {
      if (namespaced) {
        errors.push(
          invalid(
            child(at, 'nonResourceURLs'),
            rule.nonResourceURLs,
            'namespaced rules cannot apply to non-resource URLs',
          ),
        );
      }
      if (!empty('apiGroups') || !empty('resources') || !empty('resourceNames')) {
        errors.push(
          invalid(
            child(at, 'nonResourceURLs'),
            rule.nonResourceURLs,
            'rules cannot apply to both regular resources and non-resource URLs',
          ),
        );
      }
      return errors;
    }
    if (empty('apiGroups'))
      errors.push(required(child(at, 'apiGroups'), 'resource rules must supply at least one api group'));
    if (empty('resources'))
      errors.push(required(child(at, 'resources'), 'resource rules must supply at least one resource'));
    return errors;
  });
}

function roleRow(object: KubeObject): Cell[] {
  return [nameOf(object), object.metadata.creationTimestamp ?? null];
}

/** `rbac.authorization.k8s.io/v1/Role`. */
export const role = builtinType(`${group}/v1/Role`, {
  name,
  validate: (object) => validateRules(object, true),
  row: roleRow,
});

/** `rbac.authorization.k8s.io/v1/ClusterRole`. */
export const clusterRole = builtinType(`${group}/v1/ClusterRole`, {
  name,
  validate: (object) => validateRules(object, false),
  row: roleRow,
});

function validateBinding(binding: KubeObject, kinds: readonly string[], namespaced: boolean): FieldError[] {
  const reference = objectOf(binding.roleRef);
  const errors: FieldError[] = [];
  if (reference.apiGroup !== group) errors.push(notSupported('roleRef.apiGroup', reference.apiGroup, [group]));
  if (!kinds.includes(textOf(reference.kind))) errors.push(notSupported('roleRef.kind', reference.kind ?? '', kinds));
  if (!reference.name) errors.push(required('roleRef.name'));
  else
    errors.push(
      ...isPathSegment(textOf(reference.name)).map((message) => invalid('roleRef.name', reference.name, message)),
    );
  for (const [position, subject] of objectsOf(binding.subjects).entries()) {
    errors.push(...validateSubject(subject, index('subjects', position), namespaced));
  }
  return errors;
}

function validateSubject(subject: Record<string, unknown>, path: string, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (!subject.name) errors.push(required(child(path, 'name')));
  const apiGroup = textOf(subject.apiGroup);
  if (subject.kind === 'ServiceAccount') {
    if (apiGroup !== '') errors.push(notSupported(child(path, 'apiGroup'), apiGroup, ['']));
    if (!namespaced && !subject.namespace) errors.push(required(child(path, 'namespace')));
  } else if (subject.kind === 'User' || subject.kind === 'Group') {
    if (apiGroup !== group) errors.push(notSupported(child(path, 'apiGroup'), apiGroup, [group]));
  } else {
    errors.push(notSupported(child(path, 'kind'), subject.kind ?? '', ['ServiceAccount', 'User', 'Group']));
  }
  return errors;
}

function validateSameRole(binding: KubeObject, old: KubeObject): FieldError[] {
  if (deepEqual(binding.roleRef, old.roleRef)) return [];
  const { apiGroup, kind, name } = objectOf(binding.roleRef);
  return [invalid('roleRef', struct(['APIGroup', apiGroup], ['Kind', kind], ['Name', name]), 'cannot change roleRef')];
}

function bindingRow(binding: KubeObject, now: number): Cell[] {
  const reference = objectOf(binding.roleRef);
  const subjects = objectsOf(binding.subjects);
  const names = (kind: string) =>
    subjects
      .filter((subject) => subject.kind === kind)
      .map((subject) =>
        kind === 'ServiceAccount' ? `${textOf(subject.namespace)}/${textOf(subject.name)}` : textOf(subject.name),
      )
      .join(', ');
  return [
    nameOf(binding),
    `${textOf(reference.kind)}/${textOf(reference.name)}`,
    ageOf(binding, now),
    names('User'),
    names('Group'),
    names('ServiceAccount'),
  ];
}

/** `rbac.authorization.k8s.io/v1/RoleBinding`. */
export const roleBinding = builtinType(`${group}/v1/RoleBinding`, {
  name,
  validate: (object) => validateBinding(object, ['Role', 'ClusterRole'], true),
  validateUpdate: validateSameRole,
  row: bindingRow,
});

/** `rbac.authorization.k8s.io/v1/ClusterRoleBinding`. */
export const clusterRoleBinding = builtinType(`${group}/v1/ClusterRoleBinding`, {
  name,
  validate: (object) => validateBinding(object, ['ClusterRole'], false),
  validateUpdate: validateSameRole,
  row: bindingRow,
});
