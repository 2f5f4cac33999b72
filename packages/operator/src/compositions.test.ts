import type { StoredObject } from '@openstack-operator/kube';
import { type Composition, emptySurroundings, type Surroundings } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { Compositions } from './compositions.ts';

const object = (fields: object = {}, metadata: object = {}): StoredObject => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Keystone',
  metadata: { name: 'keystone', namespace: 'openstack', uid: 'u', resourceVersion: '1', ...metadata },
  ...fields,
});
const referring = (found: StoredObject): Surroundings => ({
  ...emptySurroundings,
  references: { databaseRef: { found } },
});

/** How often something was composed for these, one after the other. */
function composedFor(...inputs: readonly (readonly [StoredObject, Surroundings])[]): number {
  let count = 0;
  const compositions = new Compositions((): Composition => {
    count++;
    return { steps: [], complete: true, status: {} };
  });
  for (const [resource, surroundings] of inputs) compositions.of('openstack/keystone', resource, surroundings);
  return count;
}

const spec = { replicas: 1 };

test.each([
  ['its own status', [object({ spec }), emptySurroundings], [object({ spec, status: {} }), emptySurroundings]],
  [
    'its version',
    [object({ spec }), emptySurroundings],
    [object({ spec }, { resourceVersion: '2' }), emptySurroundings],
  ],
  [
    'the status of a reference',
    [object(), referring(object({ spec }))],
    [object(), referring(object({ spec, status: {} }))],
  ],
] as const)('%s: nothing is composed anew', (_what, before, now) => {
  expect(composedFor(before, now)).toBe(1);
});

test.each([
  ['spec', [object({ spec }), emptySurroundings], [object({ spec: { replicas: 2 } }), emptySurroundings]],
  ['annotation', [object(), emptySurroundings], [object({}, { annotations: { a: '1' } }), emptySurroundings]],
  ['new object of the same name', [object(), emptySurroundings], [object({}, { uid: 'v' }), emptySurroundings]],
  [
    'spec of a reference',
    [object(), referring(object({ spec }))],
    [object(), referring(object({ spec: { replicas: 2 } }))],
  ],
  ['digest of a Secret', [object(), emptySurroundings], [object(), { ...emptySurroundings, digests: { secret: 'a' } }]],
  ['API that is served', [object(), emptySurroundings], [object(), { ...emptySurroundings, served: new Set(['a/B']) }]],
] as const)('another %s: composed anew', (_what, before, now) => {
  expect(composedFor(before, now)).toBe(2);
});

test('what is composed knows no status', () => {
  const seen: StoredObject[] = [];
  const compositions = new Compositions((resource, { references: { databaseRef } }) => {
    seen.push(resource, ...(databaseRef !== undefined && 'found' in databaseRef ? [databaseRef.found] : []));
    return { steps: [], complete: true, status: {} };
  });
  compositions.of('a/b', object({ status: { phase: 'Ready' } }), referring(object({ status: { phase: 'Ready' } })));
  expect(seen.map((one) => one['status'])).toEqual([undefined, undefined]);
});
