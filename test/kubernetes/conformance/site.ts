import { type CustomResourceDefinition, defineKind, type Kind, type KubeObject } from '@openstack-operator/kube';

/** A kind `Site` of a group, with a status and whatever fields, and its definition: for controllers that are tried. */
export function siteOf<T extends KubeObject>(group: string): { kind: Kind<T>; definition: CustomResourceDefinition } {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `sites.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Site', plural: 'sites' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
  return {
    kind: defineKind<T>(`${group}/v1`, 'Site', 'sites'),
    definition: definition as unknown as CustomResourceDefinition,
  };
}
