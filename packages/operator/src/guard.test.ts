import { Job, type Kind, type StoredObject, timestamp, virtualClock } from '@openstack-operator/kube';
import { annotations, Neutron, Nova } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import type { OperatorContext } from './context.ts';
import { holdOf } from './guard.ts';

const nova: StoredObject = {
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Nova',
  metadata: { name: 'nova', namespace: 'ns', uid: 'nova', resourceVersion: '1' },
  status: { jobs: { 'nova-host-discovery': 'done' } },
};

test.each([
  [59_000, 0, undefined, 0],
  [3_600_000, 0, 'CountingResources', 1],
  [59_000, 7_200_000, undefined, 0],
  [3_600_000, 7_200_000, 'CountingResources', 1],
  [59_000, -7_200_000, undefined, 0],
  [3_600_000, -7_200_000, 'CountingResources', 1],
])(
  'a Job that found no server %i ms ago, asked %i ms ahead, leads to the hold %s',
  async (age, ahead, reason, removals) => {
    const clock = virtualClock();
    const creationTimestamp = timestamp(clock);
    const asked = timestamp({ ...clock, now: () => clock.now() + ahead });
    await clock.advance(20_000);
    const complete = { type: 'Complete', status: 'True', lastTransitionTime: timestamp(clock) };
    const owner = { apiVersion: nova.apiVersion, kind: nova.kind, name: 'nova', uid: 'nova', controller: true };
    const job = {
      metadata: {
        name: 'nova-resource-count',
        namespace: 'ns',
        uid: 'job',
        creationTimestamp,
        annotations: { [annotations.askedAt]: asked },
        ownerReferences: [owner],
      },
      status: { conditions: [complete] },
    };
    const removed: unknown[] = [];
    const context = {
      clock: { ...clock, now: () => clock.now() + ahead },
      cache: { list: () => [nova], get: (kind: Kind) => (kind === Job ? job : undefined) },
      remove: async (object: unknown) => void removed.push(object),
    } as unknown as OperatorContext;
    await clock.advance(age);
    expect((await holdOf(context, nova))?.reason).toBe(reason);
    expect(removed).toHaveLength(removals);
  },
);

const of = (kind: string, name: string, ovn?: string): StoredObject => ({
  ...nova,
  kind,
  metadata: { ...nova.metadata, name, uid: `${kind} ${name}` },
  spec: { ovnRef: { name: ovn } },
});

// The Nova refers to Neutron `one`, which is there or not, and that to OVNNetwork `lost`, which is not.
test.each([
  ['OVNNetwork', true, [], true],
  ['OpenStackControlPlane', true, ['OVNNetwork'], true],
  ['OpenStackControlPlane', true, [], false],
  ['Neutron', true, [], false],
  ['Neutron', false, [], true],
  ['OpenStackControlPlane', false, ['Neutron'], true],
  ['OpenStackControlPlane', false, [], false],
  ['Nova', false, [], false],
] as const)(
  '%s, while the Neutron is there: %s, with children %j, is held by a reference that does not resolve: %s',
  async (kind, isThere, children, held) => {
    const owner = { apiVersion: nova.apiVersion, kind: nova.kind, name: 'nova', uid: 'nova', controller: true };
    const failed = { type: 'Failed', status: 'True', message: 'it does not answer' };
    const job = { metadata: { ownerReferences: [owner] }, status: { conditions: [failed] } };
    const context = {
      clock: virtualClock(),
      cache: {
        list: (one: Kind) => (one.kind === Nova.kind ? [{ ...nova, spec: { neutronRef: { name: 'one' } } }] : []),
        get: (one: Kind) =>
          one === Job ? job : isThere && one.kind === Neutron.kind ? of('Neutron', 'one', 'lost') : undefined,
        controlledBy: (one: Kind) => (children.some((child) => child === one.kind) ? [of(one.kind, 'child')] : []),
      },
    } as unknown as OperatorContext;
    expect((await holdOf(context, of(kind, 'other')))?.reason).toBe(held ? 'ResourcesUnknown' : undefined);
  },
);

test.each([
  [{}, { readyGeneration: 1 }, undefined],
  [{ 'stacks:global_index': 'role:admin' }, { readyGeneration: 1 }, 'ResourcesUnknown'],
  [{ 'stacks:global_index': 'role:admin' }, {}, undefined],
])('a Heat of policy %j and status %j is held: %s', async (policy, status, reason) => {
  const heat = { ...of('Heat', 'heat'), spec: { policy }, status };
  const owner = { apiVersion: heat.apiVersion, kind: 'Heat', name: 'heat', uid: heat.metadata.uid, controller: true };
  const job = {
    metadata: { ownerReferences: [owner] },
    status: { conditions: [{ type: 'Failed', status: 'True', message: 'no answer' }] },
  };
  const context = {
    clock: virtualClock(),
    cache: {
      list: (one: Kind) => (one.kind === 'Heat' ? [heat] : []),
      get: (one: Kind) => (one === Job ? job : undefined),
      controlledBy: () => [],
    },
  } as unknown as OperatorContext;
  expect((await holdOf(context, heat))?.reason).toBe(reason);
});
