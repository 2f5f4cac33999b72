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
