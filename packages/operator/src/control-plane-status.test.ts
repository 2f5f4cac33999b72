import { cloudLabel, cloudOf, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import type { ComposeContext } from './context.ts';
import { controlPlaneStatus } from './control-plane-status.ts';

test('the status of a large cloud counts all of its nodes and lists some', () => {
  const object = {
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind: OpenStackControlPlane.kind,
    metadata: { name: 'c', namespace: 'ns', uid: 'c', resourceVersion: '1' },
  };
  const nodes = Array.from({ length: 5000 }, (_, i) => ({
    metadata: { name: `compute-${String(i).padStart(4, '0')}`, labels: { [cloudLabel]: cloudOf(object) } },
  }));
  const cache = { has: () => true, get: () => undefined, byIndex: () => nodes };
  const status = controlPlaneStatus({ object, cache } as unknown as ComposeContext);
  expect(status['claimedNodes']).toBe(5000);
  expect(status['nodes']).toHaveLength(500);
  expect((status['nodes'] as unknown[])[0]).toEqual({ name: 'compute-0000', group: 'default', phase: 'Claimed' });
});
