import { beforeAll, expect, test } from 'vitest';
import { type TestServer, testServer } from './server.ts';

let server: TestServer;
let namespace: string;
let base: string;
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
  base = `/api/v1/namespaces/${namespace}`;
});

test('what is not there is said', async () => {
  const found: Record<string, unknown> = {};
  for (const path of [
    `${base}/configmaps/x`,
    '/apis/apps/v1/namespaces/default/deployments/missing',
    `${base}/nonsense`,
    '/api/v2',
    '/apis/apps/v9/deployments',
    '/apis/example.com/v1/things',
    '/apis/nothing.example.com',
    '/nothing',
    `${base}/configmaps/x/status`,
  ]) {
    const { status, body, headers } = await server.request('GET', path);
    found[path.replace(namespace, '<namespace>')] = [status, headers['content-type'], body];
  }
  expect(found).toMatchInlineSnapshot(`
    {
      "/api/v1/namespaces/<namespace>/configmaps/x": [
        404,
        "application/json",
        {
          "apiVersion": "v1",
          "code": 404,
          "details": {
            "kind": "configmaps",
            "name": "x",
          },
          "kind": "Status",
          "message": "configmaps "x" not found",
          "metadata": {},
          "reason": "NotFound",
          "status": "Failure",
        },
      ],
      "/api/v1/namespaces/<namespace>/configmaps/x/status": [
        404,
        "application/json",
        {
          "apiVersion": "v1",
          "code": 404,
          "details": {},
          "kind": "Status",
          "message": "the server could not find the requested resource",
          "metadata": {},
          "reason": "NotFound",
          "status": "Failure",
        },
      ],
      "/api/v1/namespaces/<namespace>/nonsense": [
        404,
        "application/json",
        {
          "apiVersion": "v1",
          "code": 404,
          "details": {},
          "kind": "Status",
          "message": "the server could not find the requested resource",
          "metadata": {},
          "reason": "NotFound",
          "status": "Failure",
        },
      ],
      "/api/v2": [
        404,
        "application/json",
        {
          "apiVersion": "v1",
          "code": 404,
          "details": {},
          "kind": "Status",
          "message": "the server could not find the requested resource",
          "metadata": {},
          "reason": "NotFound",
          "status": "Failure",
        },
      ],
      "/apis/apps/v1/namespaces/default/deployments/missing": [
        404,
        "application/json",
        {
          "apiVersion": "v1",
          "code": 404,
          "details": {
            "group": "apps",
            "kind": "deployments",
            "name": "missing",
          },
          "kind": "Status",
          "message": "deployments.apps "missing" not found",
          "metadata": {},
          "reason": "NotFound",
          "status": "Failure",
        },
      ],
      "/apis/apps/v9/deployments": [
        404,
        "application/json",
        {
          "apiVersion": "v1",
          "code": 404,
          "details": {},
          "kind": "Status",
          "message": "the server could not find the requested resource",
          "metadata": {},
          "reason": "NotFound",
          "status": "Failure",
        },
      ],
      "/apis/example.com/v1/things": [
        404,
        "text/plain; charset=utf-8",
        "404 page not found
    ",
      ],
      "/apis/nothing.example.com": [
        404,
        "text/plain; charset=utf-8",
        "404 page not found
    ",
      ],
      "/nothing": [
        404,
        "text/plain; charset=utf-8",
        "404 page not found
    ",
      ],
    }
  `);
});

test('a method that a resource does not have is refused', async () => {
  const found: unknown[] = [];
  for (const [method, path] of [
    ['PUT', `${base}/configmaps`],
    ['PATCH', `${base}/configmaps`],
    ['POST', `${base}/configmaps/x`],
    ['DELETE', '/api/v1/namespaces'],
    ['POST', '/version'],
    ['DELETE', `${base}/pods/x/log`],
  ] as const) {
    const { status, body } = await server.request(method, path, method === 'DELETE' ? {} : { body: {} });
    found.push([method, path.replace(namespace, '<namespace>'), status, body]);
  }
  expect(found).toMatchInlineSnapshot(`
    [
      [
        "PUT",
        "/api/v1/namespaces/<namespace>/configmaps",
        405,
        {
          "apiVersion": "v1",
          "code": 405,
          "details": {},
          "kind": "Status",
          "message": "the server does not allow this method on the requested resource",
          "metadata": {},
          "reason": "MethodNotAllowed",
          "status": "Failure",
        },
      ],
      [
        "PATCH",
        "/api/v1/namespaces/<namespace>/configmaps",
        405,
        {
          "apiVersion": "v1",
          "code": 405,
          "details": {},
          "kind": "Status",
          "message": "the server does not allow this method on the requested resource",
          "metadata": {},
          "reason": "MethodNotAllowed",
          "status": "Failure",
        },
      ],
      [
        "POST",
        "/api/v1/namespaces/<namespace>/configmaps/x",
        405,
        {
          "apiVersion": "v1",
          "code": 405,
          "details": {},
          "kind": "Status",
          "message": "the server does not allow this method on the requested resource",
          "metadata": {},
          "reason": "MethodNotAllowed",
          "status": "Failure",
        },
      ],
      [
        "DELETE",
        "/api/v1/namespaces",
        405,
        {
          "apiVersion": "v1",
          "code": 405,
          "details": {},
          "kind": "Status",
          "message": "the server does not allow this method on the requested resource",
          "metadata": {},
          "reason": "MethodNotAllowed",
          "status": "Failure",
        },
      ],
      [
        "POST",
        "/version",
        405,
        {
          "apiVersion": "v1",
          "code": 405,
          "details": {},
          "kind": "Status",
          "message": "the server does not allow this method on the requested resource",
          "metadata": {},
          "reason": "MethodNotAllowed",
          "status": "Failure",
        },
      ],
      [
        "DELETE",
        "/api/v1/namespaces/<namespace>/pods/x/log",
        405,
        {
          "apiVersion": "v1",
          "code": 405,
          "details": {},
          "kind": "Status",
          "message": "the server does not allow this method on the requested resource",
          "metadata": {},
          "reason": "MethodNotAllowed",
          "status": "Failure",
        },
      ],
    ]
  `);
});
