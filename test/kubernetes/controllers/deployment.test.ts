import { Deployment, Pod, ReplicaSet, type StoredObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { controllerServer, report, stable, template } from './server.ts';

const server = controllerServer();
const { client, eventually, list } = server;
const labels = { app: 'web' };

async function deploy(namespace: string, spec: object): Promise<void> {
  await client.create(Deployment, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace, annotations: { note: 'kept' } },
    spec: { replicas: 2, selector: { matchLabels: labels }, template: template(labels), ...spec },
  });
}

const read = (namespace: string) => client.get(Deployment, { namespace, name: 'web' });
const change = (namespace: string, spec: object) =>
  client.patch(Deployment, { namespace, name: 'web' }, 'merge', { spec });
const image = (tag: string) => ({ template: { spec: { containers: [{ name: 'c', image: `example/app:${tag}` }] } } });
const alive = (pods: StoredObject<Pod>[]) => pods.filter(({ metadata }) => !metadata.deletionTimestamp);
const imageOf = ({ spec }: StoredObject<Pod>) => spec?.containers[0]?.image;

/** Every new pod is reported as running, until the Deployment is as it should be. */
async function roll(
  namespace: string,
  holds: (deployment: StoredObject<Deployment>) => boolean,
): Promise<StoredObject<Deployment>> {
  return eventually(async () => {
    for (const pod of alive(await list(Pod, namespace))) {
      if (pod.status?.phase === 'Pending') await report(server, pod, 'Running');
    }
    return read(namespace);
  }, holds);
}

const complete = ({ status, metadata, spec }: StoredObject<Deployment>) =>
  status?.observedGeneration === metadata.generation &&
  status?.conditions?.some(({ reason }) => reason === 'NewReplicaSetAvailable') === true &&
  status.availableReplicas === spec?.replicas &&
  status.updatedReplicas === spec?.replicas;

test('a Deployment makes a ReplicaSet, which makes pods', async () => {
  const namespace = await server.namespace();
  await deploy(namespace, {});
  const pods = await eventually(
    () => list(Pod, namespace),
    ({ length }) => length === 2,
  );
  const [replicaSet] = await list(ReplicaSet, namespace);
  const { metadata, spec } = replicaSet as StoredObject<ReplicaSet>;
  expect(
    stable(
      { metadata, replicas: spec?.replicas, selector: spec?.selector, labels: spec?.template?.metadata },
      namespace,
    ),
  ).toMatchInlineSnapshot(`
      {
        "labels": {
          "labels": {
            "app": "web",
            "pod-template-hash": "<hash>",
          },
        },
        "metadata": {
          "annotations": {
            "deployment.kubernetes.io/desired-replicas": "2",
            "deployment.kubernetes.io/max-replicas": "3",
            "deployment.kubernetes.io/revision": "1",
            "note": "kept",
          },
          "creationTimestamp": "<time>",
          "generation": 1,
          "labels": {
            "app": "web",
            "pod-template-hash": "<hash>",
          },
          "name": "web-<hash>",
          "namespace": "<namespace>",
          "ownerReferences": [
            {
              "apiVersion": "apps/v1",
              "blockOwnerDeletion": true,
              "controller": true,
              "kind": "Deployment",
              "name": "web",
              "uid": "<uid>",
            },
          ],
          "uid": "<uid>",
        },
        "replicas": 2,
        "selector": {
          "matchLabels": {
            "app": "web",
            "pod-template-hash": "<hash>",
          },
        },
      }
    `);
  expect(stable(pods[0]?.metadata, namespace)).toMatchInlineSnapshot(`
    {
      "creationTimestamp": "<time>",
      "generateName": "web-<hash>-",
      "generation": 1,
      "labels": {
        "app": "web",
        "pod-template-hash": "<hash>",
      },
      "name": "web-<hash>-<random>",
      "namespace": "<namespace>",
      "ownerReferences": [
        {
          "apiVersion": "apps/v1",
          "blockOwnerDeletion": true,
          "controller": true,
          "kind": "ReplicaSet",
          "name": "web-<hash>",
          "uid": "<uid>",
        },
      ],
      "uid": "<uid>",
    }
  `);
  expect(metadata.labels?.['pod-template-hash']).toBe(metadata.name.slice('web-'.length));
  const before = await eventually(
    () => read(namespace),
    ({ status }) => status?.unavailableReplicas === 2 && status.updatedReplicas === 2,
  );
  expect(stable([before.metadata.annotations, before.status], namespace)).toMatchInlineSnapshot(`
    [
      {
        "deployment.kubernetes.io/revision": "1",
        "note": "kept",
      },
      {
        "conditions": [
          {
            "lastTransitionTime": "<time>",
            "lastUpdateTime": "<time>",
            "message": "Deployment does not have minimum availability.",
            "reason": "MinimumReplicasUnavailable",
            "status": "False",
            "type": "Available",
          },
          {
            "lastTransitionTime": "<time>",
            "lastUpdateTime": "<time>",
            "message": "ReplicaSet "web-<hash>" is progressing.",
            "reason": "ReplicaSetUpdated",
            "status": "True",
            "type": "Progressing",
          },
        ],
        "observedGeneration": 1,
        "replicas": 2,
        "terminatingReplicas": 0,
        "unavailableReplicas": 2,
        "updatedReplicas": 2,
      },
    ]
  `);
  expect(stable((await roll(namespace, complete)).status, namespace)).toMatchInlineSnapshot(`
    {
      "availableReplicas": 2,
      "conditions": [
        {
          "lastTransitionTime": "<time>",
          "lastUpdateTime": "<time>",
          "message": "Deployment has minimum availability.",
          "reason": "MinimumReplicasAvailable",
          "status": "True",
          "type": "Available",
        },
        {
          "lastTransitionTime": "<time>",
          "lastUpdateTime": "<time>",
          "message": "ReplicaSet "web-<hash>" has successfully progressed.",
          "reason": "NewReplicaSetAvailable",
          "status": "True",
          "type": "Progressing",
        },
      ],
      "observedGeneration": 1,
      "readyReplicas": 2,
      "replicas": 2,
      "terminatingReplicas": 0,
      "updatedReplicas": 2,
    }
  `);
});

test('a rolling update keeps within its bounds, and an older template gets the next revision again', async () => {
  const namespace = await server.namespace();
  await deploy(namespace, { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
  await roll(namespace, complete);
  await change(namespace, image('2'));
  const pods = await eventually(
    () => list(Pod, namespace),
    ({ length }) => length === 3,
  );
  expect(pods.filter((pod) => imageOf(pod) === 'example/app:2')).toHaveLength(1);
  await eventually(
    () => read(namespace),
    ({ status }) => status?.replicas === 3 && status.updatedReplicas === 1,
  );
  expect((await roll(namespace, complete)).metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('2');
  await change(namespace, image('1'));
  const back = await roll(namespace, complete);
  expect(back.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('3');
  const replicaSets = (await list(ReplicaSet, namespace)).sort(
    (a, b) => (a.spec?.replicas ?? 0) - (b.spec?.replicas ?? 0),
  );
  expect(replicaSets.map(({ metadata, spec }) => [spec?.replicas, metadata.annotations])).toMatchInlineSnapshot(`
    [
      [
        0,
        {
          "deployment.kubernetes.io/desired-replicas": "2",
          "deployment.kubernetes.io/max-replicas": "3",
          "deployment.kubernetes.io/revision": "2",
          "note": "kept",
        },
      ],
      [
        2,
        {
          "deployment.kubernetes.io/desired-replicas": "2",
          "deployment.kubernetes.io/max-replicas": "3",
          "deployment.kubernetes.io/revision": "3",
          "deployment.kubernetes.io/revision-history": "1",
          "note": "kept",
        },
      ],
    ]
  `);
});

test('Recreate stops all old pods before it starts a new one', async () => {
  const namespace = await server.namespace();
  await deploy(namespace, { strategy: { type: 'Recreate' } });
  await roll(namespace, complete);
  // A finalizer keeps an old pod in sight.
  const [held] = await list(Pod, namespace);
  const ref = { namespace, name: held?.metadata.name ?? '' };
  await client.patch(Pod, ref, 'merge', { metadata: { finalizers: ['example.com/held'] } });
  await change(namespace, image('2'));
  await eventually(
    () => list(Pod, namespace),
    (pods) => pods.length === 1 && alive(pods).length === 0,
  );
  await client.patch(Pod, ref, 'merge', { metadata: { finalizers: null } });
  const pods = await eventually(
    () => list(Pod, namespace),
    ({ length }) => length === 2,
  );
  expect(pods.map(imageOf)).toEqual(['example/app:2', 'example/app:2']);
});

test('a paused Deployment scales but does not roll', async () => {
  const namespace = await server.namespace();
  await deploy(namespace, { paused: true });
  const paused = await eventually(
    () => read(namespace),
    ({ status }) => (status?.conditions ?? []).length > 0,
  );
  expect(await list(ReplicaSet, namespace)).toEqual([]);
  const progressing = paused.status?.conditions?.find(({ type }) => type === 'Progressing');
  expect(progressing).toMatchObject({ status: 'Unknown', reason: 'DeploymentPaused', message: 'Deployment is paused' });
  await change(namespace, { paused: false });
  await roll(namespace, complete);
  await change(namespace, { paused: true, replicas: 3, ...image('2') });
  const pods = await eventually(
    () => list(Pod, namespace),
    ({ length }) => length === 3,
  );
  expect(pods.every((pod) => imageOf(pod) === 'example/app:1')).toBe(true);
});

test('orphans that the selector meets are adopted', async () => {
  const namespace = await server.namespace();
  await deploy(namespace, {});
  await eventually(
    () => list(Pod, namespace),
    ({ length }) => length === 2,
  );
  const [replicaSet] = await list(ReplicaSet, namespace);
  const hash = replicaSet?.metadata.labels?.['pod-template-hash'] ?? '';
  await client.create(Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'stray', namespace, labels: { ...labels, 'pod-template-hash': hash } },
    spec: { containers: [{ name: 'c', image: 'example/app:1' }] },
  });
  // One too many: adopted, and then one of the three goes.
  const pods = await eventually(
    () => list(Pod, namespace),
    (found) => alive(found).length === 2 && found.every(({ metadata }) => metadata.ownerReferences),
  );
  expect(pods.every(({ metadata }) => metadata.ownerReferences?.[0]?.uid === replicaSet?.metadata.uid)).toBe(true);
});
