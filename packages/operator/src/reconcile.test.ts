import type { EventText, Kind, StoredObject } from '@openstack-operator/kube';
import { virtualClock } from '@openstack-operator/kube';
import { conditionOf } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import type { ComposeContext } from './context.ts';
import { DryRuns } from './dry-runs.ts';
import { FailingSteps } from './failing-steps.ts';
import { NodePace } from './node-pace.ts';
import { reconcile } from './reconcile.ts';
import { StatusPace } from './status-pace.ts';

const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'Ready',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const done = { ...ready, type: 'DatabaseReady', reason: 'Done' };

/** The context of a Keystone that was Ready; what it writes lands in `status` and `events`, anything else fails. */
function contextOf(resource: Partial<StoredObject>) {
  const object = {
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind: 'Keystone',
    metadata: {
      name: 'keystone',
      namespace: 'openstack',
      uid: 'a',
      generation: 2,
      resourceVersion: '7',
      annotations: { 'openstack.k8s.io/operator': 'system' },
    },
    spec: {},
    ...resource,
  } as StoredObject;
  const events: EventText[] = [];
  const statuses: Record<string, unknown>[] = [];
  const context = {
    object,
    key: 'openstack/keystone',
    clock: virtualClock(),
    signal: new AbortController().signal,
    cache: {
      has: () => true,
      get: ({ kind }: Kind) => (kind === 'Secret' ? { data: { key: 'a2V5' } } : object),
      list: () => [],
      byIndex: () => [],
      controlledBy: () => [],
    },
    operator: { name: 'system' },
    dryRuns: new DryRuns(),
    statusPace: new StatusPace(),
    failingSteps: new FailingSteps(),
    nodePace: new NodePace(),
    turn: () => Promise.resolve(),
    writes: () => 0,
    event: (text: EventText) => events.push(text),
    status: (status: Record<string, unknown>) => {
      statuses.push(status);
      return Promise.resolve();
    },
  } as unknown as ComposeContext;
  return { context, events, status: () => statuses.at(-1) };
}

test('an error while composing is a condition beside the old ones, an event, and is thrown for a retry', async () => {
  const { context, events, status } = contextOf({
    status: { phase: 'Ready', conditions: [done, ready], jobs: { a: 'b' } },
  });
  const compose = () => {
    throw new TypeError('Cannot convert undefined or null to object');
  };
  await expect(reconcile(context, { compose, phase: () => 'Ready', rest: () => {} })).rejects.toThrow(
    /^Cannot convert undefined/,
  );
  const reported = { ...context.object, status: status() };
  expect(reported.status).toMatchObject({ phase: 'Failed', observedGeneration: 2, jobs: { a: 'b' } });
  for (const type of ['Reconciled', 'Ready']) {
    expect(conditionOf(reported, type)).toMatchObject({
      status: 'False',
      reason: 'InternalError',
      message: expect.stringContaining('Keystone keystone should be: Cannot convert undefined or null to object'),
    });
  }
  expect(conditionOf(reported, 'DatabaseReady')).toEqual(done);
  expect(events).toContainEqual(expect.objectContaining({ type: 'Warning', reason: 'InternalError' }));
});

test('the condition of an error is gone as soon as something is composed again', async () => {
  const failed = { ...ready, type: 'Reconciled', status: 'False', reason: 'InternalError' };
  const { context, status } = contextOf({ status: { phase: 'Failed', conditions: [done, failed] } });
  const problem = { reason: 'ReferenceMissing', message: 'spec.databaseRef: none' } as const;
  const step = { condition: 'DependenciesReady', needs: [], awaits: [], objects: [], problem };
  await reconcile(context, {
    compose: () => ({ steps: [step], complete: false, status: {} }),
    phase: () => 'Failed',
    rest: () => {},
  });
  const types = (status() as unknown as { conditions: { type: string }[] }).conditions.map(({ type }) => type);
  expect(types).toEqual(['DatabaseReady', 'DependenciesReady', 'Ready']);
});
