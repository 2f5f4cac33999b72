import { expect } from 'vitest';
import { test } from './cluster.ts';
import { web } from './web.ts';

test('cordon, drain, uncordon', async ({ kubectl }) => {
  await kubectl.with({ stdin: web })`apply -f -`;
  await kubectl`rollout status deployment/web --timeout=20s`;
  expect(await kubectl`cordon node-1`).toBe('node/node-1 cordoned\n');
  expect(await kubectl`get node node-1`).toMatch(/^node-1 +Ready,SchedulingDisabled /m);
  const drained = await kubectl`drain node-1 --ignore-daemonsets --force --delete-emptydir-data --timeout=30s`;
  expect(drained).toMatch(/pod\/web-\S+ evicted\n/);
  expect(drained).toContain('node/node-1 drained\n');
  await kubectl`rollout status deployment/web --timeout=20s`;
  expect(await kubectl`get pods -l app=web -o jsonpath={.items[*].spec.nodeName}`).toBe('node-2 node-2');
  await kubectl`uncordon node-1`;
  expect(await kubectl`get node node-1`).toMatch(/^node-1 +Ready +/m);
});

test('a disruption budget holds a drain up', async ({ kubectl }) => {
  await kubectl.with({ stdin: web })`apply -f -`;
  await kubectl`rollout status deployment/web --timeout=20s`;
  await kubectl`create poddisruptionbudget web --selector=app=web --min-available=2`;
  await kubectl`wait --for=jsonpath={.status.currentHealthy}=2 pdb/web --timeout=20s`;
  const selector = '--pod-selector=app=web';
  const refused = await kubectl.fails`drain node-2 node-1 ${selector} --ignore-daemonsets --timeout=2s`;
  await kubectl`uncordon node-1 node-2`;
  expect(refused).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
  await kubectl`rollout status deployment/web --timeout=20s`;
});

test('a taint drives pods away, and is taken back', async ({ kubectl }) => {
  await kubectl`run stays --image=example.com/app:1 --overrides=${'{"spec":{"nodeName":"node-1","tolerations":[{"operator":"Exists"}]}}'}`;
  await kubectl`run goes --image=example.com/app:1 --overrides=${'{"spec":{"nodeName":"node-1"}}'}`;
  await kubectl`wait --for=condition=Ready pod/stays pod/goes --timeout=20s`;
  expect(await kubectl`taint node node-1 for=other:NoExecute`).toBe('node/node-1 tainted\n');
  await kubectl`wait --for=delete pod/goes --timeout=20s`;
  expect(await kubectl`taint node node-1 for-`).toBe('node/node-1 untainted\n');
  expect(await kubectl`get pods -o name`).toBe('pod/stays\n');
});
