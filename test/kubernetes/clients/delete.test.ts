import { expect } from 'vitest';
import { type Kubectl, test } from './cluster.ts';
import { web } from './web.ts';

async function deployed(kubectl: Kubectl): Promise<void> {
  await kubectl.with({ stdin: web })`apply -f -`;
  await kubectl`rollout status deployment/web --timeout=20s`;
}

test('--cascade=background takes what the object owns', async ({ kubectl }) => {
  await deployed(kubectl);
  expect(await kubectl`delete deployment web`).toBe(
    `deployment.apps "web" deleted from ${kubectl.namespace} namespace\n`,
  );
  await kubectl`wait --for=delete pod -l app=web --timeout=20s`;
  expect(await kubectl`get replicasets,pods -o name`).toBe('');
});

test('--cascade=foreground returns when all that it owns is gone', async ({ kubectl }) => {
  await deployed(kubectl);
  await kubectl`delete deployment web --cascade=foreground --timeout=30s`;
  expect(await kubectl`get deployments,replicasets,pods -o name`).toBe('');
});

test('--cascade=orphan leaves it, and a new Deployment takes it up', async ({ kubectl }) => {
  await deployed(kubectl);
  const replicaSet = await kubectl`get replicasets -o name`;
  await kubectl`delete deployment web --cascade=orphan`;
  expect(await kubectl`get replicasets -o jsonpath={.items[*].metadata.ownerReferences}`).toBe('');
  await kubectl.with({ stdin: web })`apply -f -`;
  await kubectl`rollout status deployment/web --timeout=20s`;
  expect(await kubectl`get replicasets -o name`).toBe(replicaSet);
});

test('--wait waits for finalizers, --wait=false does not', async ({ kubectl }) => {
  await kubectl.with({ stdin: web })`apply -f -`;
  await kubectl`patch configmap settings --type=merge -p ${'{"metadata":{"finalizers":["example.com/hold"]}}'}`;
  expect(await kubectl.fails`delete configmap settings --timeout=1s`).toContain(
    'timed out waiting for the condition on configmaps/settings',
  );
  await kubectl`delete configmap settings --wait=false`;
  expect(await kubectl`get configmap settings -o jsonpath={.metadata.deletionTimestamp}`).toMatch(/^2\d{3}-/);
  const gone = kubectl`wait --for=delete configmap/settings --timeout=20s`;
  await kubectl`patch configmap settings --type=merge -p ${'{"metadata":{"finalizers":null}}'}`;
  await gone;
  expect(await kubectl.fails`get configmap settings`).toContain('NotFound');
});

test('a pod gets its grace period, and none with --force', async ({ kubectl }) => {
  await kubectl`run patient --image=example.com/app:1 --restart=Never`;
  await kubectl`wait --for=condition=Ready pod/patient --timeout=20s`;
  const begun = Promise.withResolvers<void>();
  const follow = kubectl.with({
    until: () => {
      begun.resolve();
      return false;
    },
  })`logs -f patient`;
  await begun.promise;
  await kubectl`delete pod patient --grace-period=5`;
  expect(await follow).toBe('listening on 8080\nterminated\n');
  await kubectl`run hasty --image=example.com/app:1 --restart=Never`;
  expect(await kubectl`delete pod hasty --grace-period=0 --force`).toContain('pod "hasty" force deleted');
});

test('by label, by file, and all of a kind', async ({ kubectl }) => {
  await deployed(kubectl);
  expect(await kubectl`delete deployment,service -l app=web`).toContain('deployment.apps "web" deleted');
  expect(await kubectl.with({ stdin: web })`delete --ignore-not-found -f -`).toBe(
    `service "web" deleted from ${kubectl.namespace} namespace\n` +
      `configmap "settings" deleted from ${kubectl.namespace} namespace\n`,
  );
  await kubectl`create configmap one`;
  await kubectl`delete configmaps --all`;
  expect(await kubectl.fails`get configmap one`).toContain('NotFound');
});

test('a namespace goes with all that is in it', async ({ kubectl }) => {
  await deployed(kubectl);
  await kubectl`delete namespace ${kubectl.namespace} --timeout=30s`;
  expect(await kubectl.fails`create configmap late`).toContain(`namespaces "${kubectl.namespace}" not found`);
});
