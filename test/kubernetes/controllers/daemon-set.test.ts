import { DaemonSet, Node, Pod, type StoredObject } from '@openstack-operator/kube';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uniqueName } from '../conformance/server.ts';
import { controllerServer, report, stable, template } from './server.ts';

const server = controllerServer();
const { client, eventually, list } = server;
const labels = { app: 'agent' };
const group = uniqueName('group');
const nodes = [`${group}-a`, `${group}-b`];

beforeAll(async () => {
  for (const name of nodes) {
    await client.create(Node, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { group } } });
  }
});
afterAll(async () => {
  for (const name of nodes) await client.delete(Node, { name });
});

async function create(namespace: string, spec: object = {}): Promise<void> {
  const pods = template(labels, 'example/app:1', { nodeSelector: { group } });
  await client.create(DaemonSet, {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace },
    spec: { selector: { matchLabels: labels }, template: pods, ...spec },
  });
}

const read = (namespace: string) => client.get(DaemonSet, { namespace, name: 'agent' });
const image = (tag: string) => ({ template: { spec: { containers: [{ name: 'c', image: `example/app:${tag}` }] } } });
const imagesOf = (pods: StoredObject<Pod>[]) =>
  pods.map(({ spec }) => spec?.containers[0]?.image ?? '').sort((a, b) => (a < b ? -1 : 1));

async function start(
  namespace: string,
  holds: (set: StoredObject<DaemonSet>) => boolean,
): Promise<StoredObject<DaemonSet>> {
  return eventually(async () => {
    for (const pod of await list(Pod, namespace))
      if (pod.status?.phase === 'Pending') await report(server, pod, 'Running');
    return read(namespace);
  }, holds);
}

const ready = ({ status, metadata }: StoredObject<DaemonSet>) =>
  status?.observedGeneration === metadata.generation &&
  status?.numberAvailable === 2 &&
  status.updatedNumberScheduled === 2;

test('a DaemonSet makes a pod for each node that it selects', async () => {
  const namespace = await server.namespace();
  await create(namespace);
  const pods = await eventually(
    () => list(Pod, namespace),
    ({ length }) => length === 2,
  );
  const ofFirst = pods.find(({ spec }) => JSON.stringify(spec?.affinity).includes(nodes[0] ?? ''));
  const { affinity, tolerations } = ofFirst?.spec ?? {};
  expect(stable([ofFirst?.metadata, affinity, tolerations], namespace, [...nodes, group])).toMatchInlineSnapshot(`
    [
      {
        "creationTimestamp": "<time>",
        "generateName": "agent-",
        "generation": 1,
        "labels": {
          "app": "agent",
          "controller-revision-hash": "<hash>",
          "pod-template-generation": "1",
        },
        "name": "agent-<random>",
        "namespace": "<namespace>",
        "ownerReferences": [
          {
            "apiVersion": "apps/v1",
            "blockOwnerDeletion": true,
            "controller": true,
            "kind": "DaemonSet",
            "name": "agent",
            "uid": "<uid>",
          },
        ],
        "uid": "<uid>",
      },
      {
        "nodeAffinity": {
          "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
              {
                "matchFields": [
                  {
                    "key": "metadata.name",
                    "operator": "In",
                    "values": [
                      "<name>",
                    ],
                  },
                ],
              },
            ],
          },
        },
      },
      [
        {
          "effect": "NoExecute",
          "key": "node.kubernetes.io/not-ready",
          "operator": "Exists",
        },
        {
          "effect": "NoExecute",
          "key": "node.kubernetes.io/unreachable",
          "operator": "Exists",
        },
        {
          "effect": "NoSchedule",
          "key": "node.kubernetes.io/disk-pressure",
          "operator": "Exists",
        },
        {
          "effect": "NoSchedule",
          "key": "node.kubernetes.io/memory-pressure",
          "operator": "Exists",
        },
        {
          "effect": "NoSchedule",
          "key": "node.kubernetes.io/pid-pressure",
          "operator": "Exists",
        },
        {
          "effect": "NoSchedule",
          "key": "node.kubernetes.io/unschedulable",
          "operator": "Exists",
        },
      ],
    ]
  `);
  expect(stable((await start(namespace, ready)).status, namespace)).toMatchInlineSnapshot(`
    {
      "currentNumberScheduled": 2,
      "desiredNumberScheduled": 2,
      "numberAvailable": 2,
      "numberMisscheduled": 0,
      "numberReady": 2,
      "observedGeneration": 1,
      "updatedNumberScheduled": 2,
    }
  `);
});

test('a rolling update replaces one pod after another', async () => {
  const namespace = await server.namespace();
  await create(namespace);
  await start(namespace, ready);
  await client.patch(DaemonSet, { namespace, name: 'agent' }, 'merge', { spec: image('2') });
  const pods = await eventually(
    () => list(Pod, namespace),
    (found) => found.some(({ status }) => status?.phase === 'Pending'),
  );
  expect(imagesOf(pods)).toEqual(['example/app:1', 'example/app:2']);
  await start(namespace, ready);
  expect(imagesOf(await list(Pod, namespace))).toEqual(['example/app:2', 'example/app:2']);
});

test('OnDelete leaves pods until they are deleted by hand', async () => {
  const namespace = await server.namespace();
  await create(namespace, { updateStrategy: { type: 'OnDelete' } });
  await start(namespace, ready);
  await client.patch(DaemonSet, { namespace, name: 'agent' }, 'merge', { spec: image('2') });
  await eventually(
    () => read(namespace),
    ({ status, metadata }) => status?.observedGeneration === metadata.generation && !status?.updatedNumberScheduled,
  );
  const [one] = await list(Pod, namespace);
  await client.delete(Pod, { namespace, name: one?.metadata.name ?? '' }, { gracePeriodSeconds: 0 });
  const pods = await eventually(
    () => list(Pod, namespace),
    (found) => found.length === 2 && found.every(({ metadata }) => metadata.uid !== one?.metadata.uid),
  );
  expect(imagesOf(pods)).toEqual(['example/app:1', 'example/app:2']);
});
