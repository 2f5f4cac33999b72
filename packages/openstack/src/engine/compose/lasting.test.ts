import { readFileSync } from 'node:fs';
import type { StoredObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import type { ServiceResource } from '../vocabulary/surroundings.ts';
import { rememberedIn, withoutForgotten } from './lasting.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

/** A sample with more in its spec, and what is remembered of it. */
function composeWith(sample: string, more: object, lasting: Readonly<Record<string, string>> = {}) {
  const found = resource(read(sample)) as ServiceResource;
  return composed({ ...found, spec: { ...found.spec, ...more } }, surroundings(read, { lasting }));
}

const inCeph = { cephStorageRef: { name: 'ceph' }, cephPoolName: 'new' };

test.each([
  ['glance', { ...inCeph, storageType: 'ceph' }],
  ['nova', { ...inCeph, ephemeralStorage: 'ceph' }],
])('the pool of a %s that was there before stays its pool', (sample, spec) => {
  expect(composeWith(sample, spec).status).toMatchObject({ lasting: { 'spec.cephPoolName': 'new' } });
  const { steps } = composeWith(sample, spec, { 'spec.cephPoolName': 'old' });
  expect(steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message).toContain(
    `spec.cephPoolName: it was old before (status.lasting, ConfigMap ${sample}-lasting), and is new now`,
  );
});

test('what keeps nothing in Ceph has nothing to remember', () => {
  expect(objectsOf(composeWith('glance', {})).map(({ object }) => object.metadata.name)).not.toContain(
    'glance-lasting',
  );
});

const configMap = (data: Record<string, string>): StoredObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'cinder-lasting', uid: 'a', resourceVersion: '1' },
  data,
});
const written = configMap({ 'lasting.json': '{"one": {"is": "a", "entry": {"name": "x"}}, "two": {"is": "b"}}' });

test('the status says what is remembered, and where it has none the ConfigMap does', () => {
  expect(rememberedIn(undefined, written)).toEqual({
    lasting: { one: 'a', two: 'b' },
    remembered: { one: { name: 'x' } },
  });
  expect(rememberedIn({ one: 'a' }, written)).toEqual({ lasting: { one: 'a' }, remembered: { one: { name: 'x' } } });
  expect(rememberedIn({}, written)).toEqual({ lasting: {}, remembered: {} });
  expect(rememberedIn({ one: 'a' }, undefined)).toEqual({ lasting: { one: 'a' }, remembered: {} });
});

test.each(['', '[', 'null', '{"one": 1}', '{"one": null}'])('a ConfigMap with %j says nothing', (text) => {
  expect(rememberedIn(undefined, configMap({ 'lasting.json': text }))).toEqual({ lasting: {}, remembered: {} });
});

test('nothing that was ever stated is left out, however much that was', () => {
  const before = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field ${index}`, 'x']));
  expect(composeWith('cinder', {}, before).status).toMatchObject({ lasting: before });
});

test('what stays for a step is forgotten when that is done', () => {
  const staying = { step: 'Empty', plan: { counts: [] }, fields: ['one'], components: [] };
  const status = { lasting: { one: 'a', two: 'b' }, other: 1 };
  expect(withoutForgotten(status, staying, new Set())).toBe(status);
  expect(withoutForgotten(status, undefined, new Set(['Empty']))).toBe(status);
  expect(withoutForgotten(status, staying, new Set(['Empty']))).toEqual({ lasting: { two: 'b' }, other: 1 });
});
