import { beforeAll, expect, test } from 'vitest';
import { type Answer, stable, type TestServer, testServer } from './server.ts';

let server: TestServer;
let namespace: string;
let base: string;
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
  base = `/api/v1/namespaces/${namespace}`;
});

async function configMap(name: string, data: Record<string, string>): Promise<string> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
  await server.request('POST', `${base}/configmaps`, { body });
  return `${base}/configmaps/${name}`;
}

function patch(path: string, kind: string, body: unknown): Promise<Answer> {
  return server.request('PATCH', path, { body, contentType: `application/${kind}-patch+json` });
}

test('a merge patch adds, changes and removes', async () => {
  const path = await configMap('merge', { keep: '1', change: '1', remove: '1' });
  const answer = await patch(path, 'merge', { data: { change: '2', remove: null, add: '1' } });
  expect(answer.body['data']).toEqual({ keep: '1', change: '2', add: '1' });
});

test('a JSON patch runs its operations in order', async () => {
  const path = await configMap('json', { a: '1', b: '1' });
  const answer = await patch(path, 'json', [
    { op: 'test', path: '/data/a', value: '1' },
    { op: 'replace', path: '/data/a', value: '2' },
    { op: 'remove', path: '/data/b' },
    { op: 'add', path: '/metadata/labels', value: { x: 'y' } },
    { op: 'copy', from: '/data/a', path: '/data/c' },
    { op: 'move', from: '/data/c', path: '/data/d~1e' },
  ]);
  expect([answer.body['data'], answer.body.metadata.labels]).toMatchInlineSnapshot(`
    [
      undefined,
      undefined,
    ]
  `);
});

test('a JSON patch that does not apply is refused', async () => {
  const path = await configMap('refused', { a: '1' });
  const failing = [
    [{ op: 'test', path: '/data/a', value: '2' }],
    [{ op: 'remove', path: '/data/missing' }],
    [{ op: 'replace', path: '/data/missing', value: '1' }],
    [{ op: 'add', path: '/nothing/here', value: '1' }],
    [{ op: 'jump', path: '/data/a' }],
  ];
  const answers = [];
  for (const operations of failing) {
    const { status, body } = await patch(path, 'json', operations);
    answers.push([status, body.reason, body.message]);
  }
  expect(answers).toMatchInlineSnapshot(`
    [
      [
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
      ],
      [
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
      ],
      [
        200,
        undefined,
        undefined,
      ],
      [
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
      ],
      [
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
      ],
    ]
  `);
});

test('a strategic merge patch merges lists by their keys', async () => {
  const ports = [
    { name: 'a', port: 80 },
    { name: 'b', port: 81 },
  ];
  const body = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'strategic' }, spec: { ports } };
  await server.request('POST', `${base}/services`, { body });
  const path = `${base}/services/strategic`;
  const added = await patch(path, 'strategic-merge', { spec: { ports: [{ name: 'c', port: 82 }] } });
  const names = (answer: Answer) =>
    (answer.body['spec'] as { ports: { name: string }[] }).ports.map(({ name }) => name);
  expect(names(added)).toMatchInlineSnapshot(`
    [
      "c",
      "a",
      "b",
    ]
  `);
  const ordered = await patch(path, 'strategic-merge', {
    spec: {
      '$setElementOrder/ports': [{ port: 82 }, { port: 80 }],
      ports: [{ $patch: 'delete', port: 81 }],
    },
  });
  expect(names(ordered)).toMatchInlineSnapshot(`
    [
      "c",
      "a",
    ]
  `);
  const replaced = await patch(path, 'strategic-merge', {
    spec: { ports: [{ $patch: 'replace' }, { name: 'z', port: 90 }] },
  });
  expect(names(replaced)).toMatchInlineSnapshot(`
    [
      "z",
    ]
  `);
});

test('what no patch can be is refused', async () => {
  const path = await configMap('bad', {});
  const answers = [];
  const notJson = await server.request('PATCH', path, { body: '{', contentType: 'application/merge-patch+json' });
  answers.push([notJson.status, notJson.body.message]);
  const list = await patch(path, 'merge', [1]);
  answers.push([list.status, list.body.message]);
  const noList = await patch(path, 'json', {});
  answers.push([noList.status, noList.body.message]);
  const media = await server.request('PATCH', path, { body: {}, contentType: 'application/json' });
  answers.push([media.status, media.body.reason, media.body.message]);
  const missing = await patch(`${base}/configmaps/missing`, 'merge', {});
  answers.push([missing.status, missing.body.message]);
  const renamed = await patch(path, 'merge', { metadata: { name: 'other' } });
  answers.push([renamed.status, renamed.body.message]);
  const wrongType = await patch(path, 'merge', { data: { a: 1 } });
  answers.push([wrongType.status, wrongType.body.message?.replace(/Invalid value: ".*":/, 'Invalid value: ...:')]);
  const force = await server.request('PATCH', `${path}?force=true`, {
    body: {},
    contentType: 'application/merge-patch+json',
  });
  answers.push([force.status, force.body.message]);
  expect(stable(answers, namespace)).toMatchInlineSnapshot(`
    [
      [
        400,
        "error decoding patch: unexpected end of JSON input",
      ],
      [
        400,
        "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
      ],
      [
        400,
        "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
      ],
      [
        415,
        "UnsupportedMediaType",
        "415: Unsupported Media Type",
      ],
      [
        404,
        "configmaps "missing" not found",
      ],
      [
        400,
        "the name of the object (other) does not match the name on the URL (bad)",
      ],
      [
        422,
        " "" is invalid: patch: Invalid value: ...: json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
      ],
      [
        422,
        "PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch",
      ],
    ]
  `);
});

test('metadata that identifies the object cannot be patched away', async () => {
  const path = await configMap('immutable', {});
  const uid = await patch(path, 'merge', { metadata: { uid: 'other' } });
  expect(stable([uid.status, uid.body.reason, uid.body.message], namespace)).toMatchInlineSnapshot(`
    [
      422,
      "Invalid",
      "ConfigMap "immutable" is invalid: metadata.uid: Invalid value: "other": field is immutable",
    ]
  `);
  const namespaced = await patch(path, 'merge', { metadata: { namespace: 'other' } });
  expect(stable([namespaced.status, namespaced.body.message])).toMatchInlineSnapshot(`
    [
      400,
      "the namespace of the provided object does not match the namespace sent on the request",
    ]
  `);
});
