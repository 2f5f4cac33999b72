import { beforeAll, expect, test } from 'vitest';
import { type TestServer, testServer } from './server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});

interface Discovered {
  readonly resource: string;
  readonly subresources?: readonly { readonly subresource: string }[];
}

interface Aggregated {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly { readonly version: string; readonly resources: readonly Discovered[] }[];
  }[];
}

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

async function aggregated(path: string): Promise<Aggregated> {
  const answer = await server.request('GET', path, { accept: `${aggregatedType},application/json` });
  expect(answer.headers['content-type']).toBe(aggregatedType);
  return answer.body as unknown as Aggregated;
}

/** One resource without the subresources that the sandbox does not offer. */
async function discovered(path: string, group: string, resource: string): Promise<unknown> {
  const { items } = await aggregated(path);
  const versions = items.find(({ metadata }) => (metadata.name ?? '') === group)?.versions;
  const found = versions?.[0]?.resources.find((candidate) => candidate.resource === resource);
  const offered = ['status', 'scale', 'eviction', 'binding', 'log'];
  return { ...found, subresources: found?.subresources?.filter(({ subresource }) => offered.includes(subresource)) };
}

test('what is served is told at once', async () => {
  expect(await discovered('/api', '', 'pods')).toMatchInlineSnapshot(`
    {
      "categories": [
        "all",
      ],
      "resource": "pods",
      "responseKind": {
        "group": "",
        "kind": "Pod",
        "version": "",
      },
      "scope": "Namespaced",
      "shortNames": [
        "po",
      ],
      "singularResource": "pod",
      "subresources": [
        {
          "responseKind": {
            "group": "",
            "kind": "Binding",
            "version": "",
          },
          "subresource": "binding",
          "verbs": [
            "create",
          ],
        },
        {
          "responseKind": {
            "group": "policy",
            "kind": "Eviction",
            "version": "v1",
          },
          "subresource": "eviction",
          "verbs": [
            "create",
          ],
        },
        {
          "responseKind": {
            "group": "",
            "kind": "Pod",
            "version": "",
          },
          "subresource": "log",
          "verbs": [
            "get",
          ],
        },
        {
          "responseKind": {
            "group": "",
            "kind": "Pod",
            "version": "",
          },
          "subresource": "status",
          "verbs": [
            "get",
            "patch",
            "update",
          ],
        },
      ],
      "verbs": [
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
      ],
    }
  `);
  expect(await discovered('/apis', 'apps', 'deployments')).toMatchInlineSnapshot(`
    {
      "categories": [
        "all",
      ],
      "resource": "deployments",
      "responseKind": {
        "group": "",
        "kind": "Deployment",
        "version": "",
      },
      "scope": "Namespaced",
      "shortNames": [
        "deploy",
      ],
      "singularResource": "deployment",
      "subresources": [
        {
          "responseKind": {
            "group": "autoscaling",
            "kind": "Scale",
            "version": "v1",
          },
          "subresource": "scale",
          "verbs": [
            "get",
            "patch",
            "update",
          ],
        },
        {
          "responseKind": {
            "group": "",
            "kind": "Deployment",
            "version": "",
          },
          "subresource": "status",
          "verbs": [
            "get",
            "patch",
            "update",
          ],
        },
      ],
      "verbs": [
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
      ],
    }
  `);
});

test('what is served is told group by group', async () => {
  const versions = await server.request('GET', '/api');
  expect((versions.body as unknown as { versions: string[] }).versions).toEqual(['v1']);
  const group = await server.request('GET', '/apis/apps');
  expect(group.body).toMatchInlineSnapshot(`
    {
      "apiVersion": "v1",
      "kind": "APIGroup",
      "name": "apps",
      "preferredVersion": {
        "groupVersion": "apps/v1",
        "version": "v1",
      },
      "versions": [
        {
          "groupVersion": "apps/v1",
          "version": "v1",
        },
      ],
    }
  `);
  const list = await server.request('GET', '/apis/policy/v1');
  const resources = (list.body as unknown as { resources: { storageVersionHash?: string }[] }).resources;
  for (const resource of resources) delete resource.storageVersionHash;
  expect({ ...list.body, resources }).toMatchInlineSnapshot(`
    {
      "apiVersion": "v1",
      "groupVersion": "policy/v1",
      "kind": "APIResourceList",
      "resources": [
        {
          "kind": "PodDisruptionBudget",
          "name": "poddisruptionbudgets",
          "namespaced": true,
          "shortNames": [
            "pdb",
          ],
          "singularName": "poddisruptionbudget",
          "verbs": [
            "create",
            "delete",
            "deletecollection",
            "get",
            "list",
            "patch",
            "update",
            "watch",
          ],
        },
        {
          "kind": "PodDisruptionBudget",
          "name": "poddisruptionbudgets/status",
          "namespaced": true,
          "singularName": "",
          "verbs": [
            "get",
            "patch",
            "update",
          ],
        },
      ],
    }
  `);
});

test('the server is alive, ready, and of a version', async () => {
  for (const path of ['/healthz', '/livez', '/readyz', '/readyz/ping']) {
    const { status, body } = await server.request('GET', path);
    expect([path, status, body]).toEqual([path, 200, 'ok']);
  }
  const { body } = await server.request('GET', '/version');
  const { major, minor, gitVersion } = body as unknown as Record<string, string>;
  expect([major, minor, gitVersion?.startsWith('v1.36.')]).toEqual(['1', '36', true]);
});

test('schemas are where the index says', async () => {
  const index = (await server.request('GET', '/openapi/v3')).body as unknown as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  const url = index.paths['apis/policy/v1']?.serverRelativeURL ?? '';
  expect(url.replace(/hash=[0-9A-F]{128}$/, 'hash=<hash>')).toBe('/openapi/v3/apis/policy/v1?hash=<hash>');
  const document = (await server.request('GET', url)).body as unknown as {
    paths: Record<string, { patch?: { parameters: { name: string }[] } }>;
    components: { schemas: Record<string, { properties: Record<string, unknown>; [key: string]: unknown }> };
  };
  const path = '/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets/{name}';
  expect(document.paths[path]?.patch?.parameters.map(({ name }) => name)).toMatchInlineSnapshot(`
    [
      "dryRun",
      "fieldManager",
      "fieldValidation",
      "force",
    ]
  `);
  const budget = document.components.schemas['io.k8s.api.policy.v1.PodDisruptionBudget'];
  expect([
    Object.keys(budget?.properties ?? {}),
    budget?.['x-kubernetes-group-version-kind'],
    budget?.['description'],
  ]).toMatchInlineSnapshot(`
    [
      [
        "apiVersion",
        "kind",
        "metadata",
        "spec",
        "status",
      ],
      [
        {
          "group": "policy",
          "kind": "PodDisruptionBudget",
          "version": "v1",
        },
      ],
      "PodDisruptionBudget is an object to define the max disruption that can be caused to a collection of pods",
    ]
  `);
  expect(
    document.components.schemas['io.k8s.api.policy.v1.PodDisruptionBudgetSpec']?.properties['minAvailable'],
  ).toMatchInlineSnapshot(`
    {
      "allOf": [
        {
          "$ref": "#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString",
        },
      ],
      "description": "An eviction is allowed if at least "minAvailable" pods selected by "selector" will still be available after the eviction, i.e. even in the absence of the evicted pod.  So for example you can prevent all voluntary evictions by specifying "100%".",
    }
  `);
});
