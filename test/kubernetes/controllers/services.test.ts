import {
  EndpointSlice,
  Endpoints,
  Node,
  Pod,
  PodDisruptionBudget,
  Service,
  type StoredObject,
} from '@openstack-operator/kube';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uniqueName } from '../conformance/server.ts';
import { controllerServer, report, stable } from './server.ts';

const server = controllerServer();
const { client, eventually, list } = server;
const labels = { app: 'web' };
const nodeName = uniqueName('node');

// Pods on a node that is not there are left out of slices.
beforeAll(async () => {
  await client.create(Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } });
});
afterAll(async () => {
  await client.delete(Node, { name: nodeName });
});

async function pod(namespace: string, name: string, port = 8080): Promise<StoredObject<Pod>> {
  return client.create(Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: {
      nodeName,
      containers: [{ name: 'c', image: 'example/app:1', ports: [{ name: 'http', containerPort: port }] }],
    },
  });
}

async function service(namespace: string, spec: object): Promise<void> {
  const metadata = { name: 'web', namespace, labels: { note: 'copied' } };
  await client.create(Service, { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ...spec } });
}

test('a Service leads to the pods that it selects, by readiness', async () => {
  const namespace = await server.namespace();
  await service(namespace, { ports: [{ name: 'http', port: 80, targetPort: 'http' }] });
  const [empty] = await eventually(
    () => list(EndpointSlice, namespace),
    ({ length }) => length === 1,
  );
  expect(stable([empty?.endpoints, empty?.ports], namespace)).toMatchInlineSnapshot(`
    [
      null,
      null,
    ]
  `);
  await report(server, await pod(namespace, 'ready'), 'Running', '10.1.0.1');
  const unready = await pod(namespace, 'unready');
  const status = { phase: 'Running', podIP: '10.1.0.2', podIPs: [{ ip: '10.1.0.2' }] };
  await client.patch(Pod, { namespace, name: unready.metadata.name }, 'merge', { status }, { subresource: 'status' });
  const [slice] = await eventually(
    () => list(EndpointSlice, namespace),
    ([one]) => one?.endpoints?.length === 2,
  );
  const { metadata, addressType, ports } = slice as StoredObject<EndpointSlice>;
  const endpoints = slice?.endpoints?.toSorted((a, b) => ((a.addresses[0] ?? '') < (b.addresses[0] ?? '') ? -1 : 1));
  const { annotations: _, generation: __, ...rest } = metadata;
  expect(stable({ metadata: rest, addressType, ports, endpoints }, namespace, [nodeName])).toMatchInlineSnapshot(`
    {
      "addressType": "IPv4",
      "endpoints": [
        {
          "addresses": [
            "10.1.0.1",
          ],
          "conditions": {
            "ready": true,
            "serving": true,
            "terminating": false,
          },
          "nodeName": "<name>",
          "targetRef": {
            "kind": "Pod",
            "name": "ready",
            "namespace": "<namespace>",
            "uid": "<uid>",
          },
        },
        {
          "addresses": [
            "10.1.0.2",
          ],
          "conditions": {
            "ready": false,
            "serving": false,
            "terminating": false,
          },
          "nodeName": "<name>",
          "targetRef": {
            "kind": "Pod",
            "name": "unready",
            "namespace": "<namespace>",
            "uid": "<uid>",
          },
        },
      ],
      "metadata": {
        "creationTimestamp": "<time>",
        "generateName": "web-",
        "labels": {
          "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
          "kubernetes.io/service-name": "web",
          "note": "copied",
        },
        "name": "web-<random>",
        "namespace": "<namespace>",
        "ownerReferences": [
          {
            "apiVersion": "v1",
            "blockOwnerDeletion": true,
            "controller": true,
            "kind": "Service",
            "name": "web",
            "uid": "<uid>",
          },
        ],
        "uid": "<uid>",
      },
      "ports": [
        {
          "name": "http",
          "port": 8080,
          "protocol": "TCP",
        },
      ],
    }
  `);
  const [old] = await eventually(
    () => list(Endpoints, namespace),
    ([one]) => one?.subsets?.[0]?.notReadyAddresses?.length === 1 && one.subsets[0].addresses?.length === 1,
  );
  expect(stable([old?.metadata.labels, old?.subsets], namespace, [nodeName])).toMatchInlineSnapshot(`
    [
      {
        "endpoints.kubernetes.io/managed-by": "endpoint-controller",
        "note": "copied",
      },
      [
        {
          "addresses": [
            {
              "ip": "10.1.0.1",
              "nodeName": "<name>",
              "targetRef": {
                "kind": "Pod",
                "name": "ready",
                "namespace": "<namespace>",
                "uid": "<uid>",
              },
            },
          ],
          "notReadyAddresses": [
            {
              "ip": "10.1.0.2",
              "nodeName": "<name>",
              "targetRef": {
                "kind": "Pod",
                "name": "unready",
                "namespace": "<namespace>",
                "uid": "<uid>",
              },
            },
          ],
          "ports": [
            {
              "name": "http",
              "port": 8080,
              "protocol": "TCP",
            },
          ],
        },
      ],
    ]
  `);
  await client.delete(Pod, { namespace, name: 'ready' }, { gracePeriodSeconds: 0 });
  await eventually(
    () => list(EndpointSlice, namespace),
    ([one]) => one?.endpoints?.length === 1,
  );
  await client.delete(Service, { namespace, name: 'web' });
  await eventually(
    () => list(EndpointSlice, namespace),
    ({ length }) => length === 0,
  );
});

test('a headless Service may publish pods that are not ready, under their host names', async () => {
  const namespace = await server.namespace();
  await service(namespace, { clusterIP: 'None', publishNotReadyAddresses: true, ports: [{ port: 80 }] });
  await client.create(Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace, labels },
    spec: { hostname: 'first', subdomain: 'web', containers: [{ name: 'c', image: 'example/app:1' }] },
  });
  const status = { phase: 'Running', podIP: '10.1.0.2', podIPs: [{ ip: '10.1.0.2' }] };
  await client.patch(Pod, { namespace, name: 'p' }, 'merge', { status }, { subresource: 'status' });
  const [slice] = await eventually(
    () => list(EndpointSlice, namespace),
    ([one]) => one?.endpoints?.length === 1,
  );
  expect(stable([slice?.metadata.labels, slice?.endpoints, slice?.ports], namespace)).toMatchInlineSnapshot(`
    [
      {
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        "kubernetes.io/service-name": "web",
        "note": "copied",
        "service.kubernetes.io/headless": "",
      },
      [
        {
          "addresses": [
            "10.1.0.2",
          ],
          "conditions": {
            "ready": true,
            "serving": false,
            "terminating": false,
          },
          "hostname": "first",
          "targetRef": {
            "kind": "Pod",
            "name": "p",
            "namespace": "<namespace>",
            "uid": "<uid>",
          },
        },
      ],
      [
        {
          "name": "",
          "port": 80,
          "protocol": "TCP",
        },
      ],
    ]
  `);
});

test('pods that number a port differently stand in slices of their own', async () => {
  const namespace = await server.namespace();
  await service(namespace, { ports: [{ port: 80, targetPort: 'http' }] });
  await report(server, await pod(namespace, 'a', 8080), 'Running', '10.1.0.1');
  await report(server, await pod(namespace, 'b', 9090), 'Running', '10.1.0.2');
  const slices = await eventually(
    () => list(EndpointSlice, namespace),
    (found) => found.length === 2 && found.every(({ endpoints }) => endpoints?.length === 1),
  );
  expect(new Set(slices.map(({ ports }) => ports?.[0]?.port))).toEqual(new Set([8080, 9090]));
});

test('a disruption budget counts the pods that it guards', async () => {
  const namespace = await server.namespace();
  await client.create(PodDisruptionBudget, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace },
    spec: { minAvailable: 1, selector: { matchLabels: labels } },
  });
  await report(server, await pod(namespace, 'a'), 'Running');
  await report(server, await pod(namespace, 'b'), 'Running');
  const read = () => client.get(PodDisruptionBudget, { namespace, name: 'web' });
  const budget = await eventually(read, ({ status }) => status?.disruptionsAllowed === 1);
  expect(stable(budget.status, namespace)).toMatchInlineSnapshot(`
    {
      "conditions": [
        {
          "lastTransitionTime": "<time>",
          "message": "",
          "observedGeneration": 1,
          "reason": "SufficientPods",
          "status": "True",
          "type": "DisruptionAllowed",
        },
      ],
      "currentHealthy": 2,
      "desiredHealthy": 1,
      "disruptionsAllowed": 1,
      "expectedPods": 2,
      "observedGeneration": 1,
    }
  `);
});
