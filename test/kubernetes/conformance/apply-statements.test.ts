import { expect, test } from 'vitest';
import { applying, configMap } from './applying.ts';
import { stable } from './server.ts';

const { apply, configMapPath, namespace, server } = await applying();

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

test('what is not there is made, whatever resourceVersion the statement has: only who comes first makes it', async () => {
  const path = configMapPath('first');
  const statement = configMap('first', { metadata: { name: 'first', resourceVersion: '1' }, data: { a: '1' } });
  const made = await apply(path, statement, { manager: 'one' });
  expect(made.status).toBe(201);
  expect(made.body.metadata.resourceVersion).not.toBe('1');
  expect((await apply(path, statement, { manager: 'one' })).status).toBe(409);
  expect((await apply(path, statement, { manager: 'two', force: true })).status).toBe(409);
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
