import { expect, test } from 'vitest';
import { crd } from '../api/crd.ts';
import type { Api } from '../api/define-api.ts';
import { embedded } from '../api/embed.ts';
import { type OpenApiSchema, object } from '../api/schema.ts';
import { Barbican } from '../services/barbican/kind.ts';
import { Cinder } from '../services/cinder/kind.ts';
import { Nova } from '../services/nova/kind.ts';
import { notOffered, OpenStackControlPlane } from './kind.ts';

/** The control plane with these services in place of those that it refuses by name. */
function withServices(services: Readonly<Record<string, Api>>): Api {
  const { spec } = OpenStackControlPlane;
  const fields = Object.entries(services).map(
    // Services to come are optional: clouds that exist do not get them unasked.
    ([field, api]) => [field, embedded(api, `The ${field} service.`, true)] as const,
  );
  const added = object('', Object.fromEntries(fields));
  const schema: OpenApiSchema = {
    ...spec.schema,
    properties: { ...spec.schema.properties, ...added.schema.properties },
  };
  return {
    ...OpenStackControlPlane,
    spec: { ...spec, schema, transitions: [...spec.transitions, ...added.transitions] },
  };
}

test('with all services of the API its definition stays below 300 KiB', () => {
  // Of the services to come the specification has two fields of their own on average, and Barbican has one, and an account at the broker.
  const standIns = Object.fromEntries(
    Object.keys(notOffered).map((field) => [field, { ...Barbican, kind: field, singular: field.toLowerCase() }]),
  );
  expect(Object.keys(standIns).length).toBeGreaterThan(0);
  const bytes = JSON.stringify(crd(withServices(standIns))).length;
  expect(bytes).toBeLessThan(300 * 1024);
});

test('shapes that services share are named, and told where they are explained; what a service alone has stays whole', () => {
  const { description, properties = {} } = embedded(Nova, 'The compute service.').schema;
  expect(description).toContain('kubectl explain nova.spec');
  expect(properties['components']).toEqual({
    description: 'See the kind.',
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
  });
  const groups = properties['nodeGroups'];
  expect(groups).toMatchObject({ type: 'array', 'x-kubernetes-list-map-keys': ['name'] });
  expect(groups?.items?.properties?.['virtType']?.enum).toEqual(['kvm', 'qemu']);
  expect(groups?.items?.properties?.['nodeSelector']?.additionalProperties?.maxLength).toBe(63);
});

test('what a service has to be told is not missed while it is disabled', () => {
  const { required, 'x-kubernetes-validations': rules } = embedded(Cinder, 'Block storage.').schema;
  expect(required).toBeUndefined();
  expect(rules).toContainEqual({
    rule: 'has(self.backends) || (has(self.enabled) && !self.enabled)',
    message: 'backends is required, unless enabled is false: kubectl explain cinder.spec.backends',
    fieldPath: '.backends',
  });
});
