import { beforeAll, expect, test } from 'vitest';
import { stable, type TestServer, testServer } from './server.ts';

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

test('a body that is no object of the kind is refused', async () => {
  const found: unknown[] = [];
  const post = async (body: unknown, contentType = 'application/json', path = `${base}/configmaps`) => {
    const answer = await server.request('POST', path, { body, contentType });
    found.push([answer.status, answer.body.reason, answer.body.message]);
  };
  await post('');
  await post('{');
  await post('[]');
  await post('{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}');
  await post('{"apiVersion":"v9","kind":"ConfigMap","metadata":{"name":"x"}}');
  await post('{"apiVersion":"apps/v1","kind":"ConfigMap","metadata":{"name":"x"}}');
  await post('{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}');
  await post('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"X_y"}}');
  await post('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":[]}');
  await post('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","labels":{"a":1}}}');
  await post('{}', 'text/plain');
  await post('a: [', 'application/yaml');
  expect(stable(found, namespace)).toMatchInlineSnapshot(`
    [
      [
        400,
        "BadRequest",
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
      ],
      [
        400,
        "BadRequest",
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({)",
      ],
      [
        400,
        "BadRequest",
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (5b5d)",
      ],
      [
        400,
        "BadRequest",
        "Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion",
      ],
      [
        400,
        "BadRequest",
        "ConfigMap in version "v9" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v9" in scheme "pkg/runtime/scheme.go:111"",
      ],
      [
        400,
        "BadRequest",
        "ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps/v1" in scheme "pkg/runtime/scheme.go:111"",
      ],
      [
        422,
        "Invalid",
        "ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required",
      ],
      [
        422,
        "Invalid",
        "ConfigMap "X_y" is invalid: metadata.name: Invalid value: "X_y": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
      [
        400,
        "BadRequest",
        "ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string",
      ],
      [
        400,
        "BadRequest",
        "ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
      ],
      [
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
      ],
      [
        400,
        "BadRequest",
        "the object provided is unrecognized (must be of type ConfigMap): yaml: line 1: did not find expected node content (613a205b)",
      ],
    ]
  `);
});

test('a body may be YAML, and need not say its kind', async () => {
  const body = 'metadata:\n  name: yaml\ndata:\n  a: "1"\n';
  const answer = await server.request('POST', `${base}/configmaps`, { body, contentType: 'application/yaml' });
  expect([answer.status, answer.body.kind, answer.body['data']]).toEqual([201, 'ConfigMap', { a: '1' }]);
});

test('an answer may be YAML; what the server does not write is refused', async () => {
  const yaml = await server.request('GET', '/api/v1/namespaces/default', { accept: 'application/yaml' });
  expect(yaml.headers['content-type']).toBe('application/yaml');
  expect(yaml.body as unknown).toContain('kind: Namespace');
  const refused = await server.request('GET', '/api/v1/namespaces/default', { accept: 'text/html' });
  expect([refused.status, refused.body.reason]).toEqual([406, 'NotAcceptable']);
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
