import {
  isApiError,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  type Status,
  StorageClass,
  type StoredObject,
} from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { uniqueName } from '../conformance/server.ts';
import { controllerServer, stable } from './server.ts';

const server = controllerServer();
const { client, eventually } = server;

async function claim(namespace: string, storageClassName: string, size = '1Gi'): Promise<void> {
  await client.create(PersistentVolumeClaim, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: size } } },
  });
}

async function volume(name: string, storageClassName: string, size: string): Promise<void> {
  await client.create(PersistentVolume, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: size },
      hostPath: { path: `/tmp/${name}` },
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName,
    },
  });
  // The binder knows it then: a claim takes the smallest of those that are known.
  await eventually(
    () => client.get(PersistentVolume, { name }),
    ({ status }) => status?.phase === 'Available',
  );
}

const read = (namespace: string) => client.get(PersistentVolumeClaim, { namespace, name: 'data' });
const bound = ({ status }: StoredObject<PersistentVolumeClaim>) => status?.phase === 'Bound';

test('a claim is bound to the smallest volume that is large enough, and releases it when it goes', async () => {
  const namespace = await server.namespace();
  const storageClass = uniqueName('class');
  const [small, fitting, large] = ['small', 'fitting', 'large'].map((name) => `${name}-${storageClass}`) as [
    string,
    string,
    string,
  ];
  await volume(large, storageClass, '9Gi');
  await volume(small, storageClass, '512Mi');
  await volume(fitting, storageClass, '2Gi');
  await claim(namespace, storageClass);
  const made = await eventually(() => read(namespace), bound);
  const { metadata, spec, status } = made;
  const shown = { annotations: metadata.annotations, finalizers: metadata.finalizers, spec, status };
  expect(stable(shown, namespace, [fitting, storageClass])).toMatchInlineSnapshot(`
    {
      "annotations": {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
      },
      "finalizers": [
        "kubernetes.io/pvc-protection",
      ],
      "spec": {
        "accessModes": [
          "ReadWriteOnce",
        ],
        "resources": {
          "requests": {
            "storage": "1Gi",
          },
        },
        "storageClassName": "<name>",
        "volumeMode": "Filesystem",
        "volumeName": "<name>",
      },
      "status": {
        "accessModes": [
          "ReadWriteOnce",
        ],
        "capacity": {
          "storage": "2Gi",
        },
        "phase": "Bound",
      },
    }
  `);
  const held = await client.get(PersistentVolume, { name: fitting });
  expect(held.spec?.claimRef).toMatchObject({
    kind: 'PersistentVolumeClaim',
    namespace,
    name: 'data',
    uid: metadata.uid,
  });
  await client.delete(PersistentVolumeClaim, { namespace, name: 'data' });
  const released = await eventually(
    () => client.get(PersistentVolume, { name: fitting }),
    (one) => one.status?.phase === 'Released',
  );
  expect(released.spec?.claimRef?.uid).toBe(metadata.uid);
  for (const name of [small, fitting, large]) await client.delete(PersistentVolume, { name });
});

test('a claim of a class that waits for its first consumer is left pending', async () => {
  const namespace = await server.namespace();
  const name = uniqueName('class');
  await client.create(StorageClass, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner: 'example.com/none',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  await claim(namespace, name);
  const events = () =>
    client.raw(`/api/v1/namespaces/${namespace}/events`) as Promise<{ items: { reason: string; message: string }[] }>;
  const { items } = await eventually(events, (list) => list.items.length > 0);
  expect(items.map(({ reason, message }) => [reason, message])).toEqual([
    ['WaitForFirstConsumer', 'waiting for first consumer to be created before binding'],
  ]);
  expect((await read(namespace)).status?.phase).toBe('Pending');
  await client.delete(StorageClass, { name });
});

test('a claim in use outlives its deletion until its pod has gone', async () => {
  const namespace = await server.namespace();
  await claim(namespace, uniqueName('class'));
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  await client.create(Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace },
    spec: { nodeName: 'nowhere', containers: [{ name: 'c', image: 'example/app:1' }], volumes },
  });
  await client.delete(PersistentVolumeClaim, { namespace, name: 'data' });
  expect((await read(namespace)).metadata).toMatchObject({ finalizers: ['kubernetes.io/pvc-protection'] });
  await client.delete(Pod, { namespace, name: 'p' }, { gracePeriodSeconds: 0 });
  await eventually(
    () => server.list(PersistentVolumeClaim, namespace),
    ({ length }) => length === 0,
  );
});

test('a bound claim grows if its class says so, and a pending one never', async () => {
  const namespace = await server.namespace();
  const name = uniqueName('class');
  await volume(`large-${name}`, name, '9Gi');
  await claim(namespace, name);
  await eventually(() => read(namespace), bound);
  const ref = { namespace, name: 'data' };
  const ask = (storage: string) =>
    refusal(client.patch(PersistentVolumeClaim, ref, 'merge', { spec: { resources: { requests: { storage } } } }));
  const words =
    'persistentvolumeclaims "data" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
  const forbidden = { code: 403, reason: 'Forbidden', message: words };
  // There is no such class yet.
  expect(await ask('2Gi')).toMatchObject(forbidden);
  await client.create(StorageClass, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner: 'kubernetes.io/no-provisioner',
  });
  expect(await ask('2Gi')).toMatchObject(forbidden);
  expect(await ask('1Gi')).toBeUndefined();
  await client.patch(StorageClass, { name }, 'merge', { allowVolumeExpansion: true });
  // The API server learns of it a moment later.
  await eventually(
    () => ask('2Gi'),
    (refused) => refused === undefined,
  );
  expect((await read(namespace)).spec?.resources?.requests).toEqual({ storage: '2Gi' });
  const other = await server.namespace();
  await claim(other, uniqueName('class'));
  await expect(
    client.patch(PersistentVolumeClaim, { namespace: other, name: 'data' }, 'merge', {
      spec: { resources: { requests: { storage: '2Gi' } } },
    }),
  ).rejects.toMatchObject({ code: 422 });
  await client.delete(PersistentVolumeClaim, ref);
  await client.delete(PersistentVolume, { name: `large-${name}` });
  await client.delete(StorageClass, { name });
});

/** What a request is refused with; undefined where it is not. */
async function refusal(answer: Promise<unknown>): Promise<Status | undefined> {
  try {
    await answer;
    return undefined;
  } catch (error) {
    if (!isApiError(error)) throw error;
    return error.status;
  }
}
