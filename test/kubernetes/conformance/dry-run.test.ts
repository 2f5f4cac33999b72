import { beforeAll, expect, test } from 'vitest';
import { type TestServer, testServer } from './server.ts';

let server: TestServer;
let base: string;
beforeAll(async () => {
  server = await testServer();
  base = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
});

const configMap = (name: string, data = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

test('a dry run answers as if, and stores nothing', async () => {
  const created = await server.request('POST', `${base}?dryRun=All`, { body: configMap('x', { a: '1' }) });
  expect([created.status, created.body.metadata.resourceVersion, typeof created.body.metadata.uid]).toEqual([
    201,
    undefined,
    'string',
  ]);
  expect((await server.request('GET', `${base}/x`)).status).toBe(404);

  const stored = (await server.request('POST', base, { body: configMap('x', { a: '1' }) })).body;
  const put = await server.request('PUT', `${base}/x?dryRun=All`, { body: configMap('x', { a: '2' }) });
  expect(put.body['data']).toEqual({ a: '2' });
  const contentType = 'application/merge-patch+json';
  const patched = await server.request('PATCH', `${base}/x?dryRun=All`, { body: { data: { a: '3' } }, contentType });
  expect(patched.body['data']).toEqual({ a: '3' });
  const deleted = await server.request('DELETE', `${base}/x?dryRun=All`);
  expect(deleted.body.status).toBe('Success');
  expect((await server.request('GET', `${base}/x`)).body).toEqual(stored);
});

test('a dry run is refused where the real one would be', async () => {
  const again = await server.request('POST', `${base}?dryRun=All`, { body: configMap('x') });
  expect([again.status, again.body.reason]).toEqual([409, 'AlreadyExists']);
});

test('the only dry run is All', async () => {
  const answer = await server.request('POST', `${base}?dryRun=Some`, { body: configMap('y') });
  expect([answer.status, answer.body.message]).toMatchInlineSnapshot(`
    [
      422,
      "CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"",
    ]
  `);
});
