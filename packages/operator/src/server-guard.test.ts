import { Job, type Kind, type StoredObject, timestamp, virtualClock } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import type { Begun } from './pass.ts';
import { holdOf } from './server-guard.ts';

const nova: StoredObject = {
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Nova',
  metadata: { name: 'nova', namespace: 'ns', uid: 'nova', resourceVersion: '1' },
  status: { jobs: { 'nova-host-discovery': 'done' } },
};

test.each([
  [59_000, undefined, 0],
  [3_600_000, 'CountingServers', 1],
])('a Job that found no server %i ms ago leads to the hold %s', async (age, reason, removals) => {
  const clock = virtualClock();
  const complete = { type: 'Complete', status: 'True', lastTransitionTime: timestamp(clock) };
  const owner = { apiVersion: nova.apiVersion, kind: nova.kind, name: 'nova', uid: 'nova', controller: true };
  const job = {
    metadata: { name: 'nova-server-count', namespace: 'ns', uid: 'job', ownerReferences: [owner] },
    status: { conditions: [complete] },
  };
  const removed: unknown[] = [];
  const pass = {
    clock,
    cache: { list: () => [nova], get: (kind: Kind) => (kind === Job ? job : undefined) },
    remove: async (object: unknown) => void removed.push(object),
  } as unknown as Begun;
  await clock.advance(age);
  expect((await holdOf(pass, nova))?.reason).toBe(reason);
  expect(removed).toHaveLength(removals);
});
