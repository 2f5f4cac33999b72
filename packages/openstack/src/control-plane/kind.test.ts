import { expect, test } from 'vitest';
import { crd } from '../api/crd.ts';
import { embedded } from '../api/embed.ts';
import { Cinder } from '../services/cinder/kind.ts';
import { Nova } from '../services/nova/kind.ts';
import { OpenStackControlPlane } from './kind.ts';

test('with all services of the API its definition stays below 300 KiB', () => {
  expect(JSON.stringify(crd(OpenStackControlPlane)).length).toBeLessThan(300 * 1024);
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
