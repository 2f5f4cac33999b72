import { beforeAll, expect, test } from 'vitest';
import { stable, type TestServer, testServer } from './server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});

test('nothing is created in a namespace that is not there', async () => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } };
  const answer = await server.request('POST', '/api/v1/namespaces/missing/configmaps', { body });
  expect([answer.status, answer.body]).toMatchInlineSnapshot(`
    [
      404,
      {
        "apiVersion": "v1",
        "code": 404,
        "details": {
          "kind": "namespaces",
          "name": "missing",
        },
        "kind": "Status",
        "message": "namespaces "missing" not found",
        "metadata": {},
        "reason": "NotFound",
        "status": "Failure",
      },
    ]
  `);
});

test('nothing is created in a namespace that goes', async () => {
  const going = await server.namespace();
  await server.request('DELETE', `/api/v1/namespaces/${going}`);
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } };
  const answer = await server.request('POST', `/api/v1/namespaces/${going}/configmaps`, { body });
  expect(stable([answer.status, answer.body], going)).toMatchInlineSnapshot(`
    [
      403,
      {
        "apiVersion": "v1",
        "code": 403,
        "details": {
          "causes": [
            {
              "field": "metadata.namespace",
              "message": "namespace <name> is being terminated",
              "reason": "NamespaceTerminating",
            },
          ],
          "kind": "configmaps",
          "name": "x",
        },
        "kind": "Status",
        "message": "configmaps "x" is forbidden: unable to create new content in namespace <name> because it is being terminated",
        "metadata": {},
        "reason": "Forbidden",
        "status": "Failure",
      },
    ]
  `);
});

test('some namespaces are for ever', async () => {
  const answer = await server.request('DELETE', '/api/v1/namespaces/default');
  expect([answer.status, answer.body]).toMatchInlineSnapshot(`
    [
      403,
      {
        "apiVersion": "v1",
        "code": 403,
        "details": {
          "kind": "namespaces",
          "name": "default",
        },
        "kind": "Status",
        "message": "namespaces "default" is forbidden: this namespace may not be deleted",
        "metadata": {},
        "reason": "Forbidden",
        "status": "Failure",
      },
    ]
  `);
});
