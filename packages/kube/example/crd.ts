import type { CustomResourceDefinition } from '@openstack-operator/kube';

/** The definition of Website, for `kubectl create` (as JSON) or a client. */
export const websiteCrd: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'websites.example.com' },
  spec: {
    group: 'example.com',
    names: { kind: 'Website', plural: 'websites', singular: 'website' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['page', 'replicas'],
                properties: { page: { type: 'string' }, replicas: { type: 'integer', minimum: 0 } },
              },
              status: { type: 'object', properties: { readyReplicas: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
};
