import { group, kinds } from '@openstack-operator/openstack';
import { operatorControllers, type PolicyRule, permissionsOf } from '@openstack-operator/operator';
import { stringify } from 'yaml';
import { type GeneratedFile, generatedNotice } from './generated-file.ts';

const labels = { 'app.kubernetes.io/name': 'openstack-operator', 'app.kubernetes.io/part-of': 'openstack-operator' };

/** `config/rbac`: what the operator may do, from what its controllers use; and what users may be given. */
export function rbac(): GeneratedFile[] {
  const { namespaced, cluster } = permissionsOf(
    operatorControllers({ digestKey: new Uint8Array(), operatorImage: '' }),
  );
  const plurals = kinds.map(({ plural }) => plural);
  const user = (name: string, aggregate: readonly string[], verbs: readonly string[]) =>
    clusterRole(
      name,
      [
        { apiGroups: [group], resources: plurals, verbs },
        { apiGroups: [group], resources: plurals.map((plural) => `${plural}/status`), verbs: ['get'] },
      ],
      {
        ...Object.fromEntries(aggregate.map((to) => [`rbac.authorization.k8s.io/aggregate-to-${to}`, 'true'])),
      },
    );
  return [
    file('role.yaml', [clusterRole('openstack-operator', [...namespaced, ...cluster])]),
    file('user_roles.yaml', [
      user('openstack-operator-view', ['view', 'edit', 'admin'], ['get', 'list', 'watch']),
      user('openstack-operator-edit', ['edit', 'admin'], ['create', 'delete', 'deletecollection', 'patch', 'update']),
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

function file(name: string, documents: readonly object[]): GeneratedFile {
  const text = documents.map((document) => stringify(document, { aliasDuplicateObjects: false })).join('---\n');
  return { path: `config/rbac/${name}`, content: `# ${generatedNotice}\n${text}` };
}
