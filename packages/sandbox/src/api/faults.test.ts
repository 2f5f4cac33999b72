import {
  ConnectionError,
  defineKind,
  isApiError,
  type KubeObject,
  seededRandom,
  virtualClock,
} from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { toyConfigMap, toyNamespace } from '../testing/toy-types.ts';
import { createApiServer } from './api-server.ts';
import type { Faults } from './faults.ts';

const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');
const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
});

function start(faults: Faults) {
  const clock = virtualClock();
  const server = createApiServer({ clock, random: seededRandom(1), types: [toyNamespace, toyConfigMap], faults });
  return { clock, server };
}

const post = { method: 'POST', path: '/api/v1/namespaces/default/configmaps', body: JSON.stringify(configMap('a')) };

test('a write whose answer is lost has happened', async () => {
  const { server } = start({ request: ({ verb }) => (verb === 'create' ? { kind: 'dropResponse' } : undefined) });
  await expect(server.transport().request(post)).rejects.toBeInstanceOf(ConnectionError);
  expect(server.store.get('configmaps', 'default/a')).toBeDefined();
});

test('a write whose connection is lost has not happened', async () => {
  const { server } = start({ request: ({ verb }) => (verb === 'create' ? { kind: 'drop' } : undefined) });
  await expect(server.transport().request(post)).rejects.toBeInstanceOf(ConnectionError);
  expect(server.store.get('configmaps', 'default/a')).toBeUndefined();
});

test('a refusal carries what it is told to', async () => {
  const { server } = start({
    request: () => ({ kind: 'status', code: 429, reason: 'TooManyRequests', retryAfterSeconds: 3 }),
  });
  const answer = await server.transport().request(post);
  expect([answer.status, answer.headers['retry-after']]).toEqual([429, '3']);
});

test('a request may be slow, or never be answered', async () => {
  const { server, clock } = start({
    request: ({ verb }) => (verb === 'create' ? { kind: 'delay', ms: 5000 } : { kind: 'hang' }),
  });
  const answer = server.transport().request(post);
  await clock.advance(4999);
  expect(server.store.get('configmaps', 'default/a')).toBeUndefined();
  await clock.advance(1);
  expect((await answer).status).toBe(201);
  const hanging = server
    .transport()
    .request({ method: 'GET', path: '/version' }, AbortSignal.abort(new Error('enough')));
  await expect(hanging).rejects.toThrow('enough');
});

test('events of a watch come late, get lost, or end it', async () => {
  const { server, clock } = start({
    event: (_, { type, resourceVersion }) => {
      if (type === 'MODIFIED') return { kind: 'drop' };
      if (type === 'DELETED') return { kind: 'status', code: 410, reason: 'Expired', message: 'too old' };
      return Number(resourceVersion) > 0 ? { kind: 'delay', ms: 1000 } : undefined;
    },
  });
  const client = server.client();
  const { resourceVersion } = (await client.list(ConfigMap)).metadata;
  const seen: string[] = [];
  const watching = (async () => {
    for await (const event of client.watch(ConfigMap, { resourceVersion })) seen.push(event.type);
  })();
  const ended = expect(watching).rejects.toSatisfy((error) => isApiError(error, 410));
  const created = await client.create(ConfigMap, configMap('a'));
  await client.replace(ConfigMap, { ...created, data: { x: '1' } });
  expect(seen).toEqual([]);
  await clock.advance(1000);
  expect(seen).toEqual(['ADDED']);
  await client.delete(ConfigMap, { namespace: 'default', name: 'a' });
  await clock.advance(1);
  await ended;
});

test('a read of a server that lags behind sees what was, and its watch catches up', async () => {
  let lags = false;
  const { server } = start({ request: () => (lags ? { kind: 'stale', versions: 1 } : undefined) });
  const client = server.client();
  const created = await client.create(ConfigMap, configMap('a'));
  await client.replace(ConfigMap, { ...created, data: { x: '1' } });
  lags = true;
  const ref = { namespace: 'default', name: 'a' };
  expect((await client.get(ConfigMap, ref))['data']).toBeUndefined();
  const { items, metadata } = await client.list(ConfigMap);
  expect([items[0]?.metadata.resourceVersion, metadata.resourceVersion]).toEqual([
    created.metadata.resourceVersion,
    created.metadata.resourceVersion,
  ]);
  const seen: unknown[] = [];
  for await (const event of client.watch(ConfigMap, { sendInitialEvents: true })) {
    seen.push(event.type === 'BOOKMARK' ? event.resourceVersion : [event.type, event.object['data']]);
    if (seen.length === 3) break;
  }
  expect(seen).toEqual([['ADDED', undefined], created.metadata.resourceVersion, ['MODIFIED', { x: '1' }]]);
});

test('an event may come twice', async () => {
  const { server } = start({ event: (_, { type }) => (type === 'ADDED' ? { kind: 'repeat' } : undefined) });
  const client = server.client();
  const { resourceVersion } = (await client.list(ConfigMap)).metadata;
  await client.create(ConfigMap, configMap('a'));
  const seen: string[] = [];
  for await (const event of client.watch(ConfigMap, { resourceVersion })) {
    seen.push(event.type);
    if (seen.length === 2) break;
  }
  expect(seen).toEqual(['ADDED', 'ADDED']);
});

test('a server that goes away ends its watches, and serves what comes anew', async () => {
  const { server } = start({});
  const path = `/api/v1/namespaces?watch=true&resourceVersion=${server.store.version}`;
  const watching = server.transport().request({ method: 'GET', path });
  const ended = (async () => {
    for await (const _ of (await watching).body) throw new Error('nothing should come');
  })();
  await watching;
  server.goAway();
  await ended;
  expect((await server.transport().request({ method: 'GET', path: '/version' })).status).toBe(200);
});

test('a broken watch throws, a closed one ends', async () => {
  let kind: 'break' | 'close' = 'break';
  const { server } = start({ event: () => ({ kind }) });
  const read = async () => {
    const answer = await server.transport().request({ method: 'GET', path: '/api/v1/namespaces?watch=true' });
    for await (const _ of answer.body) throw new Error('nothing should come');
  };
  await expect(read()).rejects.toBeInstanceOf(ConnectionError);
  kind = 'close';
  await expect(read()).resolves.toBeUndefined();
});
