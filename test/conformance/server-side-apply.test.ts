import { beforeAll, expect, test } from 'vitest';
import { type Answer, stable, type TestServer, testServer } from './server.ts';

let server: TestServer;
let namespace: string;
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
});

interface Apply {
  readonly manager: string;
  readonly force?: boolean;
  readonly subresource?: string;
}

function apply(path: string, object: object, { manager, force, subresource }: Apply): Promise<Answer> {
  const query = `fieldManager=${manager}${force === undefined ? '' : `&force=${force}`}`;
  const contentType = 'application/apply-patch+yaml';
  return server.request('PATCH', `${path}${subresource ? `/${subresource}` : ''}?${query}`, {
    body: object,
    contentType,
  });
}

const configMap = (name: string, rest: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...rest,
});
const configMapPath = (name: string) => `/api/v1/namespaces/${namespace}/configmaps/${name}`;
const servicePath = (name: string) => `/api/v1/namespaces/${namespace}/services/${name}`;
const service = (name: string, spec: object) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec });

test('what is applied is created, and owned', async () => {
  const path = configMapPath('created');
  const answer = await apply(path, configMap('created', { data: { a: '1' } }), { manager: 'one' });
  expect(stable(answer.body, namespace)).toMatchInlineSnapshot(`
    {
      "apiVersion": "v1",
      "data": {
        "a": "1",
      },
      "kind": "ConfigMap",
      "metadata": {
        "creationTimestamp": "<time>",
        "managedFields": [
          {
            "apiVersion": "v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {
              "f:data": {
                "f:a": {},
              },
            },
            "manager": "one",
            "operation": "Apply",
            "time": "<time>",
          },
        ],
        "name": "created",
        "namespace": "<name>",
        "resourceVersion": "<version>",
        "uid": "<uid>",
      },
    }
  `);
  expect(answer.status).toBe(201);
  const again = await apply(path, configMap('created', { data: { a: '1' } }), { manager: 'one' });
  expect(again.status).toBe(200);
  expect(again.body).toEqual(answer.body);
});

test('a field of another applier is a conflict, unless forced', async () => {
  const path = configMapPath('conflict');
  await apply(path, configMap('conflict', { data: { a: '1', b: '1', c: '1' } }), { manager: 'one' });
  const one = await apply(path, configMap('conflict', { data: { a: '2' } }), { manager: 'two' });
  expect(stable(one.body)).toMatchInlineSnapshot(`
    {
      "apiVersion": "v1",
      "code": 409,
      "details": {
        "causes": [
          {
            "field": ".data.a",
            "message": "conflict with "one"",
            "reason": "FieldManagerConflict",
          },
        ],
      },
      "kind": "Status",
      "message": "Apply failed with 1 conflict: conflict with "one": .data.a",
      "metadata": {},
      "reason": "Conflict",
      "status": "Failure",
    }
  `);
  const many = await apply(path, configMap('conflict', { data: { a: '2', b: '2', c: '1' } }), { manager: 'two' });
  expect(stable(many.body)).toMatchInlineSnapshot(`
    {
      "apiVersion": "v1",
      "code": 409,
      "details": {
        "causes": [
          {
            "field": ".data.a",
            "message": "conflict with "one"",
            "reason": "FieldManagerConflict",
          },
          {
            "field": ".data.b",
            "message": "conflict with "one"",
            "reason": "FieldManagerConflict",
          },
        ],
      },
      "kind": "Status",
      "message": "Apply failed with 2 conflicts: conflicts with "one":
    - .data.a
    - .data.b",
      "metadata": {},
      "reason": "Conflict",
      "status": "Failure",
    }
  `);
  const forced = await apply(path, configMap('conflict', { data: { a: '2' } }), { manager: 'two', force: true });
  expect(stable([forced.body['data'], forced.body.metadata.managedFields])).toMatchInlineSnapshot(`
    [
      {
        "a": "2",
        "b": "1",
        "c": "1",
      },
      [
        {
          "apiVersion": "v1",
          "fieldsType": "FieldsV1",
          "fieldsV1": {
            "f:data": {
              "f:b": {},
              "f:c": {},
            },
          },
          "manager": "one",
          "operation": "Apply",
          "time": "<time>",
        },
        {
          "apiVersion": "v1",
          "fieldsType": "FieldsV1",
          "fieldsV1": {
            "f:data": {
              "f:a": {},
            },
          },
          "manager": "two",
          "operation": "Apply",
          "time": "<time>",
        },
      ],
    ]
  `);
});

test('a field of an updater is a conflict too, named with its API version and time', async () => {
  const path = configMapPath('updated');
  const created = await apply(path, configMap('updated', { data: { a: '1' } }), { manager: 'one' });
  const body = { ...created.body, data: { a: '2', b: '2' } };
  await server.request('PUT', `${path}?fieldManager=two`, { body });
  const answer = await apply(path, configMap('updated', { data: { a: '3' } }), { manager: 'one' });
  expect(stable(answer.body)).toMatchInlineSnapshot(`
    {
      "apiVersion": "v1",
      "code": 409,
      "details": {
        "causes": [
          {
            "field": ".data.a",
            "message": "conflict with "two" using v1",
            "reason": "FieldManagerConflict",
          },
        ],
      },
      "kind": "Status",
      "message": "Apply failed with 1 conflict: conflict with "two" using v1: .data.a",
      "metadata": {},
      "reason": "Conflict",
      "status": "Failure",
    }
  `);
});

test('what is stated no more goes, unless somebody else owns it', async () => {
  const path = configMapPath('removed');
  await apply(path, configMap('removed', { data: { mine: '1', ours: '1' } }), { manager: 'one' });
  await apply(path, configMap('removed', { data: { ours: '1' } }), { manager: 'two' });
  const answer = await apply(path, configMap('removed'), { manager: 'one' });
  expect(stable([answer.body['data'], answer.body.metadata.managedFields])).toMatchInlineSnapshot(`
    [
      {
        "ours": "1",
      },
      [
        {
          "apiVersion": "v1",
          "fieldsType": "FieldsV1",
          "fieldsV1": {
            "f:data": {
              "f:ours": {},
            },
          },
          "manager": "two",
          "operation": "Apply",
        },
      ],
    ]
  `);
});

test('an update takes ownership, an apply of the same value shares it', async () => {
  const path = configMapPath('shared');
  const created = await apply(path, configMap('shared', { data: { a: '1' } }), { manager: 'one' });
  const body = { ...created.body, data: { a: '2' } };
  await server.request('PUT', `${path}?fieldManager=two`, { body });
  const shared = await apply(path, configMap('shared', { data: { a: '2' } }), { manager: 'three' });
  expect(stable(shared.body.metadata.managedFields)).toMatchInlineSnapshot(`
    [
      {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
          "f:data": {
            "f:a": {},
          },
        },
        "manager": "three",
        "operation": "Apply",
      },
      {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
          "f:data": {
            "f:a": {},
          },
        },
        "manager": "two",
        "operation": "Update",
        "time": "<time>",
      },
    ]
  `);
});

test('list items are merged by their keys', async () => {
  const path = servicePath('ports');
  const http = { name: 'http', port: 80 };
  const https = { name: 'https', port: 443, targetPort: 8443 };
  await apply(path, service('ports', { ports: [http], selector: { app: 'x' } }), { manager: 'one' });
  const both = await apply(path, service('ports', { ports: [https] }), { manager: 'two' });
  expect((both.body['spec'] as { ports: unknown }).ports).toMatchInlineSnapshot(`
    [
      {
        "name": "http",
        "port": 80,
        "protocol": "TCP",
        "targetPort": 80,
      },
      {
        "name": "https",
        "port": 443,
        "protocol": "TCP",
        "targetPort": 8443,
      },
    ]
  `);
  expect(stable(both.body.metadata.managedFields)).toMatchInlineSnapshot(`
    [
      {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
          "f:spec": {
            "f:ports": {
              "k:{"port":80,"protocol":"TCP"}": {
                ".": {},
                "f:name": {},
                "f:port": {},
              },
            },
            "f:selector": {},
          },
        },
        "manager": "one",
        "operation": "Apply",
        "time": "<time>",
      },
      {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
          "f:spec": {
            "f:ports": {
              "k:{"port":443,"protocol":"TCP"}": {
                ".": {},
                "f:name": {},
                "f:port": {},
                "f:targetPort": {},
              },
            },
          },
        },
        "manager": "two",
        "operation": "Apply",
        "time": "<time>",
      },
    ]
  `);
  const left = await apply(path, service('ports', { selector: { app: 'x' } }), { manager: 'one' });
  expect((left.body['spec'] as { ports: unknown }).ports).toMatchInlineSnapshot(`
    [
      {
        "name": "https",
        "port": 443,
        "protocol": "TCP",
        "targetPort": 8443,
      },
    ]
  `);
});

test('a key that is stated twice is refused', async () => {
  const ports = [
    { name: 'a', port: 80 },
    { name: 'b', port: 80 },
  ];
  const answer = await apply(servicePath('twice'), service('twice', { ports }), { manager: 'one' });
  expect(stable([answer.status, answer.body], namespace)).toMatchInlineSnapshot(`
    [
      500,
      {
        "apiVersion": "v1",
        "code": 500,
        "kind": "Status",
        "message": "failed to create typed patch object (/twice; /v1, Kind=Service): .spec.ports: duplicate entries for key [port=80,protocol="TCP"]",
        "metadata": {},
        "status": "Failure",
      },
    ]
  `);
});

test('finalizers are a set', async () => {
  const path = configMapPath('set');
  const metadata = (finalizer: string) => ({ metadata: { name: 'set', finalizers: [finalizer] } });
  await apply(path, configMap('set', metadata('example.com/a')), { manager: 'one' });
  const both = await apply(path, configMap('set', metadata('example.com/b')), { manager: 'two' });
  expect(both.body.metadata.finalizers).toEqual(['example.com/a', 'example.com/b']);
  const left = await apply(path, configMap('set'), { manager: 'one' });
  expect(left.body.metadata.finalizers).toEqual(['example.com/b']);
  await apply(path, configMap('set'), { manager: 'two' });
});

test('owner references are merged by uid', async () => {
  const path = configMapPath('owned');
  const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid });
  const owned = (uid: string) => configMap('owned', { metadata: { name: 'owned', ownerReferences: [owner(uid)] } });
  await apply(path, owned('one'), { manager: 'one' });
  const both = await apply(path, owned('two'), { manager: 'two' });
  expect(both.body.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual(['one', 'two']);
  expect(stable(both.body.metadata.managedFields)).toMatchInlineSnapshot(`
    [
      {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
          "f:metadata": {
            "f:ownerReferences": {
              "k:{"uid":"one"}": {},
            },
          },
        },
        "manager": "one",
        "operation": "Apply",
        "time": "<time>",
      },
      {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
          "f:metadata": {
            "f:ownerReferences": {
              "k:{"uid":"two"}": {},
            },
          },
        },
        "manager": "two",
        "operation": "Apply",
        "time": "<time>",
      },
    ]
  `);
});

test('a uid in the statement must be that of the object', async () => {
  const stated = configMap('uid', { metadata: { name: 'uid', uid: 'another' } });
  const absent = await apply(configMapPath('uid'), stated, { manager: 'one' });
  expect(stable([absent.status, absent.body])).toMatchInlineSnapshot(`
    [
      409,
      {
        "apiVersion": "v1",
        "code": 409,
        "details": {
          "kind": "configmaps",
          "name": "uid",
        },
        "kind": "Status",
        "message": "Operation cannot be fulfilled on configmaps "uid": uid mismatch: the provided object specified uid another, and no existing object was found",
        "metadata": {},
        "reason": "Conflict",
        "status": "Failure",
      },
    ]
  `);
  const created = await apply(configMapPath('uid'), configMap('uid'), { manager: 'one' });
  const differs = await apply(configMapPath('uid'), stated, { manager: 'one' });
  expect(stable([differs.status, differs.body.reason, differs.body.message])).toMatchInlineSnapshot(`
    [
      422,
      "Invalid",
      "ConfigMap "uid" is invalid: metadata.uid: Invalid value: "another": field is immutable",
    ]
  `);
  const same = { metadata: { name: 'uid', uid: created.body.metadata.uid } };
  expect((await apply(configMapPath('uid'), configMap('uid', same), { manager: 'one' })).status).toBe(200);
});

test('a resourceVersion in the statement guards it', async () => {
  const path = configMapPath('guarded');
  await apply(path, configMap('guarded', { data: { a: '1' } }), { manager: 'one' });
  const stale = configMap('guarded', { metadata: { name: 'guarded', resourceVersion: '1' }, data: { a: '2' } });
  const answer = await apply(path, stale, { manager: 'one' });
  expect(stable([answer.status, answer.body])).toMatchInlineSnapshot(`
    [
      409,
      {
        "apiVersion": "v1",
        "code": 409,
        "details": {
          "kind": "configmaps",
          "name": "guarded",
        },
        "kind": "Status",
        "message": "Operation cannot be fulfilled on configmaps "guarded": the object has been modified; please apply your changes to the latest version and try again",
        "metadata": {},
        "reason": "Conflict",
        "status": "Failure",
      },
    ]
  `);
});

test('what is wrong with the statement is said', async () => {
  const path = configMapPath('wrong');
  const noManager = await server.request('PATCH', path, {
    body: configMap('wrong'),
    contentType: 'application/apply-patch+yaml',
  });
  expect(stable([noManager.status, noManager.body])).toMatchInlineSnapshot(`
    [
      422,
      {
        "apiVersion": "v1",
        "code": 422,
        "details": {
          "causes": [
            {
              "field": "fieldManager",
              "message": "Required value: is required for apply patch",
              "reason": "FieldValueRequired",
            },
          ],
          "group": "meta.k8s.io",
          "kind": "PatchOptions",
        },
        "kind": "Status",
        "message": "PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch",
        "metadata": {},
        "reason": "Invalid",
        "status": "Failure",
      },
    ]
  `);
  const wrongKind = await apply(path, { ...configMap('wrong'), kind: 'Secret' }, { manager: 'one' });
  expect(stable([wrongKind.status, wrongKind.body])).toMatchInlineSnapshot(`
    [
      400,
      {
        "apiVersion": "v1",
        "code": 400,
        "kind": "Status",
        "message": "invalid object type: /v1, Kind=Secret",
        "metadata": {},
        "reason": "BadRequest",
        "status": "Failure",
      },
    ]
  `);
  const unknown = await apply(path, configMap('wrong', { dta: {} }), { manager: 'one' });
  expect(stable([unknown.status, unknown.body], namespace)).toMatchInlineSnapshot(`
    [
      500,
      {
        "apiVersion": "v1",
        "code": 500,
        "kind": "Status",
        "message": "failed to create typed patch object (/wrong; /v1, Kind=ConfigMap): .dta: field not declared in schema",
        "metadata": {},
        "status": "Failure",
      },
    ]
  `);
  const wrongType = await apply(path, configMap('wrong', { data: { a: 1 } }), { manager: 'one' });
  expect(stable([wrongType.status, wrongType.body], namespace)).toMatchInlineSnapshot(`
    [
      500,
      {
        "apiVersion": "v1",
        "code": 500,
        "kind": "Status",
        "message": "failed to create typed patch object (/wrong; /v1, Kind=ConfigMap): .data.a: expected string, got &value.valueUnstructured{Value:1}",
        "metadata": {},
        "status": "Failure",
      },
    ]
  `);
  const wrongName = await apply(path, configMap('other'), { manager: 'one' });
  expect(stable([wrongName.status, wrongName.body], namespace)).toMatchInlineSnapshot(`
    [
      400,
      {
        "apiVersion": "v1",
        "code": 400,
        "kind": "Status",
        "message": "the name of the object (other) does not match the name on the URL (wrong)",
        "metadata": {},
        "reason": "BadRequest",
        "status": "Failure",
      },
    ]
  `);
  const managed = configMap('wrong', { metadata: { name: 'wrong', managedFields: [] } });
  const withManaged = await apply(path, managed, { manager: 'one' });
  expect(stable([withManaged.status, withManaged.body], namespace)).toMatchInlineSnapshot(`
    [
      400,
      {
        "apiVersion": "v1",
        "code": 400,
        "kind": "Status",
        "message": "metadata.managedFields must be nil",
        "metadata": {},
        "reason": "BadRequest",
        "status": "Failure",
      },
    ]
  `);
});

test('an object without managers gives its fields to before-first-apply', async () => {
  const path = configMapPath('before');
  const body = configMap('before', { data: { a: '1' } });
  const created = await server.request('POST', `/api/v1/namespaces/${namespace}/configmaps?fieldManager=x`, { body });
  const wiped = { ...created.body, metadata: { ...created.body.metadata, managedFields: [{}] } };
  const bare = await server.request('PUT', `${path}?fieldManager=x`, { body: wiped });
  expect(stable(bare.body.metadata.managedFields ?? 'none')).toMatchInlineSnapshot(`"none"`);
  const answer = await apply(path, configMap('before', { data: { b: '1' } }), { manager: 'one' });
  expect(stable(answer.body.metadata.managedFields)).toMatchInlineSnapshot(`
    [
      {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
          "f:data": {
            "f:b": {},
          },
        },
        "manager": "one",
        "operation": "Apply",
        "time": "<time>",
      },
      {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
          "f:data": {
            ".": {},
            "f:a": {},
          },
        },
        "manager": "before-first-apply",
        "operation": "Update",
        "time": "<time>",
      },
    ]
  `);
});

test('an empty map is owned, a null is dropped', async () => {
  const path = configMapPath('hollow');
  const answer = await apply(path, configMap('hollow', { metadata: { name: 'hollow', labels: {} }, data: null }), {
    manager: 'one',
  });
  expect(stable(answer.body, namespace)).toMatchInlineSnapshot(`
    {
      "apiVersion": "v1",
      "kind": "ConfigMap",
      "metadata": {
        "creationTimestamp": "<time>",
        "managedFields": [
          {
            "apiVersion": "v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {
              "f:data": {},
              "f:metadata": {
                "f:labels": {},
              },
            },
            "manager": "one",
            "operation": "Apply",
            "time": "<time>",
          },
        ],
        "name": "hollow",
        "namespace": "<name>",
        "resourceVersion": "<version>",
        "uid": "<uid>",
      },
    }
  `);
});

test('creations and patches record their manager', async () => {
  const body = configMap('recorded', { metadata: { name: 'recorded', labels: { a: '1' } }, data: { a: '1' } });
  await server.request('POST', `/api/v1/namespaces/${namespace}/configmaps`, { body, userAgent: 'agent/1.0 (x)' });
  const answer = await server.request('PATCH', `${configMapPath('recorded')}?fieldManager=patcher`, {
    body: { data: { b: '2' }, metadata: { labels: { a: null }, annotations: { 'example.com/x': 'y' } } },
    contentType: 'application/merge-patch+json',
  });
  expect(stable(answer.body.metadata.managedFields)).toMatchInlineSnapshot(`
    [
      {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
          "f:data": {
            ".": {},
            "f:a": {},
          },
        },
        "manager": "agent",
        "operation": "Update",
        "time": "<time>",
      },
      {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
          "f:data": {
            "f:b": {},
          },
          "f:metadata": {
            "f:annotations": {
              ".": {},
              "f:example.com/x": {},
            },
          },
        },
        "manager": "patcher",
        "operation": "Update",
        "time": "<time>",
      },
    ]
  `);
});
