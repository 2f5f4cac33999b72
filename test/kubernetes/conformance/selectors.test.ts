import { beforeAll, expect, test } from 'vitest';
import { type TestServer, testServer } from './server.ts';

let server: TestServer;
let namespace: string;
let base: string;
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
  base = `/api/v1/namespaces/${namespace}`;
  const labels: Record<string, Record<string, string>> = {
    one: { app: 'x', tier: 'web', size: '1' },
    two: { app: 'x', tier: 'db', size: '10' },
    three: { app: 'y', empty: '' },
    none: {},
  };
  for (const [name, value] of Object.entries(labels)) {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name, labels: value }, type: `example.com/${name}` };
    await server.request('POST', `${base}/secrets`, { body });
  }
});

async function select(query: string, path = `${base}/secrets`): Promise<unknown> {
  const { status, body } = await server.request('GET', `${path}?${query}`);
  return status === 200 ? body.items?.map(({ metadata }) => metadata.name) : [status, body.reason, body.message];
}

test('labels select', async () => {
  const found: Record<string, unknown> = {};
  for (const selector of [
    'app=x',
    'app==x,tier=db',
    'app!=x',
    'tier in (web,db)',
    'tier notin (web)',
    'tier',
    '!tier',
    'empty=',
    'empty',
    'size>5',
    'size<5',
    'app in (y), empty',
    'app=nothing',
  ]) {
    found[selector] = await select(`labelSelector=${encodeURIComponent(selector)}`);
  }
  expect(found).toMatchInlineSnapshot(`
    {
      "!tier": [
        "none",
        "three",
      ],
      "app in (y), empty": [
        "three",
      ],
      "app!=x": [
        "none",
        "three",
      ],
      "app==x,tier=db": [
        "two",
      ],
      "app=nothing": [],
      "app=x": [
        "one",
        "two",
      ],
      "empty": [
        "three",
      ],
      "empty=": [
        "three",
      ],
      "size<5": [
        "one",
      ],
      "size>5": [
        "two",
      ],
      "tier": [
        "one",
        "two",
      ],
      "tier in (web,db)": [
        "one",
        "two",
      ],
      "tier notin (web)": [
        "none",
        "three",
        "two",
      ],
    }
  `);
});

test('a selector that cannot be read is refused', async () => {
  const found: Record<string, unknown> = {};
  for (const selector of ['app in x', 'app=x y', ',', 'app=-x-', 'a/b/c=1', 'app in (x', '=x', 'size>a']) {
    found[selector] = await select(`labelSelector=${encodeURIComponent(selector)}`);
  }
  expect(found).toMatchInlineSnapshot(`
    {
      ",": [
        400,
        "BadRequest",
        "found ',', expected: !, identifier, or 'end of string'",
      ],
      "=x": [
        400,
        "BadRequest",
        "found '=', expected: !, identifier, or 'end of string'",
      ],
      "a/b/c=1": [
        400,
        "BadRequest",
        "unable to parse requirement: <nil>: Invalid value: "a/b/c": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
      ],
      "app in (x": [
        400,
        "BadRequest",
        "unable to parse requirement: found '', expected: ',' or ')'",
      ],
      "app in x": [
        400,
        "BadRequest",
        "unable to parse requirement: found 'x' expected: '('",
      ],
      "app=-x-": [
        400,
        "BadRequest",
        "unable to parse requirement: values[0][app]: Invalid value: "-x-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ],
      "app=x y": [
        400,
        "BadRequest",
        "found 'y', expected: ',' or 'end of string'",
      ],
      "size>a": [
        400,
        "BadRequest",
        "unable to parse requirement: values[0]: Invalid value: "a": for 'Gt', 'Lt' operators, the value must be an integer",
      ],
    }
  `);
});

test('fields select', async () => {
  const found: Record<string, unknown> = {};
  for (const selector of [
    'metadata.name=one',
    'metadata.name!=one',
    `metadata.namespace=${namespace},metadata.name=two`,
    'type=example.com/three',
    'type!=example.com/three',
  ]) {
    const key = selector.replace(namespace, '<namespace>');
    found[key] = await select(`fieldSelector=${encodeURIComponent(selector)}`);
  }
  expect(found).toMatchInlineSnapshot(`
    {
      "metadata.name!=one": [
        "none",
        "three",
        "two",
      ],
      "metadata.name=one": [
        "one",
      ],
      "metadata.namespace=<namespace>,metadata.name=two": [
        "two",
      ],
      "type!=example.com/three": [
        "none",
        "one",
        "two",
      ],
      "type=example.com/three": [
        "three",
      ],
    }
  `);
});

test('a field that cannot be selected by is refused', async () => {
  const found = [
    await select('fieldSelector=data.x=1'),
    await select('fieldSelector=data.x=1', `${base}/configmaps`),
    await select('fieldSelector=spec.foo=1', `${base}/pods`),
    await select('fieldSelector=spec.foo=1', '/apis/batch/v1/jobs'),
    await select('fieldSelector=spec.replicas=1', '/apis/apps/v1/deployments'),
    await select('fieldSelector=nonsense'),
  ];
  expect(found).toMatchInlineSnapshot(`
    [
      [
        400,
        "BadRequest",
        "field label not supported: data.x",
      ],
      [
        400,
        "BadRequest",
        ""data.x" is not a known field selector: only "metadata.name", "metadata.namespace"",
      ],
      [
        400,
        "BadRequest",
        "field label not supported: spec.foo",
      ],
      [
        400,
        "BadRequest",
        "field label "spec.foo" not supported for Job",
      ],
      [
        400,
        "BadRequest",
        ""spec.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"",
      ],
      [
        400,
        "BadRequest",
        "invalid selector: 'nonsense'; can't understand 'nonsense'",
      ],
    ]
  `);
});
