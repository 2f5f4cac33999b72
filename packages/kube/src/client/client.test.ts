import { expect, test } from 'vitest';
import { ConnectionError, TerminalError } from '../objects/errors.ts';
import { type Answer, ConfigMap, clientOf, Lease, Node, refusal, settings } from '../testing/client.ts';

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

test('each method asks what the API expects', async () => {
  const { client, server } = clientOf({ body: settings });
  const ref = { namespace: 'a', name: 'settings' };
  await client.get(ConfigMap, ref);
  await client.get(Node, { name: 'n1' }, { subresource: 'status' });
  await client.list(ConfigMap, { namespace: 'a', labelSelector: 'a=b,c in (d)', limit: 5 });
  await client.create(ConfigMap, settings, { fieldManager: 'me', dryRun: true, fieldValidation: 'Strict' });
  await client.replace(ConfigMap, settings, { subresource: 'status' });
  await client.patch(ConfigMap, ref, 'merge', { data: { a: null } });
  await client.patch(ConfigMap, ref, 'json', []);
  await client.patch(ConfigMap, ref, 'strategic', {}, { subresource: 'scale' });
  await client.apply(ConfigMap, settings, { fieldManager: 'me', force: true });
  await client.delete(ConfigMap, ref, { uid: 'u', resourceVersion: '7', propagationPolicy: 'Orphan', dryRun: true });
  await client.deleteCollection(Lease, { namespace: 'a', labelSelector: 'x', gracePeriodSeconds: 0 });
  expect(
    server.requests.map(({ method, path, headers, body }) =>
      [method, path, headers?.['content-type'], body].filter((part) => part !== undefined).join(' '),
    ),
  ).toEqual([
    'GET /api/v1/namespaces/a/configmaps/settings',
    'GET /api/v1/nodes/n1/status',
    'GET /api/v1/namespaces/a/configmaps?labelSelector=a%3Db%2Cc%20in%20(d)&limit=5',
    `POST /api/v1/namespaces/a/configmaps?fieldManager=me&fieldValidation=Strict&dryRun=All application/json ${JSON.stringify(settings)}`,
    `PUT /api/v1/namespaces/a/configmaps/settings/status application/json ${JSON.stringify(settings)}`,
    'PATCH /api/v1/namespaces/a/configmaps/settings application/merge-patch+json {"data":{"a":null}}',
    'PATCH /api/v1/namespaces/a/configmaps/settings application/json-patch+json []',
    'PATCH /api/v1/namespaces/a/configmaps/settings/scale application/strategic-merge-patch+json {}',
    `PATCH /api/v1/namespaces/a/configmaps/settings?fieldManager=me&force=true application/apply-patch+yaml ${JSON.stringify(settings)}`,
    'DELETE /api/v1/namespaces/a/configmaps/settings application/json ' +
      '{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u","resourceVersion":"7"},"propagationPolicy":"Orphan","dryRun":["All"]}',
    'DELETE /apis/coordination.k8s.io/v1/namespaces/a/leases?labelSelector=x application/json {"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0}',
  ]);
  expect(server.requests[0]?.headers).toMatchObject({ accept: 'application/json', 'user-agent': 'kube' });
});

test('a missing name or namespace is told before anything is sent', async () => {
  const { client, server } = clientOf({ body: {} });
  await expect(async () => client.get(ConfigMap, { name: 'settings' })).rejects.toThrow(
    new TerminalError(
      'INVALID_REQUEST',
      'ConfigMap settings: metadata.namespace is empty; configmaps are namespaced, so name the namespace',
    ),
  );
  await expect(async () => client.delete(ConfigMap, { namespace: 'a', name: '' })).rejects.toThrow(/metadata.name/u);
  expect(server.requests).toEqual([]);
});

test('listed items have the apiVersion and kind that the wire leaves out', async () => {
  const { client } = clientOf({
    body: { kind: 'LeaseList', metadata: { resourceVersion: '5' }, items: [{ metadata: { name: 'l' } }] },
  });
  expect(await client.list(Lease)).toEqual({
    metadata: { resourceVersion: '5' },
    items: [{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' } }],
  });
});

test('an empty list may be null on the wire', async () => {
  const { client } = clientOf({ body: { metadata: { resourceVersion: '5' }, items: null } });
  expect((await client.list(Lease)).items).toEqual([]);
});

function page(names: string[], token?: string): Answer {
  return {
    body: {
      metadata: { resourceVersion: '9', ...(token ? { continue: token } : {}) },
      items: names.map((name) => ({ metadata: { name } })),
    },
  };
}

test('listAll goes through the pages', async () => {
  const { client, server } = clientOf(page(['a', 'b'], 'next/1'), page(['c']));
  const names = (await collect(client.listAll(ConfigMap, { namespace: 'x' }))).map(({ metadata }) => metadata.name);
  expect(names).toEqual(['a', 'b', 'c']);
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/api/v1/namespaces/x/configmaps?limit=500',
    '/api/v1/namespaces/x/configmaps?limit=500&continue=next%2F1',
  ]);
});

test('listAll goes on with the token that comes with a 410', async () => {
  const expired = { ...refusal(410, 'Expired', 'too old'), metadata: { continue: 'newer' } };
  const { client, server } = clientOf(page(['a'], 'old'), { status: 410, body: expired }, page(['b']));
  expect(await collect(client.listAll(ConfigMap))).toHaveLength(2);
  expect(server.requests.at(-1)?.path).toContain('continue=newer');
});

test('listAll without such a token begins anew, once', async () => {
  const expired = { status: 410, body: refusal(410, 'Expired', 'too old') };
  const { client, server } = clientOf(page(['a'], 'old'), expired, page(['a'], 'other'), expired);
  await expect(collect(client.listAll(ConfigMap))).rejects.toMatchObject({ code: 410, reason: 'Expired' });
  expect(server.requests).toHaveLength(4);
});

test('a watch gives the same events wherever the stream is cut', async () => {
  const object = { ...settings, data: { text: 'größer → 雲 ☁️ 𝔘' } };
  const lines = [
    { type: 'ADDED', object },
    { type: 'BOOKMARK', object: { metadata: { resourceVersion: '8' } } },
    {
      type: 'BOOKMARK',
      object: { metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } } },
    },
    { type: 'DELETED', object },
  ];
  const bytes = new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  for (const size of [1, 2, 3, 7, 64, bytes.length]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.slice(i * size, (i + 1) * size),
    );
    const { client } = clientOf({ chunks });
    expect(await collect(client.watch(ConfigMap, { resourceVersion: '1' }))).toEqual([
      { type: 'ADDED', object },
      { type: 'BOOKMARK', resourceVersion: '8', initialEventsEnd: false },
      { type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd: true },
      { type: 'DELETED', object },
    ]);
  }
});

test('a watch asks for bookmarks, and for the initial events as KEP-3157 wants it', async () => {
  const { client, server } = clientOf({ chunks: [] });
  await collect(client.watch(ConfigMap, { namespace: 'a', resourceVersion: '5', timeoutSeconds: 300 }));
  await collect(client.watch(Node, { sendInitialEvents: true, fieldSelector: 'metadata.name=n' }));
  expect(server.requests.map(({ path, stream }) => ({ path, stream }))).toEqual([
    {
      path: '/api/v1/namespaces/a/configmaps?watch=true&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=300',
      stream: true,
    },
    {
      path: '/api/v1/nodes?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&fieldSelector=metadata.name%3Dn&resourceVersionMatch=NotOlderThan',
      stream: true,
    },
  ]);
});

test('410 is the same ApiError as HTTP status and as event', async () => {
  const status = refusal(410, 'Expired', 'too old resource version: 1 (9)');
  const asStatus = clientOf({ status: 410, body: status });
  const asEvent = clientOf({ chunks: [`${JSON.stringify({ type: 'ERROR', object: status })}\n`] });
  for (const { client } of [asStatus, asEvent]) {
    const watching = collect(client.watch(ConfigMap, { resourceVersion: '1' }));
    await expect(watching).rejects.toMatchObject({
      name: 'ApiError',
      code: 410,
      reason: 'Expired',
      message: expect.stringContaining('/api/v1/configmaps: too old resource version: 1 (9)'),
    });
  }
});

test('a watch that ends in the middle of an event is a lost connection', async () => {
  const { client } = clientOf({ chunks: ['{"type":"ADD'] });
  await expect(collect(client.watch(ConfigMap, {}))).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'ECONNRESET',
  });
});

test('leaving a watch, or aborting it, frees the stream', async () => {
  const { client, server } = clientOf({
    chunks: [`${JSON.stringify({ type: 'ADDED', object: settings })}\n`, ''],
  });
  for await (const _ of client.watch(ConfigMap, {})) break;
  expect(server.closedBodies).toBe(1);

  const controller = new AbortController();
  const reason = new Error('enough');
  const watching = (async () => {
    for await (const _ of client.watch(ConfigMap, { signal: controller.signal })) controller.abort(reason);
  })();
  await expect(watching).rejects.toBe(reason);
  expect(server.closedBodies).toBe(2);
});

test('an aborted request throws the reason of the signal', async () => {
  const { client } = clientOf({ hang: true });
  const reason = new Error('stop');
  await expect(client.get(Node, { name: 'n' }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const controller = new AbortController();
  const asking = client.get(Node, { name: 'n' }, { signal: controller.signal });
  controller.abort(reason);
  await expect(asking).rejects.toBe(reason);
});

test('no answer in time is a ConnectionError that names the request', async () => {
  const { client, clock } = clientOf({ hang: true });
  const asking = expect(client.get(Node, { name: 'n' })).rejects.toThrow(
    new ConnectionError('ETIMEDOUT', 'GET /api/v1/nodes/n: no answer within 60 s'),
  );
  await clock.advance(60_000);
  await asking;
  expect(clock.pending).toBe(0);
});

test('a watch may be silent for hours', async () => {
  const { client, clock } = clientOf({ chunks: [''] });
  const controller = new AbortController();
  let ended = false;
  const watching = collect(client.watch(ConfigMap, { signal: controller.signal }))
    .catch(() => {})
    .finally(() => {
      ended = true;
    });
  await clock.advance(7_200_000);
  expect(ended).toBe(false);
  controller.abort();
  await watching;
});

test('the refusal of the server is told with the request', async () => {
  const status = refusal(404, 'NotFound', 'configmaps "settings" not found');
  const { client } = clientOf({ status: 404, body: status });
  await expect(client.get(ConfigMap, { namespace: 'a', name: 'settings' })).rejects.toMatchObject({
    name: 'ApiError',
    code: 404,
    reason: 'NotFound',
    message: 'GET /api/v1/namespaces/a/configmaps/settings: configmaps "settings" not found',
    status,
  });
});

test('a refusal that is no Status is one all the same', async () => {
  const { client } = clientOf({ status: 404, chunks: ['404 page not found\n'] });
  await expect(client.raw('/nowhere?x=1')).rejects.toMatchObject({
    code: 404,
    reason: 'NotFound',
    message: 'GET /nowhere: 404 page not found',
  });
});

test('an answer that is no JSON says so', async () => {
  const { client } = clientOf({ chunks: ['<html>Welcome</html>'] });
  await expect(client.raw('/version')).rejects.toThrow(/GET \/version: the answer is no JSON .*<html>Welcome/u);
});

test('warnings of the server are handed on', async () => {
  const { client, warnings } = clientOf({
    headers: { warning: '299 - "unknown field \\"spec.x\\"", 299 - "v1 ComponentStatus is deprecated in v1.19+"' },
    body: settings,
  });
  await client.create(ConfigMap, settings);
  expect(warnings).toEqual(['unknown field "spec.x"', 'v1 ComponentStatus is deprecated in v1.19+']);
});

test('delete gives back what stays', async () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const answers = {
    gone: { kind: 'Status', apiVersion: 'v1', status: 'Success' },
    goneService: { kind: 'Service', metadata: { name: 's' } },
    killedPod: { kind: 'Pod', metadata: { name: 'p', deletionTimestamp, deletionGracePeriodSeconds: 0 } },
    finalized: {
      kind: 'ConfigMap',
      metadata: { name: 'c', deletionTimestamp, deletionGracePeriodSeconds: 0, finalizers: ['a/b'] },
    },
    stopping: { kind: 'Pod', metadata: { name: 'p', deletionTimestamp, deletionGracePeriodSeconds: 30 } },
    namespace: { kind: 'Namespace', metadata: { name: 'n', deletionTimestamp } },
  };
  const stays: string[] = [];
  for (const [name, body] of Object.entries(answers)) {
    const { client } = clientOf({ body });
    if (await client.delete(ConfigMap, { namespace: 'a', name: 'x' })) stays.push(name);
  }
  expect(stays).toEqual(['finalized', 'stopping', 'namespace']);
});

test('logs come line by line', async () => {
  const { client, server } = clientOf({ chunks: ['one\ntw', 'o\n\nthree'] });
  expect(
    await collect(client.logs({ namespace: 'a', name: 'p' }, { container: 'c', follow: true, tailLines: 3 })),
  ).toEqual(['one', 'two', '', 'three']);
  expect(server.requests[0]?.path).toBe('/api/v1/namespaces/a/pods/p/log?container=c&follow=true&tailLines=3');
});
