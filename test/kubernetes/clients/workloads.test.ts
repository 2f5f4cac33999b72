import { expect } from 'vitest';
import { type Kubectl, table, test } from './cluster.ts';
import { web } from './web.ts';

async function deployed(kubectl: Kubectl): Promise<void> {
  await kubectl.with({ stdin: web })`apply -f -`;
  await kubectl`rollout status deployment/web --timeout=20s`;
}

const image = (kubectl: Kubectl) => kubectl`get deployment web -o jsonpath={.spec.template.spec.containers[0].image}`;

test('scale, also with the expected size', async ({ kubectl }) => {
  await deployed(kubectl);
  expect(await kubectl`scale deployment web --replicas=3`).toBe('deployment.apps/web scaled\n');
  expect(await kubectl.fails`scale deployment web --current-replicas=2 --replicas=1`).toContain(
    'Expected replicas to be 2, was 3',
  );
  await kubectl`scale deployment web --replicas=0`;
  await kubectl`wait --for=delete pod -l app=web --timeout=20s`;
  expect(table(await kubectl`get deployment web`)[1]).toBe('web | 0/0 | 0 | 0 | *');
});

test('rollout: status, history, undo, restart, pause and resume', async ({ kubectl }) => {
  await deployed(kubectl);
  expect(await kubectl`rollout status deployment/web --timeout=20s`).toBe('deployment "web" successfully rolled out\n');
  await kubectl`set image deployment/web app=example.com/app:2`;
  await kubectl`annotate deployment web ${'kubernetes.io/change-cause=new image'}`;
  expect(await kubectl`rollout status deployment/web --timeout=20s`).toContain('successfully rolled out');
  expect(table(await kubectl`rollout history deployment/web`)).toEqual([
    'deployment.apps/web',
    'REVISION | CHANGE-CAUSE',
    '1 | <none>',
    '2 | new image',
  ]);
  expect(await kubectl`rollout history deployment/web --revision=1`).toContain('example.com/app:1');
  expect(await kubectl`rollout undo deployment/web`).toBe('deployment.apps/web rolled back\n');
  expect(await image(kubectl)).toBe('example.com/app:1');
  expect(await kubectl.fails`rollout undo deployment/web --to-revision=9`).toContain(
    'error: unable to find specified revision 9 in history',
  );
  const before = await kubectl`get pods -l app=web -o name`;
  expect(await kubectl`rollout restart deployment/web`).toBe('deployment.apps/web restarted\n');
  await kubectl`rollout status deployment/web --timeout=20s`;
  const after = await kubectl`get pods -l app=web -o name`;
  expect(before.split('\n').filter((name) => name !== '' && after.includes(name))).toEqual([]);
  await kubectl`rollout pause deployment/web`;
  await kubectl`set image deployment/web app=example.com/app:3`;
  expect(await kubectl`get replicasets -o jsonpath={.items[*].spec.template.spec.containers[0].image}`).not.toContain(
    'app:3',
  );
  await kubectl`rollout resume deployment/web`;
  await kubectl`rollout status deployment/web --timeout=20s`;
  expect(await image(kubectl)).toBe('example.com/app:3');
});

test('a rollout that cannot succeed leaves the old pods, and says why', async ({ kubectl }) => {
  await deployed(kubectl);
  await kubectl`set image deployment/web app=example.net/missing:1`;
  expect(await kubectl.fails`rollout status deployment/web --timeout=1s`).toContain('timed out');
  expect(table(await kubectl`get deployment web`)[1]).toBe('web | 2/2 | 1 | 2 | *');
  expect(await kubectl`get pods`).toMatch(/0\/1 +(ErrImagePull|ImagePullBackOff)/);
});

test('set env and resources', async ({ kubectl }) => {
  await deployed(kubectl);
  await kubectl`set env deployment/web MODE=fast`;
  expect(await kubectl`set env deployment/web --list`).toContain('MODE=fast');
  await kubectl`set resources deployment/web --limits=memory=64Mi`;
  expect(await kubectl`get deployment web -o jsonpath={.spec.template.spec.containers[0].resources}`).toBe(
    '{"limits":{"memory":"64Mi"}}',
  );
});

test('a StatefulSet and a DaemonSet roll out', async ({ kubectl }) => {
  const of = (kind: string, more: string) => `
apiVersion: apps/v1
kind: ${kind}
metadata: { name: db }
spec:
  ${more}
  selector: { matchLabels: { app: db-${kind} } }
  template:
    metadata: { labels: { app: db-${kind} } }
    spec: { containers: [{ name: db, image: 'example.com/app:1' }] }
---
`;
  await kubectl.with({
    stdin: of('StatefulSet', 'serviceName: db\n  replicas: 2') + of('DaemonSet', 'minReadySeconds: 0'),
  })`apply -f -`;
  await kubectl`rollout status statefulset/db --timeout=20s`;
  await kubectl`rollout status daemonset/db --timeout=20s`;
  expect(table(await kubectl`get statefulset db`)[1]).toBe('db | 2/2 | *');
  expect(table(await kubectl`get daemonset db`)[1]).toBe('db | 2 | 2 | 2 | 2 | 2 | <none> | *');
  expect(await kubectl`get pods -l app=db-StatefulSet -o name`).toBe('pod/db-0\npod/db-1\n');
  await kubectl`rollout restart statefulset/db daemonset/db`;
  await kubectl`rollout status statefulset/db --timeout=20s`;
  expect(table(await kubectl`rollout history statefulset/db`)).toEqual([
    'statefulset.apps/db',
    'REVISION | CHANGE-CAUSE',
    '1 | <none>',
    '2 | <none>',
  ]);
});

test('a claim is bound when a pod wants it, and its volume goes with it', async ({ kubectl }) => {
  const claim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: data }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
---
apiVersion: v1
kind: Pod
metadata: { name: user }
spec:
  volumes: [{ name: data, persistentVolumeClaim: { claimName: data } }]
  containers: [{ name: app, image: 'example.com/app:1', volumeMounts: [{ name: data, mountPath: /data }] }]
`;
  await kubectl.with({ stdin: claim })`apply -f -`;
  await kubectl`wait --for=jsonpath={.status.phase}=Bound pvc/data --timeout=20s`;
  const row = table(await kubectl`get pvc data`)[1];
  expect(row).toMatch(/^data \| Bound \| pvc-\S+ \| 1Gi \| RWO \| standard \| <unset> \| \*$/);
  const volume = await kubectl`get pvc data -o jsonpath={.spec.volumeName}`;
  await kubectl.with({ stdin: claim })`delete -f - --timeout=20s`;
  await kubectl`wait --for=delete pv/${volume} --timeout=20s`;
});
