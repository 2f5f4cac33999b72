import { defineKind, isApiError, type KubeObject, seededRandom, virtualClock } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { toyConfigMap, toyNamespace, toyWidget } from '../testing/toy-types.ts';
import { createApiServer } from './api-server.ts';

const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');
const Widget = defineKind('example.com/v1', 'Widget', 'widgets');

function start() {
  const clock = virtualClock();
  const server = createApiServer({ clock, random: seededRandom(1), types: [toyNamespace, toyConfigMap, toyWidget] });
  const client = server.client();
  return { clock, server, client };
}

function configMap(name: string, data: Record<string, string> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}

function widget(name: string, spec: Record<string, unknown>): KubeObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name, namespace: 'default' }, spec };
}

test('what was created is there, with everything that the server adds', async () => {
  const { client } = start();
  const created = await client.create(Widget, widget('a', { color: 'red' }));
  expect(created.spec).toEqual({ color: 'red', replicas: 1 });
  expect(created.metadata).toMatchObject({ generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' });
  expect(await client.get(Widget, { namespace: 'default', name: 'a' })).toEqual(created);
  await expect(client.create(Widget, widget('a', {}))).rejects.toThrow('widgets.example.com "a" already exists');
});

test('an update with an old resourceVersion is refused, one that changes nothing writes nothing', async () => {
  const { client, server } = start();
  const first = await client.create(ConfigMap, configMap('a', { x: '1' }));
  const second = await client.replace(ConfigMap, { ...first, data: { x: '2' } });
  await expect(client.replace(ConfigMap, { ...first, data: { x: '3' } })).rejects.toThrow(
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
  );
  const version = server.store.version;
  expect(await client.replace(ConfigMap, second)).toEqual(second);
  expect(server.store.version).toBe(version);
});

test('server-side apply merges, names conflicts, and removes what is stated no more', async () => {
  const { client, clock } = start();
  const options = { fieldManager: 'one' };
  await client.apply(Widget, widget('a', { color: 'red', ports: [{ name: 'http', port: 80 }] }), options);
  await client.apply(Widget, widget('a', { ports: [{ name: 'https', port: 443 }] }), { fieldManager: 'two' });
  await clock.advance(5000);
  const conflict = client.apply(Widget, widget('a', { color: 'blue' }), { fieldManager: 'two' });
  await expect(conflict).rejects.toThrow('Apply failed with 1 conflict: conflict with "one": .spec.color');
  const forced = await client.apply(Widget, widget('a', { color: 'blue' }), { fieldManager: 'two', force: true });
  expect(forced.spec).toEqual({ color: 'blue', replicas: 1, ports: [{ name: 'http', port: 80 }] });
  const gone = await client.apply(Widget, widget('a', {}), options);
  expect(gone.spec).toEqual({ color: 'blue', replicas: 1 });
});

test('a watch tells of what happens, and of what comes into and goes out of a selection', async () => {
  const { client } = start();
  const seen: string[] = [];
  const abort = new AbortController();
  const done = (async () => {
    for await (const event of client.watch(ConfigMap, {
      namespace: 'default',
      labelSelector: 'app=x',
      sendInitialEvents: true,
      signal: abort.signal,
    })) {
      seen.push(
        event.type === 'BOOKMARK'
          ? `BOOKMARK ${event.initialEventsEnd}`
          : `${event.type} ${event.object.metadata.name}`,
      );
      if (seen.length === 4) abort.abort();
    }
  })().catch(() => undefined);
  const a = await client.create(ConfigMap, configMap('a'));
  const labelled = await client.replace(ConfigMap, { ...a, metadata: { ...a.metadata, labels: { app: 'x' } } });
  const changed = await client.replace(ConfigMap, { ...labelled, data: { x: '2' } });
  await client.replace(ConfigMap, { ...changed, metadata: { ...changed.metadata, labels: {} } });
  await done;
  expect(seen).toEqual(['BOOKMARK true', 'ADDED a', 'MODIFIED a', 'DELETED a']);
});

test('a deleted object stays until its last finalizer is gone', async () => {
  const { client } = start();
  const object = configMap('a');
  object.metadata.finalizers = ['example.com/hold'];
  await client.create(ConfigMap, object);
  const marked = await client.delete(ConfigMap, { namespace: 'default', name: 'a' });
  expect(marked?.metadata.deletionTimestamp).toBe('2026-01-01T00:00:00Z');
  await client.patch(ConfigMap, { namespace: 'default', name: 'a' }, 'merge', { metadata: { finalizers: null } });
  const missing = client.get(ConfigMap, { namespace: 'default', name: 'a' });
  await expect(missing).rejects.toSatisfy((error) => isApiError(error, 404));
});

test('pages of a list show one moment', async () => {
  const { client } = start();
  for (const name of ['a', 'b', 'c']) await client.create(ConfigMap, configMap(name));
  const first = await client.list(ConfigMap, { namespace: 'default', limit: 2 });
  await client.delete(ConfigMap, { namespace: 'default', name: 'c' });
  const token = first.metadata.continue ?? '';
  const second = await client.list(ConfigMap, { namespace: 'default', limit: 2, continue: token });
  expect([...first.items, ...second.items].map((item) => item.metadata.name)).toEqual(['a', 'b', 'c']);
});
