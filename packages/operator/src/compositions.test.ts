import type { StoredObject } from '@openstack-operator/kube';
import {
  type Composition,
  type KnownSurroundings,
  type NodeClaim,
  surroundingsOf,
} from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { Compositions } from './compositions.ts';

const object = (fields: object = {}, metadata: object = {}): StoredObject => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Keystone',
  metadata: { name: 'keystone', namespace: 'openstack', uid: 'u', resourceVersion: '1', ...metadata },
  ...fields,
});
const referring = (found: StoredObject): KnownSurroundings => ({ references: { databaseRef: { found } } });

/** How often something was composed for these, one after the other. */
function composedFor(...inputs: readonly (readonly [StoredObject, KnownSurroundings])[]): number {
  let count = 0;
  const compositions = new Compositions((_resource, { digest, reference, serves }): Composition => {
    count++;
    digest('own');
    reference('databaseRef');
    serves('a/B');
    return { steps: [], complete: true, status: {} };
  });
  for (const [resource, known] of inputs) compositions.of('openstack/keystone', resource, surroundingsOf(known));
  return count;
}

const spec = { replicas: 1 };

test.each([
  ['a Secret that it does not read', [object(), {}], [object(), { digests: { foreign: 'a' } }]],
  ['an API that it does not ask for', [object(), {}], [object(), { served: new Set(['a/C']) }]],
  ['its own status', [object({ spec }), {}], [object({ spec, status: {} }), {}]],
  ['its version', [object({ spec }), {}], [object({ spec }, { resourceVersion: '2' }), {}]],
  [
    'the status of a reference',
    [object(), referring(object({ spec }))],
    [object(), referring(object({ spec, status: {} }))],
  ],
] as const)('%s: nothing is composed anew', (_what, before, now) => {
  expect(composedFor(before, now)).toBe(1);
});

test.each([
  ['spec', [object({ spec }), {}], [object({ spec: { replicas: 2 } }), {}]],
  ['annotation', [object(), {}], [object({}, { annotations: { a: '1' } }), {}]],
  ['new object of the same name', [object(), {}], [object({}, { uid: 'v' }), {}]],
  [
    'spec of a reference',
    [object(), referring(object({ spec }))],
    [object(), referring(object({ spec: { replicas: 2 } }))],
  ],
  ['digest of a Secret', [object(), {}], [object(), { digests: { own: 'a' } }]],
  ['release', [object(), {}], [object(), { release: { target: '2025.1' } }]],
  ['API that is served', [object(), {}], [object(), { served: new Set(['a/B']) }]],
] as const)('another %s: composed anew', (_what, before, now) => {
  expect(composedFor(before, now)).toBe(2);
});

test('what is composed knows no status', () => {
  const seen: StoredObject[] = [];
  const compositions = new Compositions((resource, { reference }) => {
    const database = reference('databaseRef');
    seen.push(resource, ...(database !== undefined && 'found' in database ? [database.found] : []));
    return { steps: [], complete: true, status: {} };
  });
  const known = referring(object({ status: { phase: 'Ready' } }));
  compositions.of('a/b', object({ status: { phase: 'Ready' } }), surroundingsOf(known));
  expect(seen.map((one) => one['status'])).toEqual([undefined, undefined]);
});

test('what has been at rest for long is composed anew, and its nodes are known all the same', () => {
  let count = 0;
  const claim = { verb: 'claim', labels: {}, selector: {} } as NodeClaim;
  const compositions = new Compositions((): Composition => {
    count++;
    const step = { condition: 'NodesReady', needs: [], awaits: [], objects: [claim] };
    return { steps: [step], complete: true, status: {} };
  });
  const key = 'openstack/keystone';
  const compose = () => compositions.of(key, object({ spec }), surroundingsOf());
  expect(compositions.nodes(key)).toBeUndefined();
  compose();
  compose();
  expect(count).toBe(1);
  compositions.rest(key);
  compose();
  expect(count).toBe(1);
  compositions.rest(key);
  for (let i = 0; i < 16; i++) {
    compositions.of(`openstack/other-${i}`, object({ spec }), surroundingsOf());
    compositions.rest(`openstack/other-${i}`);
  }
  expect(compositions.nodes(key)).toEqual({ claims: [claim], dependsOnNodes: true, readsLabels: false });
  compose();
  expect(count).toBe(18);
  compositions.forget(key);
  expect(compositions.nodes(key)).toBeUndefined();
});
