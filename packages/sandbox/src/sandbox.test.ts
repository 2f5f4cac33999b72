import {
  Deployment,
  Job,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  Service,
  StatefulSet,
  seededRandom,
  virtualClock,
} from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { createSandbox, type SandboxOptions } from './sandbox.ts';
import { testImage } from './testing/test-images.ts';

function start(options: Partial<SandboxOptions> = {}) {
  const clock = virtualClock();
  const sandbox = createSandbox({ clock, random: seededRandom(1), images: [testImage], ...options });
  const client = sandbox.client();
  return { clock, sandbox, client, store: sandbox.api.store };
}

const container = { name: 'c', image: 'test:1' };

function web(name: string, spec: object = {}): Deployment {
  const labels = { app: name };
  const readinessProbe = { httpGet: { path: '/', port: 'http' } };
  const main = { ...container, args: ['8080'], ports: [{ name: 'http', containerPort: 8080 }], readinessProbe };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [main] } },
      ...spec,
    },
  };
}

test('a Deployment behind a Service answers under its name', async () => {
  const { clock, sandbox, client, store } = start();
  await clock.advance(1);
  await client.create(Deployment, web('web', { replicas: 2 }));
  await client.create(Service, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }] },
  });
  const deployment = () => store.get(Deployment, 'default/web') as Deployment | undefined;
  await sandbox.run(() => deployment()?.status?.availableReplicas === 2);
  await clock.advance(1);
  expect(deployment()?.status?.conditions?.map(({ type, status, reason }) => [type, status, reason])).toEqual([
    ['Available', 'True', 'MinimumReplicasAvailable'],
    ['Progressing', 'True', 'NewReplicaSetAvailable'],
  ]);
  const [pod] = store.list(Pod, 'default');
  const result = await sandbox.pods.exec({ namespace: 'default', name: pod?.metadata.name ?? '' }, ['fetch', 'web']);
  expect(result).toMatchObject({ code: 0, stdout: expect.stringMatching(/^hello from web-/) });
});

test('a Job that succeeds is Complete, one that crashes is Failed after its backoffLimit', async () => {
  const { clock, sandbox, client, store } = start();
  await clock.advance(1);
  const create = (name: string, command: string) =>
    client.create(Job, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, namespace: 'default' },
      spec: {
        backoffLimit: 2,
        template: { spec: { restartPolicy: 'Never', containers: [{ ...container, command: [command] }] } },
      },
    });
  await create('good', 'once');
  await create('bad', 'crash');
  const conditions = (name: string) =>
    (store.get(Job, `default/${name}`) as Job | undefined)?.status?.conditions?.map(({ type, reason }) => [
      type,
      reason,
    ]) ?? [];
  await sandbox.run(() => conditions('bad').length === 2 && conditions('good').length === 2);
  expect(conditions('good')).toEqual([
    ['SuccessCriteriaMet', 'CompletionsReached'],
    ['Complete', 'CompletionsReached'],
  ]);
  expect(conditions('bad')).toEqual([
    ['FailureTarget', 'BackoffLimitExceeded'],
    ['Failed', 'BackoffLimitExceeded'],
  ]);
  expect((store.get(Job, 'default/bad') as Job | undefined)?.status).toMatchObject({ failed: 3, ready: 0 });
});

test('a process that is killed is started again by its kubelet', async () => {
  const { sandbox, client, store } = start();
  await client.create(Deployment, web('web'));
  const available = () => store.get(Deployment, 'default/web')?.status;
  await sandbox.run(() => available()?.availableReplicas === 1);
  const [pod] = store.list(Pod);
  const restarts = () =>
    (store.list(Pod)[0]?.['status'] as { containerStatuses: { restartCount: number }[] } | undefined)
      ?.containerStatuses[0]?.restartCount;
  sandbox.pods.kill({ namespace: 'default', name: pod?.metadata.name ?? '' });
  await sandbox.run(() => restarts() === 1 && available()?.availableReplicas === 1);
});

test('the data of a StatefulSet survive its pods', async () => {
  const { clock, sandbox, client, store } = start();
  await clock.advance(1);
  await client.create(StatefulSet, {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace: 'default' },
    spec: {
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: {
        metadata: { labels: { app: 'db' } },
        spec: { containers: [{ ...container, volumeMounts: [{ name: 'data', mountPath: '/data' }] }] },
      },
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  });
  const ready = (uid?: string) => {
    const pod = store.get(Pod, 'default/db-0') as Pod | undefined;
    return pod?.metadata.uid !== uid && pod?.status?.containerStatuses?.[0]?.ready === true;
  };
  await sandbox.run(() => ready());
  const pod = { namespace: 'default', name: 'db-0' };
  expect(await sandbox.pods.exec(pod, ['write', '/data/x', 'kept'])).toMatchObject({ code: 0 });
  const uid = store.get(Pod, 'default/db-0')?.metadata.uid ?? '';
  await client.delete(Pod, pod);
  await sandbox.run(() => ready(uid));
  expect(await sandbox.pods.exec(pod, ['cat', '/data/x'])).toMatchObject({ code: 0, stdout: 'kept' });
  expect(store.get(PersistentVolumeClaim, 'default/data-db-0')).toMatchObject({ status: { phase: 'Bound' } });
});

test('deleting a namespace deletes all that is in it, and no trace stays in memory', async () => {
  const { clock, sandbox, client, store } = start();
  await clock.advance(1);
  const before = sandbox.size();
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } });
  await clock.advance(1);
  const deployment = web('web');
  await client.create(Deployment, { ...deployment, metadata: { name: 'web', namespace: 'x' } });
  await sandbox.run(() => (store.get(Deployment, 'x/web') as Deployment | undefined)?.status?.readyReplicas === 1);
  await client.delete(Namespace, { name: 'x' });
  await sandbox.run(() => store.get(Namespace, 'x') === undefined);
  expect(store.list(Pod)).toEqual([]);
  await clock.advance(3_600_000);
  expect(sandbox.size()).toBe(before);
});

test('a Deployment may come right after its namespace: its pods wait for the service account', async () => {
  const { sandbox, client, store } = start();
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } });
  await client.create(Deployment, { ...web('web'), metadata: { name: 'web', namespace: 'x' } });
  await sandbox.run(() => (store.get(Deployment, 'x/web') as Deployment | undefined)?.status?.readyReplicas === 1);
});

test('a rollout of 30 pods and 15 Jobs takes well under two seconds of CPU', async () => {
  const { clock, sandbox, client, store } = start();
  await clock.advance(1);
  const begun = process.cpuUsage();
  for (let index = 0; index < 15; index++) {
    await client.create(Deployment, web(`web-${index}`, { replicas: 2 }));
    await client.create(Job, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: `job-${index}`, namespace: 'default' },
      spec: { template: { spec: { restartPolicy: 'OnFailure', containers: [{ ...container, command: ['once'] }] } } },
    });
  }
  const rolledOut = () =>
    (store.list(Deployment, 'default') as Deployment[]).every(({ status }) => status?.availableReplicas === 2) &&
    (store.list(Job, 'default') as Job[]).every(({ status }) => status?.completionTime !== undefined);
  await sandbox.run(rolledOut);
  expect(process.cpuUsage(begun).user / 1e6).toBeLessThan(2);
});

test('what is ready writes nothing but leases', async () => {
  const { clock, sandbox, client, store } = start();
  await clock.advance(1);
  await client.create(Deployment, web('web', { replicas: 2 }));
  await sandbox.run(
    () => (store.get(Deployment, 'default/web') as Deployment | undefined)?.status?.readyReplicas === 2,
  );
  await clock.advance(60_000);
  const written = new Set<string>();
  store.subscribe(undefined, ({ resource }) => written.add(resource));
  await clock.advance(300_000);
  expect([...written]).toEqual(['leases.coordination.k8s.io']);
});

test('a volume follows its pod to another node after the first one was lost', async () => {
  const { clock, sandbox, client, store } = start({ nodes: [{ name: 'a' }, { name: 'b' }] });
  await clock.advance(1);
  await client.create(PersistentVolumeClaim, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'default' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  const pod = (name: string): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      containers: [{ ...container, volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
  });
  const runs = (name: string) => (store.get(Pod, `default/${name}`) as Pod | undefined)?.status?.phase === 'Running';
  await client.create(Pod, pod('one'));
  await sandbox.run(() => runs('one'));
  expect(await sandbox.pods.exec({ namespace: 'default', name: 'one' }, ['write', '/data/x', 'kept'])).toMatchObject({
    code: 0,
  });
  sandbox.nodes.stop('a');
  await clock.advance(60_000);
  await client.create(Pod, pod('two'));
  await clock.advance(60_000);
  expect(runs('two')).toBe(false);
  await client.delete(Pod, { namespace: 'default', name: 'one' }, { gracePeriodSeconds: 0 });
  await sandbox.run(() => runs('two'));
  expect(await sandbox.pods.exec({ namespace: 'default', name: 'two' }, ['cat', '/data/x'])).toMatchObject({
    stdout: 'kept',
  });
});
