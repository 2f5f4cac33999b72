import type { KubeObject } from '@openstack-operator/kube';
import type { Api } from './define-api.ts';
import { group, version } from './define-api.ts';
import { neededFields } from './needed-fields.ts';
import { type Field, mapped, type OpenApiSchema, rule, transitionRules } from './schema.ts';

/**
 * The schema of a whole object of `api`, as the CRD has it. `spec` defaults to `{}`, so that defaults and rules below
 * it hold for an object without a spec as well; where a field has to be said, there has to be a spec.
 */
export function objectSchema(api: Api): OpenApiSchema {
  const isNeeded = neededFields(api.spec.schema).length > 0;
  return {
    description: api.description,
    type: 'object',
    properties: {
      apiVersion: { type: 'string', description: `${group}/${version}.` },
      kind: { type: 'string', description: `${api.kind}.` },
      // The name is there only so that rules can point to it.
      metadata: { type: 'object', properties: { name: { type: 'string' } } },
      spec: { ...specSchema(api.spec), ...(isNeeded ? {} : { default: {} }) },
      status: api.status.schema,
    },
    ...(isNeeded ? { required: ['spec'] } : {}),
    'x-kubernetes-validations': api.rules,
  };
}

function specSchema(spec: Field): OpenApiSchema {
  const rules = [...(spec.schema['x-kubernetes-validations'] ?? []), ...transitionRules(spec)];
  return { ...spec.schema, ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }) };
}

/**
 * A schema as an API server gets it: what a text has to look like is a rule that says it in words. A quantity keeps its
 * pattern, because of what may be a number the server knows no greatest length, and takes a rule on it for too costly.
 */
function served(schema: OpenApiSchema): OpenApiSchema {
  const { 'x-expected': expected, pattern, 'x-kubernetes-validations': rules = [], ...rest } = mapped(schema, served);
  const isRule = expected !== undefined && pattern !== undefined && schema.type === 'string';
  const all = isRule ? [rule(`self.matches(${JSON.stringify(pattern)})`, `expected ${expected}`), ...rules] : rules;
  return {
    ...rest,
    ...(isRule || pattern === undefined ? {} : { pattern }),
    ...(all.length === 0 ? {} : { 'x-kubernetes-validations': all.map(({ refusesEmpty: _refuses, ...one }) => one) }),
  };
}

/** The `apiextensions.k8s.io/v1` CustomResourceDefinition of `api`. */
export function crd(api: Api): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${api.plural}.${group}`,
      annotations: {
        // Groups below k8s.io are protected (KEP-2337): without this the API server refuses the CRD.
        'api-approved.kubernetes.io': 'unapproved, the group belongs to the API that this operator implements',
      },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        kind: api.kind,
        listKind: `${api.kind}List`,
        plural: api.plural,
        singular: api.singular,
        shortNames: api.shortNames,
        categories: ['openstack'],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: served(objectSchema(api)) },
          subresources: { status: {} },
          additionalPrinterColumns: [
            { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'How far the resource is' },
            {
              name: 'Ready',
              type: 'string',
              jsonPath: '.status.conditions[?(@.type=="Ready")].status',
              description: 'Whether it is usable as it is asked for',
            },
            ...api.columns,
            { name: 'Message', type: 'string', jsonPath: '.status.message', description: 'What is awaited' },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Time since creation' },
          ],
        },
      ],
    },
  };
}
