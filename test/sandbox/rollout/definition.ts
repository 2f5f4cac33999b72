import type { CustomResourceDefinition } from '@openstack-operator/kube';

/** The definition of a kind of somebody else's API, as far as the API server needs it. */
export function definition(group: string, version: string, kind: string, plural: string): CustomResourceDefinition {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api/pull/2538' },
    },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: 'Namespaced',
      versions: [
        { name: version, served: true, storage: true, schema: { openAPIV3Schema }, subresources: { status: {} } },
      ],
    },
  };
}
