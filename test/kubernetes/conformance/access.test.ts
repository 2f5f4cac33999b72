import { beforeAll, expect, test } from 'vitest';
import { stable, type TestServer, testServer, uniqueName } from './server.ts';

let server: TestServer;
let namespace: string;
let core: string;
let rbac: string;
const user = uniqueName('user');
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
  core = `/api/v1/namespaces/${namespace}`;
  rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const rules = [
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'create'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['one'], verbs: ['get'] },
    { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: ['create', 'update'] },
  ];
  await server.request('POST', `${rbac}/roles`, { body: role('reader', rules) });
  await server.request('POST', `${rbac}/rolebindings`, { body: binding('reader', 'reader', user) });
});

const role = (name: string, rules: object[]) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name },
  rules,
});
const binding = (name: string, roleName: string, subject: string) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: roleName },
  subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: subject }],
});

test('what no rule grants is refused', async () => {
  const found: unknown[] = [];
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } };
  for (const [method, path, body] of [
    ['GET', `${core}/configmaps`],
    ['POST', `${core}/configmaps`, configMap],
    ['DELETE', `${core}/configmaps/x`],
    ['PUT', `${core}/configmaps/x`, configMap],
    ['GET', `${core}/secrets`],
    ['GET', `${core}/secrets/one`],
    ['GET', `${core}/secrets/two`],
    ['GET', `${core}/pods/x`],
    ['GET', '/api/v1/nodes'],
    ['GET', '/apis/apps/v1/deployments'],
    ['GET', '/apis'],
    ['GET', '/metrics'],
    ['GET', '/healthz'],
  ] as const) {
    const answer = await server.request(method, path, { as: user, ...(body && { body }) });
    found.push([method, path, answer.status, answer.status === 403 ? [answer.body.message, answer.body.details] : '']);
  }
  expect(stable(found, user, namespace)).toMatchInlineSnapshot(`
    [
      [
        "GET",
        "/api/v1/namespaces/<name>/configmaps",
        200,
        "",
      ],
      [
        "POST",
        "/api/v1/namespaces/<name>/configmaps",
        201,
        "",
      ],
      [
        "DELETE",
        "/api/v1/namespaces/<name>/configmaps/x",
        403,
        [
          "configmaps "x" is forbidden: User "<name>" cannot delete resource "configmaps" in API group "" in the namespace "<name>"",
          {
            "kind": "configmaps",
            "name": "x",
          },
        ],
      ],
      [
        "PUT",
        "/api/v1/namespaces/<name>/configmaps/x",
        403,
        [
          "configmaps "x" is forbidden: User "<name>" cannot update resource "configmaps" in API group "" in the namespace "<name>"",
          {
            "kind": "configmaps",
            "name": "x",
          },
        ],
      ],
      [
        "GET",
        "/api/v1/namespaces/<name>/secrets",
        403,
        [
          "secrets is forbidden: User "<name>" cannot list resource "secrets" in API group "" in the namespace "<name>"",
          {
            "kind": "secrets",
          },
        ],
      ],
      [
        "GET",
        "/api/v1/namespaces/<name>/secrets/one",
        404,
        "",
      ],
      [
        "GET",
        "/api/v1/namespaces/<name>/secrets/two",
        403,
        [
          "secrets "two" is forbidden: User "<name>" cannot get resource "secrets" in API group "" in the namespace "<name>"",
          {
            "kind": "secrets",
            "name": "two",
          },
        ],
      ],
      [
        "GET",
        "/api/v1/namespaces/<name>/pods/x",
        403,
        [
          "pods "x" is forbidden: User "<name>" cannot get resource "pods" in API group "" in the namespace "<name>"",
          {
            "kind": "pods",
            "name": "x",
          },
        ],
      ],
      [
        "GET",
        "/api/v1/nodes",
        403,
        [
          "nodes is forbidden: User "<name>" cannot list resource "nodes" in API group "" at the cluster scope",
          {
            "kind": "nodes",
          },
        ],
      ],
      [
        "GET",
        "/apis/apps/v1/deployments",
        403,
        [
          "deployments.apps is forbidden: User "<name>" cannot list resource "deployments" in API group "apps" at the cluster scope",
          {
            "group": "apps",
            "kind": "deployments",
          },
        ],
      ],
      [
        "GET",
        "/apis",
        200,
        "",
      ],
      [
        "GET",
        "/metrics",
        403,
        [
          "forbidden: User "<name>" cannot get path "/metrics"",
          {},
        ],
      ],
      [
        "GET",
        "/healthz",
        200,
        "",
      ],
    ]
  `);
});

test('who may what can be asked', async () => {
  const ask = async (resourceAttributes: object) => {
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes },
    };
    const answer = await server.request('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      body,
      as: user,
    });
    return [answer.status, (answer.body.status as { allowed: boolean }).allowed];
  };
  expect([
    await ask({ namespace, verb: 'list', resource: 'configmaps' }),
    await ask({ namespace, verb: 'delete', resource: 'configmaps' }),
    await ask({ namespace, verb: 'get', resource: 'pods', subresource: 'log' }),
    await ask({ verb: 'list', resource: 'configmaps' }),
    await ask({ namespace, verb: 'get', resource: 'secrets', name: 'one' }),
  ]).toMatchInlineSnapshot(`
    [
      [
        201,
        true,
      ],
      [
        201,
        false,
      ],
      [
        201,
        true,
      ],
      [
        201,
        false,
      ],
      [
        201,
        true,
      ],
    ]
  `);
  const spec = { user, resourceAttributes: { namespace, verb: 'list', resource: 'configmaps' } };
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
  const other = await server.request('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { body: review });
  expect((other.body.status as { allowed: boolean }).allowed).toBe(true);
});

test('one may ask who one is', async () => {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const answer = await server.request('POST', path, { body, as: user, groups: ['team'] });
  const { userInfo } = answer.body.status as { userInfo: { username: string; groups: string[] } };
  expect(stable([answer.status, userInfo.username, userInfo.groups], user)).toMatchInlineSnapshot(`
    [
      201,
      "<name>",
      [
        "team",
        "system:authenticated",
      ],
    ]
  `);
});

test('nobody grants what they do not have', async () => {
  const held = role('held', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]);
  expect((await server.request('POST', `${rbac}/roles`, { body: held, as: user })).status).toBe(201);
  const more = role('more', [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }]);
  const refused = await server.request('POST', `${rbac}/roles`, { body: more, as: user });
  expect(stable([refused.status, refused.body.message], user, namespace)).toMatchInlineSnapshot(`
    [
      403,
      "roles.rbac.authorization.k8s.io "more" is forbidden: user "<name>" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
    {APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}",
    ]
  `);
  await server.request('POST', `${rbac}/roles`, { body: more });
  const bound = await server.request('POST', `${rbac}/rolebindings`, { body: binding('more', 'more', user), as: user });
  expect(stable([bound.status, bound.body.message], user, namespace)).toMatchInlineSnapshot(`
    [
      403,
      "rolebindings.rbac.authorization.k8s.io "more" is forbidden: user "<name>" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
    {APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}",
    ]
  `);
  const mine = await server.request('POST', `${rbac}/rolebindings`, { body: binding('held', 'held', 'x'), as: user });
  expect(mine.status).toBe(201);
});
