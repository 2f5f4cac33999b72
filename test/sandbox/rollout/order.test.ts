import type { StoredObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { inversions, transitionsOf } from './order.ts';

const resource = (times: Record<string, number>, unheld: readonly string[] = []): StoredObject[] => [
  {
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind: 'Nova',
    metadata: { name: 'nova', uid: '1', resourceVersion: '1' },
    status: {
      conditions: Object.entries(times).map(([type, second]) => ({
        type,
        status: unheld.includes(type) ? 'False' : 'True',
        lastTransitionTime: `2026-01-01T00:0${Math.floor(second / 60)}:${String(second % 60).padStart(2, '0')}Z`,
      })),
    },
  },
];

test('conditions that came in another order are told, unless they came at nearly the same time', () => {
  const here = transitionsOf(resource({ A: 0, B: 20, C: 40 }));
  const order = (times: Record<string, number>, unheld?: readonly string[]) =>
    inversions(here, transitionsOf(resource(times, unheld)), 10);
  expect(order({ A: 100, B: 150, C: 200 })).toEqual([]);
  expect(order({ A: 100, B: 150, C: 145 })).toEqual([]);
  expect(order({ A: 100, B: 150, C: 130 })).toEqual(['Nova nova: B came 20 s before C here, and 20 s after it there']);
  expect(order({ A: 100, B: 150, C: 130 }, ['C'])).toEqual([]);
});
