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

async function configMap(name: string, metadata = {}): Promise<Answer> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata } };
  return server.request('POST', `${base}/configmaps`, { body });
}

test('a delete answers with a status', async () => {
  await configMap('plain');
  const answer = await server.request('DELETE', `${base}/configmaps/plain`);
  expect(stable([answer.status, answer.body])).toMatchInlineSnapshot(`
    [
      200,
      {
        "apiVersion": "v1",
        "details": {
          "kind": "configmaps",
          "name": "plain",
          "uid": "<uid>",
        },
        "kind": "Status",
        "metadata": {},
        "status": "Success",
      },
    ]
  `);
  const again = await server.request('DELETE', `${base}/configmaps/plain`);
  expect([again.status, again.body.message]).toEqual([404, 'configmaps "plain" not found']);
});

test('some kinds answer with what they were', async () => {
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'returned' } };
  await server.request('POST', `${base}/serviceaccounts`, { body });
  const answer = await server.request('DELETE', `${base}/serviceaccounts/returned`);
  expect([answer.status, answer.body.kind, answer.body.metadata.name]).toEqual([200, 'ServiceAccount', 'returned']);
});

test('preconditions guard a delete', async () => {
  const created = await configMap('guarded');
  const { uid = '', resourceVersion = '' } = created.body.metadata;
  const wrongUid = await server.request('DELETE', `${base}/configmaps/guarded`, {
    body: { preconditions: { uid: 'another' } },
  });
  expect([wrongUid.status, wrongUid.body.message?.replace(uid, '<uid>'), wrongUid.body.details]).toMatchInlineSnapshot(`
    [
      409,
      "Operation cannot be fulfilled on ConfigMap "guarded": the UID in the precondition (another) does not match the UID in record (<uid>). The object might have been deleted and then recreated",
      {
        "kind": "ConfigMap",
        "name": "guarded",
      },
    ]
  `);
  const wrongVersion = await server.request('DELETE', `${base}/configmaps/guarded`, {
    body: { preconditions: { resourceVersion: '1' } },
  });
  expect([
    wrongVersion.status,
    wrongVersion.body.message?.replace(resourceVersion, '<version>'),
  ]).toMatchInlineSnapshot(`
    [
      409,
      "Operation cannot be fulfilled on ConfigMap "guarded": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (<version>). The object might have been modified",
    ]
  `);
  const right = await server.request('DELETE', `${base}/configmaps/guarded`, {
    body: { preconditions: { uid, resourceVersion } },
  });
  expect(right.status).toBe(200);
});

test('an object with finalizers stays, marked, until they are gone', async () => {
  await configMap('held', { finalizers: ['example.com/hold', 'example.com/more'] });
  const marked = await server.request('DELETE', `${base}/configmaps/held`);
  expect(stable([marked.status, marked.body], namespace)).toMatchInlineSnapshot(`
    [
      200,
      {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
          "creationTimestamp": "<time>",
          "deletionGracePeriodSeconds": 0,
          "deletionTimestamp": "<time>",
          "finalizers": [
            "example.com/hold",
            "example.com/more",
          ],
          "managedFields": [
            {
              "apiVersion": "v1",
              "fieldsType": "FieldsV1",
              "fieldsV1": {
                "f:metadata": {
                  "f:finalizers": {
                    ".": {},
                    "v:"example.com/hold"": {},
                    "v:"example.com/more"": {},
                  },
                },
              },
              "manager": "conformance",
              "operation": "Update",
              "time": "<time>",
            },
          ],
          "name": "held",
          "namespace": "<name>",
          "resourceVersion": "<version>",
          "uid": "<uid>",
        },
      },
    ]
  `);
  const again = await server.request('DELETE', `${base}/configmaps/held`);
  expect(again.body.metadata.resourceVersion).toBe(marked.body.metadata.resourceVersion);
  const contentType = 'application/merge-patch+json';
  const patch = (finalizers: string[]) =>
    server.request('PATCH', `${base}/configmaps/held`, { body: { metadata: { finalizers } }, contentType });
  const added = await patch(['example.com/hold', 'example.com/more', 'example.com/new']);
  expect([added.status, added.body.message]).toMatchInlineSnapshot(`
    [
      422,
      "ConfigMap "held" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/new"}",
    ]
  `);
  const taken = await configMap('held');
  expect([taken.status, taken.body.message]).toMatchInlineSnapshot(`
    [
      409,
      "object is being deleted: configmaps "held" already exists",
    ]
  `);
  expect((await patch(['example.com/hold'])).status).toBe(200);
  expect((await patch([])).status).toBe(200);
  expect((await server.request('GET', `${base}/configmaps/held`)).status).toBe(404);
});

test('foreground and orphan are finalizers of the garbage collector', async () => {
  for (const [propagationPolicy, finalizer] of [
    ['Foreground', 'foregroundDeletion'],
    ['Orphan', 'orphan'],
  ]) {
    const name = `policy-${finalizer?.toLowerCase()}`;
    await configMap(name);
    const answer = await server.request('DELETE', `${base}/configmaps/${name}`, { body: { propagationPolicy } });
    expect(answer.body.metadata.finalizers).toEqual([finalizer]);
    expect(typeof answer.body.metadata.deletionTimestamp).toBe('string');
    const background = await server.request('DELETE', `${base}/configmaps/${name}?propagationPolicy=Background`);
    expect(background.body.status).toBe('Success');
  }
});

test('wrong options are refused', async () => {
  await configMap('options');
  const path = `${base}/configmaps/options`;
  const policy = await server.request('DELETE', path, { body: { propagationPolicy: 'Sometimes' } });
  const both = await server.request('DELETE', path, { body: { propagationPolicy: 'Orphan', orphanDependents: true } });
  expect([
    [policy.status, policy.body.message],
    [both.status, both.body.message],
  ]).toMatchInlineSnapshot(`
    [
      [
        422,
        "DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sometimes": supported values: "Foreground", "Background", "Orphan", "nil"",
      ],
      [
        422,
        "DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set",
      ],
    ]
  `);
});

test('a collection is deleted by its selector', async () => {
  for (const name of ['c1', 'c2', 'c3']) await configMap(name, { labels: { keep: String(name === 'c3') } });
  const answer = await server.request('DELETE', `${base}/configmaps?labelSelector=keep=false`);
  expect([
    answer.status,
    answer.body.kind,
    answer.body.items?.map(({ metadata }) => metadata.name),
  ]).toMatchInlineSnapshot(`
    [
      200,
      "ConfigMapList",
      [
        "c1",
        "c2",
      ],
    ]
  `);
  const left = await server.request('GET', `${base}/configmaps?labelSelector=keep`);
  expect(left.body.items?.map(({ metadata }) => metadata.name)).toEqual(['c3']);
});

test('a namespace is marked as terminating, and waits for its finalizer', async () => {
  const going = await server.namespace();
  const answer = await server.request('DELETE', `/api/v1/namespaces/${going}`);
  expect([answer.status, answer.body['spec'], answer.body['status']]).toMatchInlineSnapshot(`
    [
      200,
      {
        "finalizers": [
          "kubernetes",
        ],
      },
      {
        "phase": "Terminating",
      },
    ]
  `);
  const finalized = await server.request('PUT', `/api/v1/namespaces/${going}/finalize`, {
    body: { ...answer.body, spec: { finalizers: [] } },
  });
  expect(finalized.status).toBe(200);
  expect((await server.request('GET', `/api/v1/namespaces/${going}`)).status).toBe(404);
});
