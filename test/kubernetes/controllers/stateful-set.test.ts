import {
  ControllerRevision,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
  type StoredObject,
} from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { controllerServer, report, stable, template } from './server.ts';

const server = controllerServer();
const { client, eventually, list } = server;
const labels = { app: 'db' };

async function create(namespace: string, spec: object = {}): Promise<void> {
  await client.create(StatefulSet, {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace },
    spec: { replicas: 2, serviceName: 'db', selector: { matchLabels: labels }, template: template(labels), ...spec },
  });
}

const read = (namespace: string) => client.get(StatefulSet, { namespace, name: 'db' });
const change = (namespace: string, spec: object) =>
  client.patch(StatefulSet, { namespace, name: 'db' }, 'merge', { spec });
const names = (pods: StoredObject<Pod>[]) =>
  pods.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.name);
const image = (tag: string) => ({ template: { spec: { containers: [{ name: 'c', image: `example/app:${tag}` }] } } });

async function start(
  namespace: string,
  holds: (set: StoredObject<StatefulSet>) => boolean,
): Promise<StoredObject<StatefulSet>> {
  return eventually(async () => {
    for (const pod of await list(Pod, namespace))
      if (pod.status?.phase === 'Pending') await report(server, pod, 'Running');
    return read(namespace);
  }, holds);
}

const ready =
  (count: number) =>
  ({ status, metadata }: StoredObject<StatefulSet>) =>
    status?.observedGeneration === metadata.generation &&
    status?.availableReplicas === count &&
    status.updatedReplicas === count;

test('members come one after another, with names, labels and claims of their own', async () => {
  const namespace = await server.namespace();
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  await create(namespace, { volumeClaimTemplates: [claim] });
  const [first] = await eventually(
    () => list(Pod, namespace),
    ({ length }) => length > 0,
  );
  expect(names(await list(Pod, namespace))).toEqual(['db-0']);
  const { hostname, subdomain, volumes } = first?.spec ?? {};
  const data = volumes?.filter(({ name }) => name === 'data');
  expect(stable([first?.metadata, { hostname, subdomain, data }], namespace)).toMatchInlineSnapshot(`
    [
      {
        "creationTimestamp": "<time>",
        "generateName": "db-",
        "generation": 1,
        "labels": {
          "app": "db",
          "apps.kubernetes.io/pod-index": "0",
          "controller-revision-hash": "db-<hash>",
          "statefulset.kubernetes.io/pod-name": "db-0",
        },
        "name": "db-0",
        "namespace": "<namespace>",
        "ownerReferences": [
          {
            "apiVersion": "apps/v1",
            "blockOwnerDeletion": true,
            "controller": true,
            "kind": "StatefulSet",
            "name": "db",
            "uid": "<uid>",
          },
        ],
        "uid": "<uid>",
      },
      {
        "data": [
          {
            "name": "data",
            "persistentVolumeClaim": {
              "claimName": "data-db-0",
            },
          },
        ],
        "hostname": "db-0",
        "subdomain": "db",
      },
    ]
  `);
  const [made] = await list(PersistentVolumeClaim, namespace);
  expect(
    stable([made?.metadata.name, made?.metadata.labels, made?.metadata.ownerReferences], namespace),
  ).toMatchInlineSnapshot(`
    [
      "data-db-0",
      {
        "app": "db",
      },
      null,
    ]
  `);
  const set = await start(namespace, ready(2));
  expect(stable(set.status, namespace)).toMatchInlineSnapshot(`
    {
      "availableReplicas": 2,
      "collisionCount": 0,
      "currentReplicas": 2,
      "currentRevision": "db-<hash>",
      "observedGeneration": 1,
      "readyReplicas": 2,
      "replicas": 2,
      "updateRevision": "db-<hash>",
      "updatedReplicas": 2,
    }
  `);
  const [revision] = await list(ControllerRevision, namespace);
  expect(stable(revision, namespace)).toMatchInlineSnapshot(`
    {
      "apiVersion": "apps/v1",
      "data": {
        "spec": {
          "template": {
            "$patch": "replace",
            "metadata": {
              "labels": {
                "app": "db",
              },
            },
            "spec": {
              "containers": [
                {
                  "image": "example/app:1",
                  "imagePullPolicy": "IfNotPresent",
                  "name": "c",
                  "resources": {},
                  "terminationMessagePath": "/dev/termination-log",
                  "terminationMessagePolicy": "File",
                },
              ],
              "dnsPolicy": "ClusterFirst",
              "restartPolicy": "Always",
              "schedulerName": "default-scheduler",
              "securityContext": {},
              "terminationGracePeriodSeconds": 30,
            },
          },
        },
      },
      "kind": "ControllerRevision",
      "metadata": {
        "creationTimestamp": "<time>",
        "labels": {
          "app": "db",
          "controller.kubernetes.io/hash": "<hash>",
        },
        "name": "db-<hash>",
        "namespace": "<namespace>",
        "ownerReferences": [
          {
            "apiVersion": "apps/v1",
            "blockOwnerDeletion": true,
            "controller": true,
            "kind": "StatefulSet",
            "name": "db",
            "uid": "<uid>",
          },
        ],
        "uid": "<uid>",
      },
      "revision": 1,
    }
  `);
});

test('an update goes from the last member to the first, and waits for each', async () => {
  const namespace = await server.namespace();
  await create(namespace);
  const before = await start(namespace, ready(2));
  await change(namespace, image('2'));
  const next = await eventually(
    () => list(Pod, namespace),
    (pods) => pods.some(({ metadata, status }) => metadata.name === 'db-1' && status?.phase === 'Pending'),
  );
  expect(next.map(({ metadata, spec }) => [metadata.name, spec?.containers[0]?.image])).toEqual([
    ['db-0', 'example/app:1'],
    ['db-1', 'example/app:2'],
  ]);
  const half = await eventually(
    () => read(namespace),
    ({ status }) => status?.updatedReplicas === 1,
  );
  expect(half.status?.currentRevision).toBe(before.status?.currentRevision);
  expect(half.status?.updateRevision).not.toBe(before.status?.updateRevision);
  const after = await start(
    namespace,
    (set) => ready(2)(set) && set.status?.currentRevision === set.status?.updateRevision,
  );
  expect(after.status?.updateRevision).toBe(half.status?.updateRevision);
});

test('a partition keeps the lower members as they are', async () => {
  const namespace = await server.namespace();
  await create(namespace, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } });
  await start(namespace, ready(2));
  await change(namespace, image('2'));
  await start(namespace, ({ status }) => status?.updatedReplicas === 1 && status.availableReplicas === 2);
  const images = (await list(Pod, namespace)).map(({ spec }) => spec?.containers[0]?.image);
  expect(images).toEqual(['example/app:1', 'example/app:2']);
});

test('a member that never became ready holds up its own repair', async () => {
  const namespace = await server.namespace();
  await create(namespace, { ...image('bad'), template: template(labels, 'example/app:bad') });
  const [stuck] = await eventually(
    () => list(Pod, namespace),
    ({ length }) => length === 1,
  );
  await change(namespace, image('good'));
  await eventually(
    () => read(namespace),
    ({ status, metadata }) => status?.observedGeneration === metadata.generation,
  );
  const [still] = await list(Pod, namespace);
  expect(still?.metadata.uid).toBe(stuck?.metadata.uid);
  await client.delete(Pod, { namespace, name: 'db-0' }, { gracePeriodSeconds: 0 });
  const [fresh] = await eventually(
    () => list(Pod, namespace),
    ([pod]) => pod !== undefined && pod.metadata.uid !== stuck?.metadata.uid,
  );
  expect(fresh?.spec?.containers[0]?.image).toBe('example/app:good');
});

test('Parallel starts and stops all members at once; OnDelete leaves them, and makes new ones of the new template', async () => {
  const namespace = await server.namespace();
  await create(namespace, { replicas: 3, podManagementPolicy: 'Parallel', updateStrategy: { type: 'OnDelete' } });
  await eventually(
    () => list(Pod, namespace),
    ({ length }) => length === 3,
  );
  await start(namespace, ready(3));
  await change(namespace, image('2'));
  await eventually(
    () => read(namespace),
    ({ status }) => status?.updateRevision !== status?.currentRevision,
  );
  await client.delete(Pod, { namespace, name: 'db-1' }, { gracePeriodSeconds: 0 });
  const imageOf = (pods: readonly Pod[], name: string) =>
    pods.find(({ metadata }) => metadata?.name === name)?.spec?.containers[0]?.image;
  await eventually(
    () => list(Pod, namespace),
    (found) => imageOf(found, 'db-1') === 'example/app:2',
  );
  await change(namespace, { replicas: 1 });
  const pods = await eventually(
    () => list(Pod, namespace),
    (found) => names(found).length === 1,
  );
  expect(pods[0]?.spec?.containers[0]?.image).toBe('example/app:1');
});

test('claims go with the set when their retention policy says so', async () => {
  const namespace = await server.namespace();
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  await create(namespace, {
    replicas: 1,
    volumeClaimTemplates: [claim],
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
  });
  await start(namespace, ready(1));
  const [owned] = await eventually(
    () => list(PersistentVolumeClaim, namespace),
    ([made]) => made?.metadata.ownerReferences !== undefined,
  );
  expect(stable(owned?.metadata.ownerReferences, namespace)).toMatchInlineSnapshot(`
    [
      {
        "apiVersion": "apps/v1",
        "blockOwnerDeletion": true,
        "controller": true,
        "kind": "StatefulSet",
        "name": "db",
        "uid": "<uid>",
      },
    ]
  `);
  await client.delete(StatefulSet, { namespace, name: 'db' });
  await eventually(
    () => list(PersistentVolumeClaim, namespace),
    (claims) => claims.every(({ metadata }) => metadata.deletionTimestamp),
  );
});

test('made anew above orphans, it takes up the pods and revisions that were left, and replaces none', async () => {
  const namespace = await server.namespace();
  await create(namespace);
  const settled = ({ status }: StoredObject<StatefulSet>) => status?.readyReplicas === 2;
  await start(namespace, settled);
  const uids = async () =>
    [...(await list(Pod, namespace)), ...(await list(ControllerRevision, namespace))].map(
      ({ metadata }) => metadata.uid,
    );
  const before = await uids();
  await client.delete(StatefulSet, { namespace, name: 'db' }, { propagationPolicy: 'Orphan' });
  await eventually(
    () => list(StatefulSet, namespace),
    ({ length }) => length === 0,
  );
  const volumeClaimTemplates = [
    {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  ];
  await create(namespace, { volumeClaimTemplates });
  const set = await start(namespace, settled);
  expect(set.status?.updatedReplicas).toBe(2);
  expect(await uids()).toEqual(before);
  const [revision] = await list(ControllerRevision, namespace);
  expect(revision?.metadata.ownerReferences).toMatchObject([{ uid: set.metadata.uid, controller: true }]);
});
