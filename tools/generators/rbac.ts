import { group, kinds } from '@openstack-operator/openstack';
import { operatorControllers, type PolicyRule, permissionsOf, useNodes } from '@openstack-operator/operator';
import { stringify } from 'yaml';
import { type GeneratedFile, generatedNotice } from './generated-file.ts';

const labels = { 'app.kubernetes.io/name': 'openstack-operator', 'app.kubernetes.io/part-of': 'openstack-operator' };

const name = 'openstack-operator';
/** The namespace of `config/default`. */
const operatorNamespace = 'openstack-operator-system';

/**
 * What the operator may do, from what its controllers use: `config/rbac` for an operator that follows the whole cluster,
 * `config/rbac-namespaced` for `--watch-namespaces`; and what users may be given.
 */
export function rbac(): GeneratedFile[] {
  const { namespaced, cluster, own } = permissionsOf(
    operatorControllers({
      operator: { name: '' },
      operatorImage: '',
      clusterDomain: '',
    }),
  );
  const plurals = kinds.map(({ plural }) => plural);
  const user = (name: string, aggregate: readonly string[], verbs: readonly string[]) =>
    clusterRole(
      name,
      [
        { apiGroups: [group], resources: plurals, verbs },
        { apiGroups: [group], resources: plurals.map((plural) => `${plural}/status`), verbs: ['get'] },
      ],
      Object.fromEntries(aggregate.map((to) => [`rbac.authorization.k8s.io/aggregate-to-${to}`, 'true'])),
    );
  return [
    file('rbac/role.yaml', [clusterRole(name, [...namespaced, ...cluster]), role(`${name}-own`, own)]),
    file('rbac-namespaced/role.yaml', [role(name, namespaced), binding('RoleBinding', name, 'Role', name)]),
    file('rbac-namespaced/cluster_role.yaml', [
      clusterRole(`${name}-cluster`, cluster),
      binding('ClusterRoleBinding', `${name}-cluster`, 'ClusterRole', `${name}-cluster`),
    ]),
    file('rbac/user_roles.yaml', [
      user('openstack-operator-view', ['view', 'edit', 'admin'], ['get', 'list', 'watch']),
      user('openstack-operator-edit', ['edit', 'admin'], ['create', 'delete', 'deletecollection', 'patch', 'update']),
      // Aggregated to none: root on nodes is not a right of those who edit a namespace.
      clusterRole('openstack-operator-use-nodes', [useNodes]),
      {
        ...clusterRole('openstack-operator-metrics-reader', []),
        rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
      },
    ]),
  ];
}

function clusterRole(name: string, rules: readonly PolicyRule[], more: Record<string, string> = {}) {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels: { ...labels, ...more } },
    rules,
  };
}

function role(name: string, rules: readonly PolicyRule[]) {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name, labels }, rules };
}

function binding(kind: string, name: string, roleKind: string, roleName: string) {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { name, labels },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: roleKind, name: roleName },
    subjects: [{ kind: 'ServiceAccount', name: 'openstack-operator', namespace: operatorNamespace }],
  };
}

function file(name: string, documents: readonly object[]): GeneratedFile {
  const text = documents.map((document) => stringify(document, { aliasDuplicateObjects: false })).join('---\n');
  return { path: `config/${name}`, content: `# ${generatedNotice}\n${text}` };
}
