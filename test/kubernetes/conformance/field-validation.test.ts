import { beforeAll, expect, test } from 'vitest';
import { stable, type TestServer, testServer } from './server.ts';

let server: TestServer;
let namespace: string;
let base: string;
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
  base = `/api/v1/namespaces/${namespace}/services`;
});

const service = (name: string, more = '') =>
  `{"apiVersion":"v1","kind":"Service","metadata":{"name":"${name}","nope":1},"spec":{"ports":[{"port":80,"prt":1}],"type":"ClusterIP","type":"ClusterIP","selectr":{}}${more}}`;

test('unknown and repeated fields are warned of', async () => {
  const answer = await server.request('POST', base, { body: service('warned') });
  expect([answer.status, answer.headers['warning']]).toMatchInlineSnapshot(`
    [
      201,
      "299 - "unknown field \\"metadata.nope\\"", 299 - "unknown field \\"spec.ports[0].prt\\"", 299 - "duplicate field \\"spec.type\\"", 299 - "unknown field \\"spec.selectr\\""",
    ]
  `);
});

test('unknown and repeated fields are refused when asked to', async () => {
  const answer = await server.request('POST', `${base}?fieldValidation=Strict`, { body: service('strict') });
  expect([answer.status, answer.body]).toMatchInlineSnapshot(`
    [
      400,
      {
        "apiVersion": "v1",
        "code": 400,
        "kind": "Status",
        "message": "Service in version "v1" cannot be handled as a Service: strict decoding error: unknown field "metadata.nope", unknown field "spec.ports[0].prt", duplicate field "spec.type", unknown field "spec.selectr"",
        "metadata": {},
        "reason": "BadRequest",
        "status": "Failure",
      },
    ]
  `);
});

test('unknown and repeated fields are ignored when asked to', async () => {
  const answer = await server.request('POST', `${base}?fieldValidation=Ignore`, { body: service('ignored') });
  expect([answer.status, answer.headers['warning']]).toEqual([201, undefined]);
  expect(answer.body['spec']).not.toHaveProperty('selectr');
});

test('patches are checked too', async () => {
  await server.request('POST', `${base}?fieldValidation=Ignore`, { body: service('patched') });
  const patch = { spec: { selectr: { a: 'b' } } };
  const contentType = 'application/merge-patch+json';
  const warned = await server.request('PATCH', `${base}/patched`, { body: patch, contentType });
  expect([warned.status, warned.headers['warning']]).toMatchInlineSnapshot(`
    [
      200,
      "299 - "unknown field \\"spec.selectr\\""",
    ]
  `);
  const refused = await server.request('PATCH', `${base}/patched?fieldValidation=Strict`, { body: patch, contentType });
  expect([
    refused.status,
    refused.body.message?.replace(/Invalid value: ".*": strict/, 'Invalid value: ...: strict'),
  ]).toMatchInlineSnapshot(`
    [
      422,
      " "" is invalid: patch: Invalid value: ...: strict decoding error: unknown field "spec.selectr"",
    ]
  `);
});

test('the directive itself is checked', async () => {
  const answer = await server.request('POST', `${base}?fieldValidation=Maybe`, { body: service('maybe') });
  expect(stable([answer.status, answer.body.message])).toMatchInlineSnapshot(`
    [
      422,
      "CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Maybe": supported values: "", "Ignore", "Strict", "Warn"",
    ]
  `);
});
