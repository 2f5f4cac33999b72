import { beforeAll, expect, test } from 'vitest';
import { type Answer, stable, type TestServer, testServer, uniqueName } from './server.ts';

let server: TestServer;
let namespace: string;
/** A definition for the tests that are not about definitions: a real server needs two seconds for each. */
let shared: { group: string; base: string };
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
  shared = await install();
  return async () => {
    await server.request('DELETE', `${crds}/gadgets.${shared.group}`);
  };
});

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const mergePatch = 'application/merge-patch+json';

interface Version {
  readonly name: string;
  readonly storage?: boolean;
  readonly served?: boolean;
}

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1 },
        color: { type: 'string', default: 'red', enum: ['red', 'blue'] },
        replicas: { type: 'integer' },
        parts: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, n: { type: 'integer' } },
          },
        },
      },
    },
    status: { type: 'object', properties: { phase: { type: 'string' }, replicas: { type: 'integer' } } },
  },
};

function definition(group: string, versions: Version[] = [{ name: 'v1', storage: true }], more: object = {}) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gadgets.${group}`, ...more },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Gadget', plural: 'gadgets', shortNames: ['gd'], categories: ['all'] },
      versions: versions.map(({ name, storage = false, served = true }) => ({
        name,
        served,
        storage,
        schema: { openAPIV3Schema: schema },
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        selectableFields: [{ jsonPath: '.spec.color' }],
      })),
    },
  };
}

/** Installs a definition of a group of its own and waits until it serves. */
async function install(versions?: Version[]): Promise<{ group: string; base: string }> {
  const group = `${uniqueName('g')}.example.com`;
  const created = await server.request('POST', crds, { body: definition(group, versions) });
  expect(created.status).toBe(201);
  const base = `/apis/${group}/v1/namespaces/${namespace}/gadgets`;
  await until(
    () => server.request('GET', base),
    ({ status }) => status === 200,
  );
  return { group, base };
}

/** The real server does it a moment later; asked again and again, without a pause, for at most 10 seconds' worth. */
async function until(ask: () => Promise<Answer>, done: (answer: Answer) => boolean): Promise<Answer> {
  for (let attempt = 0; attempt < 5000; attempt += 1) {
    const answer = await ask();
    if (done(answer)) return answer;
  }
  throw new Error('it never came to be');
}

const gadget = (group: string, name: string, spec: object = { size: 1 }, more: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: 'Gadget',
  metadata: { name },
  spec,
  ...more,
});

test('a definition is established, and says so', async () => {
  const { group } = await install();
  const { body } = await until(
    () => server.request('GET', `${crds}/gadgets.${group}`),
    (answer) => JSON.stringify(answer.body['status'] ?? '').includes('InitialNamesAccepted'),
  );
  expect(stable(body['status'], group)).toMatchInlineSnapshot(`
    {
      "acceptedNames": {
        "categories": [
          "all",
        ],
        "kind": "Gadget",
        "listKind": "GadgetList",
        "plural": "gadgets",
        "shortNames": [
          "gd",
        ],
        "singular": "gadget",
      },
      "conditions": [
        {
          "lastTransitionTime": "<time>",
          "message": "no conflicts found",
          "reason": "NoConflicts",
          "status": "True",
          "type": "NamesAccepted",
        },
        {
          "lastTransitionTime": "<time>",
          "message": "the initial names have been accepted",
          "reason": "InitialNamesAccepted",
          "status": "True",
          "type": "Established",
        },
      ],
      "storedVersions": [
        "v1",
      ],
    }
  `);
  await server.request('DELETE', `${crds}/gadgets.${group}`);
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

test('instances are seen in every version that is served', async () => {
  const { group, base } = await install([{ name: 'v1', storage: true }, { name: 'v2' }]);
  await server.request('POST', base, { body: gadget(group, 'a') });
  const second = await until(
    () => server.request('GET', `/apis/${group}/v2/namespaces/${namespace}/gadgets/a`),
    ({ status }) => status === 200,
  );
  expect([second.body.apiVersion, second.body['spec']]).toEqual([`${group}/v2`, { size: 1, color: 'red' }]);
  const group2 = await server.request('GET', `/apis/${group}`);
  expect(stable(group2.body, group)).toMatchInlineSnapshot(`
    {
      "apiVersion": "v1",
      "kind": "APIGroup",
      "name": "<name>",
      "preferredVersion": {
        "groupVersion": "<name>/v2",
        "version": "v2",
      },
      "versions": [
        {
          "groupVersion": "<name>/v2",
          "version": "v2",
        },
        {
          "groupVersion": "<name>/v1",
          "version": "v1",
        },
      ],
    }
  `);
  await server.request('DELETE', `${crds}/gadgets.${group}`);
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

test('a definition takes its instances along, and waits for their finalizers', async () => {
  const { group, base } = await install();
  await server.request('POST', base, { body: gadget(group, 'free') });
  const held = gadget(group, 'held');
  await server.request('POST', base, { body: { ...held, metadata: { name: 'held', finalizers: ['example.com/x'] } } });
  const deleted = await server.request('DELETE', `${crds}/gadgets.${group}`);
  expect([deleted.status, deleted.body.metadata.finalizers]).toMatchInlineSnapshot(`
    [
      200,
      [
        "customresourcecleanup.apiextensions.k8s.io",
      ],
    ]
  `);
  const list = await until(
    () => server.request('GET', base),
    ({ body }) => body.items?.length === 1,
  );
  expect(list.body.items?.[0]?.metadata.name).toBe('held');
  const refused = await server.request('POST', base, { body: gadget(group, 'late') });
  expect(stable([refused.status, refused.body.message], group)).toMatchInlineSnapshot(`
    [
      403,
      "gadgets.<name> "late" is forbidden: create not allowed while custom resource definition is terminating",
    ]
  `);
  await server.request('PATCH', `${base}/held`, { body: { metadata: { finalizers: null } }, contentType: mergePatch });
  await until(
    () => server.request('GET', `${crds}/gadgets.${group}`),
    ({ status }) => status === 404,
  );
  await until(
    () => server.request('GET', base),
    ({ status }) => status === 404,
  );
});

test('names that are taken are not accepted', async () => {
  const { group } = await install();
  const other = definition(group);
  const names = { ...other.spec.names, plural: 'others', singular: 'other' };
  const body = { ...other, metadata: { name: `others.${group}` }, spec: { ...other.spec, names } };
  expect((await server.request('POST', crds, { body })).status).toBe(201);
  const answer = await until(
    () => server.request('GET', `${crds}/others.${group}`),
    (found) => JSON.stringify(found.body['status'] ?? '').includes('NotAccepted'),
  );
  const { conditions } = answer.body['status'] as { conditions: unknown };
  expect(stable(conditions, group)).toMatchInlineSnapshot(`
    [
      {
        "lastTransitionTime": "<time>",
        "message": ""GadgetList" is already in use",
        "reason": "ListKindConflict",
        "status": "False",
        "type": "NamesAccepted",
      },
      {
        "lastTransitionTime": "<time>",
        "message": "not all names are accepted",
        "reason": "NotAccepted",
        "status": "False",
        "type": "Established",
      },
    ]
  `);
  await server.request('DELETE', `${crds}/others.${group}`);
  await server.request('DELETE', `${crds}/gadgets.${group}`);
});

test('a protected group needs approval', async () => {
  const group = `${uniqueName('g')}.k8s.io`;
  const refused = await server.request('POST', crds, { body: definition(group) });
  expect(stable([refused.status, refused.body.message], group)).toMatchInlineSnapshot(`
    [
      422,
      "CustomResourceDefinition.apiextensions.k8s.io "gadgets.<name>" is invalid: metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111",
    ]
  `);
  const annotations = { 'api-approved.kubernetes.io': 'unapproved, a test' };
  const created = await server.request('POST', crds, { body: definition(group, undefined, { annotations }) });
  expect(created.status).toBe(201);
  const answer = await until(
    () => server.request('GET', `${crds}/gadgets.${group}`),
    ({ body }) => JSON.stringify(body['status'] ?? '').includes('Conformant'),
  );
  const { conditions } = answer.body['status'] as { conditions: { type: string }[] };
  const approval = conditions.find(({ type }) => type === 'KubernetesAPIApprovalPolicyConformant');
  expect(stable(approval, group)).toMatchInlineSnapshot(`
    {
      "lastTransitionTime": "<time>",
      "message": "not approved: "unapproved, a test"",
      "reason": "UnapprovedAnnotation",
      "status": "False",
      "type": "KubernetesAPIApprovalPolicyConformant",
    }
  `);
  await server.request('DELETE', `${crds}/gadgets.${group}`);
});
