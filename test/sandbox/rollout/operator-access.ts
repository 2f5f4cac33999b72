import { readFileSync } from 'node:fs';
import { operatorNamespace } from '@openstack-operator/cli';
import { ClusterRole, ClusterRoleBinding, type Kind, type KubeObject, type Transport } from '@openstack-operator/kube';
import { kindOf as kindOfOurs } from '@openstack-operator/openstack';
import type { User } from '@openstack-operator/sandbox';
import { parseAllDocuments } from 'yaml';
import { type Cloud, createCloud } from './cloud.ts';

/** Who the operator's pod is. */
export const operatorUser: User = {
  name: `system:serviceaccount:${operatorNamespace}:openstack-operator`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${operatorNamespace}`, 'system:authenticated'],
};

/** The objects of a file of `config/`, in the namespace that kustomize gives them, or in `namespace`. */
export function configObjects(path: string, namespace = operatorNamespace): KubeObject[] {
  const objects = parseAllDocuments(readFileSync(`config/${path}`, 'utf8')).map((one) => one.toJS() as KubeObject);
  return objects.map((object) =>
    kindOf(object).namespaced ? { ...object, metadata: { ...object.metadata, namespace } } : object,
  );
}

/** Installs files of `config/`. */
export async function install(cloud: Cloud, paths: readonly string[], namespace?: string): Promise<void> {
  const client = cloud.rehearsal.sandbox.client();
  for (const object of paths.flatMap((path) => configObjects(path, namespace))) {
    await cloud.settle(client.create(kindOf(object), object));
  }
}

/** The kind of an object of `config/`. */
export function kindOf(object: KubeObject): Kind {
  return (
    [ClusterRole as Kind, ClusterRoleBinding as Kind].find(({ kind }) => kind === object.kind) ?? kindOfOurs(object)
  );
}

/** A cloud whose operator has the rights of config/rbac alone, and runs; `refused`: the requests that lack some. */
export async function cloudWithRights(): Promise<{ readonly cloud: Cloud; readonly refused: readonly string[] }> {
  const refused: string[] = [];
  const wire = (transport: Transport): Transport => ({
    ...transport,
    request: async (request, signal) => {
      const response = await transport.request(request, signal);
      if (response.status === 403) refused.push(`${request.method} ${request.path}`);
      return response;
    },
  });
  const cloud = await createCloud({ server: { authorization: 'RBAC' }, wire });
  await install(cloud, ['rbac/service_account.yaml', 'rbac/role.yaml', 'rbac/role_binding.yaml']);
  await cloud.startOperator({ user: operatorUser });
  return { cloud, refused };
}
