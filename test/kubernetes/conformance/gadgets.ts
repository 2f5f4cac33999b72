import { expect } from 'vitest';
import { eventually } from '../eventually.ts';
import { type Answer, testServer, uniqueName } from './server.ts';

/** Where definitions are. */
export const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A version of a definition. */
export interface Version {
  readonly name: string;
  readonly storage?: boolean;
  readonly served?: boolean;
}

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1 },
        color: { type: 'string', default: 'red', enum: ['red', 'blue'] },
        replicas: { type: 'integer' },
        parts: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, n: { type: 'integer' } },
          },
        },
      },
    },
    status: { type: 'object', properties: { phase: { type: 'string' }, replicas: { type: 'integer' } } },
  },
};

/** A definition of gadgets, in a group of its own. */
export function definition(group: string, versions: Version[] = [{ name: 'v1', storage: true }], more: object = {}) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gadgets.${group}`, ...more },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Gadget', plural: 'gadgets', shortNames: ['gd'], categories: ['all'] },
      versions: versions.map(({ name, storage = false, served = true }) => ({
        name,
        served,
        storage,
        schema: { openAPIV3Schema: schema },
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        selectableFields: [{ jsonPath: '.spec.color' }],
      })),
    },
  };
}

/** Installs a definition of a group of its own and waits until it serves. */
export async function install(namespace: string, versions?: Version[]): Promise<{ group: string; base: string }> {
  const server = await testServer();
  const group = `${uniqueName('g')}.example.com`;
  const created = await server.request('POST', crds, { body: definition(group, versions) });
  expect(created.status).toBe(201);
  const base = `/apis/${group}/v1/namespaces/${namespace}/gadgets`;
  await until(
    () => server.request('GET', base),
    ({ status }) => status === 200,
  );
  return { group, base };
}

/**
 * The real server does it a moment later. What it deletes with a definition it looks at every 5 seconds
 * (apiextensions-apiserver, crd_finalizer.go).
 */
export const until = (ask: () => Promise<Answer>, done: (answer: Answer) => boolean): Promise<Answer> =>
  eventually(ask, done);

/** One of them. */
export const gadget = (group: string, name: string, spec: object = { size: 1 }, more: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: 'Gadget',
  metadata: { name },
  spec,
  ...more,
});
