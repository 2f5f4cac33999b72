import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClusterRole, ClusterRoleBinding } from '@openstack-operator/kube';
import { parse, parseDocument } from 'yaml';
import type { Cluster } from './cluster.ts';

/**
 * Gives a user the ClusterRole of a file, and no more; gives the path of a kubeconfig with which the administrator acts
 * as that user.
 */
export async function kubeconfigWith(cluster: Cluster, rights: string, name: string): Promise<string> {
  const { client, home, kubeconfig } = cluster;
  const role = parse(readFileSync(rights, 'utf8')) as ClusterRole;
  const { metadata } = await client.apply(ClusterRole, role, { fieldManager: 'foreign' });
  const apiGroup = 'rbac.authorization.k8s.io';
  const binding: ClusterRoleBinding = {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup, kind: 'ClusterRole', name: metadata.name },
    subjects: [{ apiGroup, kind: 'User', name }],
  };
  await client.apply(ClusterRoleBinding, binding, { fieldManager: 'foreign' });
  const document = parseDocument(readFileSync(kubeconfig, 'utf8'));
  document.setIn(['users', 0, 'user', 'as'], name);
  const path = join(home, `kubeconfig-${name}`);
  writeFileSync(path, document.toString(), { mode: 0o600 });
  return path;
}
