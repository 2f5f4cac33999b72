import { beforeAll, expect, test } from 'vitest';
import { crds, gadget, install } from './gadgets.ts';
import { type Answer, stable, testServer } from './server.ts';

const mergePatch = 'application/merge-patch+json';
const server = await testServer();
const namespace = await server.namespace();
/** A definition for all tests: a real server needs two seconds for each. */
let shared: { group: string; base: string };
beforeAll(async () => {
  shared = await install(namespace);
  return async () => {
    await server.request('DELETE', `${crds}/gadgets.${shared.group}`);
  };
});

test('instances are defaulted, pruned and validated', async () => {
  const { group, base } = shared;
  const created = await server.request('POST', base, {
    body: gadget(group, 'i-a', { size: 3, unknown: true }, { status: { phase: 'x' } }),
  });
  expect(stable([created.status, created.headers['warning'], created.body], group, namespace)).toMatchInlineSnapshot(`
    [
      201,
      "299 - "unknown field \\"spec.unknown\\""",
      {
        "apiVersion": "<name>/v1",
        "kind": "Gadget",
        "metadata": {
          "creationTimestamp": "<time>",
          "generation": 1,
          "managedFields": [
            {
              "apiVersion": "<name>/v1",
              "fieldsType": "FieldsV1",
              "fieldsV1": {
                "f:spec": {
                  ".": {},
                  "f:color": {},
                  "f:size": {},
                },
              },
              "manager": "conformance",
              "operation": "Update",
              "time": "<time>",
            },
          ],
          "name": "i-a",
          "namespace": "<name>",
          "resourceVersion": "<version>",
          "uid": "<uid>",
        },
        "spec": {
          "color": "red",
          "size": 3,
        },
      },
    ]
  `);
  const wrong = await server.request('POST', base, { body: gadget(group, 'i-b', { size: 1, color: 'green' }) });
  expect(stable([wrong.status, wrong.body.message, wrong.body.details], group)).toMatchInlineSnapshot(`
    [
      422,
      "Gadget.<name> "i-b" is invalid: spec.color: Unsupported value: "green": supported values: "red", "blue"",
      {
        "causes": [
          {
            "field": "spec.color",
            "message": "Unsupported value: "green": supported values: "red", "blue"",
            "reason": "FieldValueNotSupported",
          },
        ],
        "group": "<name>",
        "kind": "Gadget",
        "name": "i-b",
      },
    ]
  `);
  const missing = await server.request('POST', base, { body: gadget(group, 'i-b', {}) });
  expect(stable([missing.status, missing.body.message], group)).toMatchInlineSnapshot(`
    [
      422,
      "Gadget.<name> "i-b" is invalid: spec.size: Required value",
    ]
  `);
  const type = await server.request('POST', base, { body: gadget(group, 'i-b', { size: 'x' }) });
  expect(stable([type.status, type.body.message], group)).toMatchInlineSnapshot(`
    [
      422,
      "Gadget.<name> "i-b" is invalid: spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"",
    ]
  `);
  const strict = await server.request('POST', `${base}?fieldValidation=Strict`, {
    body: gadget(group, 'i-b', { size: 1, z: 1, a: 1 }, { nope: 1 }),
  });
  expect(stable([strict.status, strict.body.message], group)).toMatchInlineSnapshot(`
    [
      400,
      "Gadget in version "v1" cannot be handled as a Gadget: strict decoding error: unknown field "nope", unknown field "spec.a", unknown field "spec.z"",
    ]
  `);
  const kind = await server.request('POST', base, { body: { ...gadget(group, 'i-b'), kind: 'Other' } });
  expect(stable([kind.status, kind.body.message], group)).toMatchInlineSnapshot(`
    [
      422,
      "Other.<name> "i-b" is invalid: kind: Invalid value: "Other": must be Gadget",
    ]
  `);
  const version = await server.request('POST', base, { body: { ...gadget(group, 'i-b'), apiVersion: `${group}/v9` } });
  expect(stable([version.status, version.body.message], group)).toMatchInlineSnapshot(`
    [
      400,
      "the API version in the data (<name>/v9) does not match the expected API version (<name>/v1)",
    ]
  `);
});

test('the generation rises with the spec, not with metadata or status', async () => {
  const { group, base } = shared;
  const generations: unknown[] = [];
  const note = ({ body }: Answer) => generations.push(body.metadata.generation);
  note(await server.request('POST', base, { body: gadget(group, 'g-a') }));
  const patch = (path: string, body: object) => server.request('PATCH', path, { body, contentType: mergePatch });
  note(await patch(`${base}/g-a`, { metadata: { labels: { a: 'b' } } }));
  note(await patch(`${base}/g-a/status`, { status: { phase: 'x' }, spec: { size: 9 } }));
  note(await patch(`${base}/g-a`, { status: { phase: 'y' } }));
  const changed = await patch(`${base}/g-a`, { spec: { size: 2 } });
  note(changed);
  expect([generations, changed.body['spec'], changed.body['status']]).toMatchInlineSnapshot(`
    [
      [
        1,
        1,
        1,
        1,
        2,
      ],
      {
        "color": "red",
        "size": 2,
      },
      {
        "phase": "x",
      },
    ]
  `);
});

test('a status is written beside the spec, with a manager of its own', async () => {
  const { group, base } = shared;
  await server.request('POST', `${base}?fieldManager=user`, { body: gadget(group, 's-a') });
  const body = gadget(group, 's-a', undefined, { status: { phase: 'Ready' } });
  const answer = await server.request('PATCH', `${base}/s-a/status?fieldManager=controller`, {
    body: { apiVersion: body.apiVersion, kind: body.kind, metadata: body.metadata, status: { phase: 'Ready' } },
    contentType: 'application/apply-patch+yaml',
  });
  expect(
    stable([answer.status, answer.body['status'], answer.body.metadata.managedFields], group),
  ).toMatchInlineSnapshot(`
    [
      200,
      {
        "phase": "Ready",
      },
      [
        {
          "apiVersion": "<name>/v1",
          "fieldsType": "FieldsV1",
          "fieldsV1": {
            "f:status": {
              "f:phase": {},
            },
          },
          "manager": "controller",
          "operation": "Apply",
          "subresource": "status",
          "time": "<time>",
        },
        {
          "apiVersion": "<name>/v1",
          "fieldsType": "FieldsV1",
          "fieldsV1": {
            "f:spec": {
              ".": {},
              "f:color": {},
              "f:size": {},
            },
          },
          "manager": "user",
          "operation": "Update",
          "time": "<time>",
        },
      ],
    ]
  `);
});

test('an update must carry its version', async () => {
  const { group, base } = shared;
  await server.request('POST', base, { body: gadget(group, 'u-a') });
  const answer = await server.request('PUT', `${base}/u-a`, { body: gadget(group, 'u-a', { size: 2 }) });
  expect(stable([answer.status, answer.body.message], group)).toMatchInlineSnapshot(`
    [
      422,
      "gadgets.<name> "u-a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update",
    ]
  `);
});

test('a strategic merge patch is for built-in kinds only', async () => {
  const { group, base } = shared;
  await server.request('POST', base, { body: gadget(group, 'p-a') });
  const contentType = 'application/strategic-merge-patch+json';
  const answer = await server.request('PATCH', `${base}/p-a`, { body: {}, contentType });
  expect([answer.status, answer.body.reason, answer.body.message]).toMatchInlineSnapshot(`
    [
      415,
      "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    ]
  `);
});

test('a field of the definition selects', async () => {
  const { group, base } = shared;
  await server.request('POST', base, { body: gadget(group, 'f-a', { size: 1, color: 'blue' }) });
  await server.request('POST', base, { body: gadget(group, 'f-b') });
  const found = await server.request('GET', `${base}?fieldSelector=spec.color=blue`);
  expect(found.body.items?.map(({ metadata }) => metadata.name)).toEqual(['f-a']);
  const refused = await server.request('GET', `${base}?fieldSelector=spec.size=1`);
  expect([refused.status, refused.body.message]).toMatchInlineSnapshot(`
    [
      400,
      "field label not supported: spec.size",
    ]
  `);
});
