import { expect, test } from 'vitest';
import { crds, definition, gadget, install, until } from './gadgets.ts';
import { stable, testServer, uniqueName } from './server.ts';

const mergePatch = 'application/merge-patch+json';
const server = await testServer();
const namespace = await server.namespace();

test('a definition is established, and says so', async () => {
  const { group } = await install(namespace);
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

test('instances are seen in every version that is served', async () => {
  const { group, base } = await install(namespace, [{ name: 'v1', storage: true }, { name: 'v2' }]);
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

test('a definition takes its instances along, and waits for their finalizers', async () => {
  const { group, base } = await install(namespace);
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
  const { group } = await install(namespace);
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
