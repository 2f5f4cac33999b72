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

/** Why its configuration is refused, if it is. */
const problemOf = ({ steps }: ReturnType<typeof composed>) =>
  steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message;

const inCeph = { cephStorageRef: { name: 'ceph' }, cephPoolName: 'new' };

test.each([
  ['glance', { ...inCeph, storageType: 'ceph' }],
  ['nova', { ...inCeph, ephemeralStorage: 'ceph' }],
])('the pool of a %s that was there before stays its pool', (sample, spec) => {
  expect(composeWith(sample, spec).status).toMatchObject({ lasting: { 'spec.cephPoolName': 'new' } });
  expect(problemOf(composeWith(sample, spec, { 'spec.cephPoolName': 'old' }))).toContain(
    `spec.cephPoolName: it was old before (status.lasting, ConfigMap ${sample}-lasting), and is new now`,
  );
});

test.each([
  ['glance', 'spec.storageType', 'pvc'],
  ['nova', 'spec.ephemeralStorage', 'local'],
  ['heat', 'spec.authEncryptionKeySecretName', 'heat-auth-encryption-key'],
  ['barbican', 'spec.keyEncryptionKeySecretName', 'barbican-kek'],
])('a %s that was deleted finds its data by the same %s again', (sample, field, is) => {
  expect(composeWith(sample, {}).status).toMatchObject({ lasting: { [field]: is } });
  expect(problemOf(composeWith(sample, {}, { [field]: 'another' }))).toContain(`${field}: it was another before`);
  expect(problemOf(composeWith(sample, {}, { [field]: is }))).toBeUndefined();
});

test('a cluster that has not said yet which one it is gets nothing of what lies in another one', () => {
  const spec = { ...inCeph, storageType: 'ceph' };
  expect(problemOf(composeWith('glance', spec, { 'spec.cephStorageRef': 'cluster a' }))).toMatch(
    /^spec.cephStorageRef: it was cluster a before .*, and has not said yet what it is now/,
  );
  expect(problemOf(composeWith('glance', spec))).toBeUndefined();
});

test('what finds its data by nothing has nothing to remember', () => {
  expect(objectsOf(composeWith('placement', {})).map(({ object }) => object.metadata.name)).not.toContain(
    'placement-lasting',
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
