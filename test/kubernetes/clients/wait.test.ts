import { expect } from 'vitest';
import { test } from './cluster.ts';
import { web } from './web.ts';

test('--for=condition returns when it is so, for all that are asked', async ({ kubectl }) => {
  const [ready] = await Promise.all([
    kubectl`wait --for=create --for=condition=Available deployment/web --timeout=20s`.catch(() => 'later'),
    kubectl.with({ stdin: web })`apply -f -`,
  ]);
  expect(ready === 'later' || ready.includes('deployment.apps/web')).toBe(true);
  expect(await kubectl`wait --for=condition=Available deployment --all --timeout=20s`).toBe(
    'deployment.apps/web condition met\n',
  );
  expect(await kubectl`wait --for=condition=Ready=true pod -l app=web --timeout=20s`).toMatch(
    /^(pod\/web-\S+ condition met\n){2}$/,
  );
});

test('--for=jsonpath sees a change that comes while it waits', async ({ kubectl }) => {
  await kubectl.with({ stdin: web })`apply -f -`;
  const waiting = kubectl`wait --for=jsonpath={.status.readyReplicas}=3 deployment/web --timeout=20s`;
  await kubectl`scale deployment web --replicas=3`;
  expect(await waiting).toBe('deployment.apps/web condition met\n');
  expect(await kubectl`wait --for=jsonpath={.metadata.uid} deployment/web --timeout=20s`).toContain('condition met');
});

test('--for=create and --for=delete', async ({ kubectl }) => {
  const created = kubectl`wait --for=create configmap/late --timeout=20s`;
  await kubectl`create configmap late`;
  expect(await created).toBe('configmap/late condition met\n');
  const deleted = kubectl`wait --for=delete configmap/late --timeout=20s`;
  await kubectl`delete configmap late`;
  expect(await deleted).toMatch(/^(configmap\/late condition met\n)?$/);
});

test('what does not come is said after the time-out', async ({ kubectl }) => {
  await kubectl.with({ stdin: web.replace('app:1', 'missing:1').replace('example.com/', 'example.net/') })`apply -f -`;
  expect(await kubectl.fails`wait --for=condition=Available deployment/web --timeout=1s`).toBe(
    'error: timed out waiting for the condition on deployments/web',
  );
  expect(await kubectl.fails`wait --for=condition=Ready pod/nope --timeout=1s`).toContain('"nope" not found');
});
