import type { StoredObject } from '@openstack-operator/kube';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { conditionMetrics } from './condition-metrics.ts';

function resource(name: string, conditions: Record<string, string>): StoredObject {
  return {
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind: 'Keystone',
    metadata: { name, namespace: 'openstack', uid: name, resourceVersion: '1' },
    status: {
      conditions: Object.entries(conditions).map(([type, status]) => ({ type, status, reason: `Is${status}` })),
    },
  };
}

test('each condition is one series, of its status now, for as long as the resource is there', async () => {
  const registry = new Registry();
  let resources = [resource('a', { Ready: 'False', DatabaseReady: 'True' }), resource('b', {})];
  conditionMetrics(registry, () => resources);
  const series = async () => (await registry.metrics()).split('\n').filter((line) => /^openstack_.*\{/.test(line));
  const line = (name: string, type: string, status: string) =>
    `openstack_resource_condition{namespace="openstack",name="${name}",kind="Keystone",type="${type}",status="${status}",reason="Is${status}"} 1`;
  expect(await series()).toEqual([line('a', 'Ready', 'False'), line('a', 'DatabaseReady', 'True')]);
  resources = [resource('a', { Ready: 'True' })];
  expect(await series()).toEqual([line('a', 'Ready', 'True')]);
  resources = [];
  expect(await series()).toEqual([]);
});

test('there are no more series than the limit, and how many are left out is told', async () => {
  const registry = new Registry();
  conditionMetrics(registry, () => Array.from({ length: 5 }, (_, i) => resource(`r${i}`, { A: 'True', B: 'True' })), 7);
  const text = await registry.metrics();
  expect(text.match(/^openstack_resource_condition\{/gm)).toHaveLength(7);
  expect(text).toContain('openstack_resource_conditions_omitted 3');
});
