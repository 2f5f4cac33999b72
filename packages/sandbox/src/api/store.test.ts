import type { KubeObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { Store, type StoreEvent } from './store.ts';

const configMap = (name: string, data = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
});

test('the past is there until it is forgotten', () => {
  const store = new Store();
  store.put('configmaps', configMap('a', { x: '1' }));
  const then = store.version;
  store.put('configmaps', configMap('a', { x: '2' }));
  store.put('configmaps', configMap('b'));
  store.remove('configmaps', 'default/a');
  expect(store.list('configmaps').map(({ metadata }) => metadata.name)).toEqual(['b']);
  expect(store.listAt('configmaps', then).map((object) => object['data'])).toEqual([{ x: '1' }]);
  expect(store.since('configmaps', then).map(({ type }) => type)).toEqual(['MODIFIED', 'ADDED', 'DELETED']);
  store.compact();
  expect(() => store.listAt('configmaps', then)).toThrow('too old resource version');
  expect(() => store.since('configmaps', then)).toThrow('too old resource version');
});

test('lists are sorted by key, and of one namespace alone where names begin alike', () => {
  const store = new Store();
  const keys = ['a0/one', 'a/two', 'a-b/one', 'a/one', 'a.b/one', 'ab/one'];
  const put = (key: string) => {
    const [namespace = '', name = ''] = key.split('/');
    store.put('configmaps', { ...configMap(name), metadata: { name, namespace } });
  };
  for (const key of keys) put(key);
  const listed = (namespace?: string) =>
    store.list('configmaps', namespace).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  expect(listed()).toEqual([...keys].sort());
  expect(listed('a')).toEqual(['a/one', 'a/two']);
  expect(listed('a-b')).toEqual(['a-b/one']);
  store.remove('configmaps', 'a/one');
  put('a/two');
  expect(listed('a')).toEqual(['a/two']);
  expect(listed('b')).toEqual([]);
});

test('a bounded history forgets its oldest part', () => {
  const store = new Store({ historyLimit: 5 });
  const first = store.version;
  for (let index = 0; index < 20; index += 1) store.put('configmaps', configMap('a', { x: String(index) }));
  expect(() => store.since('configmaps', first)).toThrow('too old resource version');
  expect(store.since('configmaps', store.version - 5)).toHaveLength(5);
});

test('listeners hear every change in order, also those that a listener makes', () => {
  const store = new Store();
  const heard: string[] = [];
  const note = ({ type, object }: StoreEvent) => heard.push(`${type} ${object.metadata.name}`);
  store.subscribe('configmaps', (event) => {
    if (event.object.metadata.name === 'a') store.put('configmaps', configMap('made'));
  });
  const end = store.subscribe(undefined, note);
  store.put('configmaps', configMap('a'));
  end();
  store.put('configmaps', configMap('b'));
  expect(heard).toEqual(['ADDED a', 'ADDED made']);
});

test('what is stored cannot be changed from outside', () => {
  const store = new Store();
  const stored = store.put('configmaps', configMap('a', { x: '1' }));
  expect(() => Object.assign(stored['data'] as object, { x: '2' })).toThrow(TypeError);
});
