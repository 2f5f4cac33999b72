import { Job, Pod, type StoredObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { controllerServer, report, stable, template } from './server.ts';

const server = controllerServer();
const { client, eventually, list } = server;

async function create(namespace: string, spec: object = {}): Promise<void> {
  await client.create(Job, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'sync', namespace },
    spec: { template: template({ app: 'sync' }, 'example/app:1', { restartPolicy: 'Never' }), ...spec },
  });
}

const read = (namespace: string) => client.get(Job, { namespace, name: 'sync' });
const finished = ({ status }: StoredObject<Job>) =>
  status?.conditions?.some(({ type }) => type === 'Complete' || type === 'Failed') === true;
const pods = (namespace: string, count: number) =>
  eventually(
    () => list(Pod, namespace),
    ({ length }) => length === count,
  );

test('a Job makes a pod and is Complete when that has succeeded', async () => {
  const namespace = await server.namespace();
  await create(namespace);
  const [pod] = await pods(namespace, 1);
  expect(stable(pod?.metadata, namespace)).toMatchInlineSnapshot(`
    {
      "creationTimestamp": "<time>",
      "finalizers": [
        "batch.kubernetes.io/job-tracking",
      ],
      "generateName": "sync-",
      "generation": 1,
      "labels": {
        "app": "sync",
        "batch.kubernetes.io/controller-uid": "<uid>",
        "batch.kubernetes.io/job-name": "sync",
        "controller-uid": "<uid>",
        "job-name": "sync",
      },
      "name": "sync-<random>",
      "namespace": "<namespace>",
      "ownerReferences": [
        {
          "apiVersion": "batch/v1",
          "blockOwnerDeletion": true,
          "controller": true,
          "kind": "Job",
          "name": "sync",
          "uid": "<uid>",
        },
      ],
      "uid": "<uid>",
    }
  `);
  const active = await eventually(
    () => read(namespace),
    ({ status }) => status?.active === 1,
  );
  expect(stable(active.status, namespace)).toMatchInlineSnapshot(`
    {
      "active": 1,
      "ready": 0,
      "startTime": "<time>",
      "terminating": 0,
      "uncountedTerminatedPods": {},
    }
  `);
  await report(server, pod as StoredObject<Pod>, 'Succeeded');
  const job = await eventually(() => read(namespace), finished);
  expect(stable(job.status, namespace)).toMatchInlineSnapshot(`
    {
      "completionTime": "<time>",
      "conditions": [
        {
          "lastProbeTime": "<time>",
          "lastTransitionTime": "<time>",
          "message": "Reached expected number of succeeded pods",
          "reason": "CompletionsReached",
          "status": "True",
          "type": "SuccessCriteriaMet",
        },
        {
          "lastProbeTime": "<time>",
          "lastTransitionTime": "<time>",
          "message": "Reached expected number of succeeded pods",
          "reason": "CompletionsReached",
          "status": "True",
          "type": "Complete",
        },
      ],
      "ready": 0,
      "startTime": "<time>",
      "succeeded": 1,
      "terminating": 0,
      "uncountedTerminatedPods": {},
    }
  `);
  const [counted] = await eventually(
    () => list(Pod, namespace),
    ([one]) => one?.metadata.finalizers === undefined,
  );
  expect(counted?.metadata.name).toBe(pod?.metadata.name);
});

test('a Job fails when its backoffLimit is used up', async () => {
  const namespace = await server.namespace();
  await create(namespace, { backoffLimit: 0 });
  const [pod] = await pods(namespace, 1);
  await report(server, pod as StoredObject<Pod>, 'Failed');
  const job = await eventually(() => read(namespace), finished);
  expect(stable(job.status, namespace)).toMatchInlineSnapshot(`
    {
      "conditions": [
        {
          "lastProbeTime": "<time>",
          "lastTransitionTime": "<time>",
          "message": "Job has reached the specified backoff limit",
          "reason": "BackoffLimitExceeded",
          "status": "True",
          "type": "FailureTarget",
        },
        {
          "lastProbeTime": "<time>",
          "lastTransitionTime": "<time>",
          "message": "Job has reached the specified backoff limit",
          "reason": "BackoffLimitExceeded",
          "status": "True",
          "type": "Failed",
        },
      ],
      "failed": 1,
      "ready": 0,
      "startTime": "<time>",
      "terminating": 0,
      "uncountedTerminatedPods": {},
    }
  `);
});

test('restarts in place count against the backoffLimit too', async () => {
  const namespace = await server.namespace();
  await create(namespace, {
    backoffLimit: 2,
    template: template({ app: 'sync' }, 'example/app:1', { restartPolicy: 'OnFailure' }),
  });
  const [pod] = await pods(namespace, 1);
  const ref = { namespace, name: pod?.metadata.name ?? '' };
  const containerStatuses = [{ name: 'c', restartCount: 2, image: '', imageID: '', ready: false }];
  await client.patch(Pod, ref, 'merge', { status: { phase: 'Running', containerStatuses } }, { subresource: 'status' });
  const target = await eventually(
    () => read(namespace),
    ({ status }) => (status?.conditions ?? []).length > 0,
  );
  expect(target.status?.conditions?.[0]).toMatchObject({ type: 'FailureTarget', reason: 'BackoffLimitExceeded' });
});

test('with podReplacementPolicy Failed a pod that is on its way out is not replaced', async () => {
  const namespace = await server.namespace();
  await create(namespace, { podReplacementPolicy: 'Failed' });
  const [pod] = await pods(namespace, 1);
  const ref = { namespace, name: pod?.metadata.name ?? '' };
  await client.delete(Pod, ref, { gracePeriodSeconds: 0 });
  const waiting = await eventually(
    () => read(namespace),
    ({ status }) => status?.terminating === 1,
  );
  expect(waiting.status).toMatchObject({ ready: 0, terminating: 1 });
  expect(await list(Pod, namespace)).toHaveLength(1);
});

test('an Indexed Job gives each pod its index', async () => {
  const namespace = await server.namespace();
  await create(namespace, { completionMode: 'Indexed', completions: 3, parallelism: 2 });
  const [first] = await pods(namespace, 2);
  expect(
    stable(
      [first?.metadata.annotations, first?.metadata.labels, first?.spec?.hostname, first?.spec?.containers[0]?.env],
      namespace,
    ),
  ).toMatchInlineSnapshot(`
    [
      {
        "batch.kubernetes.io/job-completion-index": "0",
      },
      {
        "app": "sync",
        "batch.kubernetes.io/controller-uid": "<uid>",
        "batch.kubernetes.io/job-completion-index": "0",
        "batch.kubernetes.io/job-name": "sync",
        "controller-uid": "<uid>",
        "job-name": "sync",
      },
      "sync-0",
      [
        {
          "name": "JOB_COMPLETION_INDEX",
          "valueFrom": {
            "fieldRef": {
              "apiVersion": "v1",
              "fieldPath": "metadata.labels['batch.kubernetes.io/job-completion-index']",
            },
          },
        },
      ],
    ]
  `);
  const job = await eventually(async () => {
    for (const pod of await list(Pod, namespace))
      if (pod.status?.phase === 'Pending') await report(server, pod, 'Succeeded');
    return read(namespace);
  }, finished);
  expect(job.status).toMatchObject({ succeeded: 3, completedIndexes: '0-2' });
});

test('a suspended Job waits', async () => {
  const namespace = await server.namespace();
  await create(namespace, { suspend: true });
  const suspended = await eventually(
    () => read(namespace),
    ({ status }) => (status?.conditions ?? []).length > 0,
  );
  expect(stable(suspended.status, namespace)).toMatchInlineSnapshot(`
    {
      "conditions": [
        {
          "lastProbeTime": "<time>",
          "lastTransitionTime": "<time>",
          "message": "Job suspended",
          "reason": "JobSuspended",
          "status": "True",
          "type": "Suspended",
        },
      ],
      "ready": 0,
      "terminating": 0,
      "uncountedTerminatedPods": {},
    }
  `);
  await client.patch(Job, { namespace, name: 'sync' }, 'merge', { spec: { suspend: false } });
  await pods(namespace, 1);
  const resumed = await eventually(
    () => read(namespace),
    ({ status }) => status?.startTime !== undefined,
  );
  expect(resumed.status?.conditions?.[0]).toMatchObject({ type: 'Suspended', status: 'False', reason: 'JobResumed' });
});

test('a finished Job with a time to live goes by itself, its pods with it', async () => {
  const namespace = await server.namespace();
  await create(namespace, { ttlSecondsAfterFinished: 1 });
  const [pod] = await pods(namespace, 1);
  await report(server, pod as StoredObject<Pod>, 'Succeeded');
  await eventually(
    () => list(Job, namespace),
    ({ length }) => length === 0,
  );
  await eventually(
    () => list(Pod, namespace),
    ({ length }) => length === 0,
  );
});

test('a Job that is deleted in the background takes its running pods along', async () => {
  const namespace = await server.namespace();
  await create(namespace);
  await pods(namespace, 1);
  await client.delete(Job, { namespace, name: 'sync' }, { propagationPolicy: 'Background' });
  await eventually(
    () => list(Pod, namespace),
    ({ length }) => length === 0,
  );
});

test('a Job that is replaced by one of its name lets its pods go', async () => {
  const namespace = await server.namespace();
  await create(namespace);
  const [first] = await pods(namespace, 1);
  await client.delete(Job, { namespace, name: 'sync' }, { propagationPolicy: 'Background' });
  await eventually(
    () => list(Job, namespace),
    ({ length }) => length === 0,
  );
  await create(namespace);
  const left = await eventually(
    () => list(Pod, namespace),
    (found) => found.length === 1 && found[0]?.metadata.uid !== first?.metadata.uid,
  );
  await report(server, left[0] as StoredObject<Pod>, 'Succeeded');
  const job = await eventually(() => read(namespace), finished);
  expect(job.status?.succeeded).toBe(1);
});
