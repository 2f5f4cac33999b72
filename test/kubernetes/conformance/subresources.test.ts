import { beforeAll, expect, test } from 'vitest';
import { stable, type TestServer, testServer } from './server.ts';

let server: TestServer;
let namespace: string;
let apps: string;
let core: string;
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
  apps = `/apis/apps/v1/namespaces/${namespace}`;
  core = `/api/v1/namespaces/${namespace}`;
});

const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
const deployment = (name: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { replicas: 2, selector: { matchLabels: { app: 'x' } }, template },
});
const pod = (name: string, labels = {}, more = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: { ...template.spec, automountServiceAccountToken: false, ...more },
});
const mergePatch = 'application/merge-patch+json';

test('a scale is read and written', async () => {
  await server.request('POST', `${apps}/deployments`, { body: deployment('scaled') });
  const path = `${apps}/deployments/scaled/scale`;
  const read = await server.request('GET', path);
  expect(stable(read.body, namespace)).toMatchInlineSnapshot(`
    {
      "apiVersion": "autoscaling/v1",
      "kind": "Scale",
      "metadata": {
        "creationTimestamp": "<time>",
        "name": "scaled",
        "namespace": "<name>",
        "resourceVersion": "<version>",
        "uid": "<uid>",
      },
      "spec": {
        "replicas": 2,
      },
      "status": {
        "replicas": 0,
        "selector": "app=x",
      },
    }
  `);
  const put = await server.request('PUT', `${path}?fieldManager=scaler`, {
    body: { ...read.body, spec: { replicas: 3 } },
  });
  expect([put.status, put.body['spec']]).toEqual([200, { replicas: 3 }]);
  const patched = await server.request('PATCH', path, { body: { spec: { replicas: 4 } }, contentType: mergePatch });
  expect(patched.body['spec']).toEqual({ replicas: 4 });
  const whole = await server.request('GET', `${apps}/deployments/scaled`);
  const managers = whole.body.metadata.managedFields?.filter(({ subresource }) => subresource === 'scale');
  expect([whole.body.metadata.generation, stable(managers)]).toMatchInlineSnapshot(`
    [
      3,
      [
        {
          "apiVersion": "apps/v1",
          "fieldsType": "FieldsV1",
          "fieldsV1": {
            "f:spec": {
              "f:replicas": {},
            },
          },
          "manager": "conformance",
          "operation": "Update",
          "subresource": "scale",
        },
      ],
    ]
  `);
  const stale = await server.request('PUT', path, { body: { ...read.body, spec: { replicas: 5 } } });
  expect([stale.status, stale.body.message]).toMatchInlineSnapshot(`
    [
      409,
      "Operation cannot be fulfilled on deployments.apps "scaled": the object has been modified; please apply your changes to the latest version and try again",
    ]
  `);
  const negative = await server.request('PATCH', path, { body: { spec: { replicas: -1 } }, contentType: mergePatch });
  expect([negative.status, negative.body.message]).toMatchInlineSnapshot(`
    [
      422,
      "Scale.autoscaling "scaled" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0",
    ]
  `);
});

test('a status is written alone', async () => {
  const created = await server.request('POST', `${apps}/deployments`, {
    body: { ...deployment('status'), status: { replicas: 7 } },
  });
  expect(created.body['status']).toEqual({});
  const body = { ...created.body, spec: { ...(created.body['spec'] as object), replicas: 9 }, status: { replicas: 1 } };
  const answer = await server.request('PUT', `${apps}/deployments/status/status`, { body });
  const { replicas } = answer.body['spec'] as { replicas: number };
  expect([replicas, answer.body['status'], answer.body.metadata.generation]).toMatchInlineSnapshot(`
    [
      2,
      {
        "replicas": 1,
      },
      1,
    ]
  `);
});

test('a pod is bound to its node once', async () => {
  await server.request('POST', `${core}/pods`, { body: pod('bound') });
  const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'bound' }, target: { kind: 'Node', name: 'n1' } };
  const first = await server.request('POST', `${core}/pods/bound/binding`, { body });
  expect([first.status, first.body]).toMatchInlineSnapshot(`
    [
      201,
      {
        "apiVersion": "v1",
        "code": 201,
        "kind": "Status",
        "metadata": {},
        "status": "Success",
      },
    ]
  `);
  const second = await server.request('POST', `${core}/pods/bound/binding`, { body });
  expect([second.status, second.body.message]).toMatchInlineSnapshot(`
    [
      409,
      "Operation cannot be fulfilled on pods/binding "bound": pod bound is already assigned to node "n1"",
    ]
  `);
  const found = await server.request('GET', `${core}/pods/bound`);
  const { conditions } = found.body['status'] as { conditions: { type: string; status: string }[] };
  expect([
    (found.body['spec'] as { nodeName: string }).nodeName,
    conditions.map(({ type, status }) => [type, status]),
  ]).toMatchInlineSnapshot(`
    [
      "n1",
      [
        [
          "PodScheduled",
          "True",
        ],
      ],
    ]
  `);
});

test('a pod on a node gets its grace, others go at once', async () => {
  await server.request('POST', `${core}/pods`, { body: pod('running', {}, { nodeName: 'n1' }) });
  const marked = await server.request('DELETE', `${core}/pods/running`);
  expect(marked.body.metadata.deletionGracePeriodSeconds).toBe(30);
  const sooner = await server.request('DELETE', `${core}/pods/running`, { body: { gracePeriodSeconds: 5 } });
  expect(sooner.body.metadata.deletionGracePeriodSeconds).toBe(5);
  const later = await server.request('DELETE', `${core}/pods/running`, { body: { gracePeriodSeconds: 60 } });
  expect(later.body.metadata.deletionGracePeriodSeconds).toBe(5);
  await server.request('DELETE', `${core}/pods/running`, { body: { gracePeriodSeconds: 0 } });
  expect((await server.request('GET', `${core}/pods/running`)).status).toBe(404);
  await server.request('POST', `${core}/pods`, { body: pod('pending') });
  await server.request('DELETE', `${core}/pods/pending`);
  expect((await server.request('GET', `${core}/pods/pending`)).status).toBe(404);
});

test('an eviction honours the disruption budget', async () => {
  const labels = { budget: 'yes' };
  const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'b' },
    spec: { minAvailable: 1, selector: { matchLabels: labels } },
  };
  await server.request('POST', budgets, { body: budget });
  const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  for (const name of ['e1', 'e2']) {
    await server.request('POST', `${core}/pods`, { body: pod(name, labels, { nodeName: 'n1' }) });
    await server.request('PATCH', `${core}/pods/${name}/status`, { body: { status: ready }, contentType: mergePatch });
  }
  const evict = (name: string) =>
    server.request('POST', `${core}/pods/${name}/eviction`, {
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } },
    });
  const unseen = await evict('e1');
  expect([unseen.status, unseen.headers['retry-after'], unseen.body]).toMatchInlineSnapshot(`
    [
      429,
      "10",
      {
        "apiVersion": "v1",
        "code": 429,
        "details": {
          "causes": [
            {
              "message": "The disruption budget b is still being processed by the server.",
              "reason": "DisruptionBudget",
            },
          ],
          "retryAfterSeconds": 10,
        },
        "kind": "Status",
        "message": "Cannot evict pod as it would violate the pod's disruption budget.",
        "metadata": {},
        "reason": "TooManyRequests",
        "status": "Failure",
      },
    ]
  `);
  const status = {
    observedGeneration: 1,
    disruptionsAllowed: 1,
    currentHealthy: 2,
    desiredHealthy: 1,
    expectedPods: 2,
  };
  await server.request('PATCH', `${budgets}/b/status`, { body: { status }, contentType: mergePatch });
  const first = await evict('e1');
  expect([first.status, first.body]).toMatchInlineSnapshot(`
    [
      201,
      {
        "apiVersion": "v1",
        "code": 201,
        "kind": "Status",
        "metadata": {},
        "status": "Success",
      },
    ]
  `);
  const second = await evict('e2');
  expect([second.status, second.headers['retry-after'], second.body]).toMatchInlineSnapshot(`
    [
      429,
      undefined,
      {
        "apiVersion": "v1",
        "code": 429,
        "details": {
          "causes": [
            {
              "message": "The disruption budget b does not allow evicting pods currently",
              "reason": "DisruptionBudget",
            },
          ],
        },
        "kind": "Status",
        "message": "Cannot evict pod as it would violate the pod's disruption budget.",
        "metadata": {},
        "reason": "TooManyRequests",
        "status": "Failure",
      },
    ]
  `);
  const left = await server.request('GET', `${budgets}/b`);
  expect(stable(left.body['status'])).toMatchInlineSnapshot(`
    {
      "conditions": [
        {
          "lastTransitionTime": "<time>",
          "message": "",
          "observedGeneration": 1,
          "reason": "InsufficientPods",
          "status": "False",
          "type": "DisruptionAllowed",
        },
      ],
      "currentHealthy": 2,
      "desiredHealthy": 1,
      "disruptedPods": {
        "e1": "<time>",
      },
      "disruptionsAllowed": 0,
      "expectedPods": 2,
      "observedGeneration": 1,
    }
  `);
  const going = await server.request('GET', `${core}/pods/e1`);
  expect(typeof going.body.metadata.deletionTimestamp).toBe('string');
});
