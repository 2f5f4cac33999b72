import { expect, test } from 'vitest';
import { applying, configMap } from './applying.ts';
import { stable } from './server.ts';

const { apply, configMapPath, namespace, server } = await applying();

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
