import { expect } from 'vitest';
import { test } from './cluster.ts';

test('api-resources and api-versions name what is served', async ({ kubectl }) => {
  const resources = await kubectl`api-resources`;
  expect(resources).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m);
  expect(resources).toMatch(/^customresourcedefinitions +crd,crds +apiextensions.k8s.io\/v1 +false +/m);
  expect(await kubectl`api-resources --namespaced=false --verbs=delete -o name`).toMatch(/^nodes$/m);
  expect(await kubectl`api-resources --categories=all -o name`).toMatch(/^statefulsets\.apps$/m);
  expect((await kubectl`api-versions`).split('\n')).toEqual(expect.arrayContaining(['v1', 'apps/v1', 'batch/v1']));
});

test('explain knows the fields of built-in kinds', async ({ kubectl }) => {
  const explained = await kubectl`explain deployment.spec.strategy`;
  expect(explained).toMatch(/GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n\nFIELD: strategy <DeploymentStrategy>/);
  expect(explained).toContain('"RollingUpdate"');
  expect(await kubectl`explain pod.spec.containers --recursive`).toMatch(/^ +httpGet\t<HTTPGetAction>$/m);
  expect(await kubectl.fails`explain pod.spec.nope`).toBe('error: field "nope" does not exist');
});

test('version and cluster-info tell what this is, and where', async ({ kubectl }) => {
  expect(await kubectl`version`).toMatch(/^Server Version: v1\.\d+\.\d+\+sandbox$/m);
  const [, address = 'none'] = /server: (\S+)/.exec(await kubectl`config view`) ?? [];
  expect(await kubectl`cluster-info`).toContain(`Kubernetes control plane is running at ${address}`);
  expect(await kubectl`get --raw /readyz`).toBe('ok');
});

test('what is not offered is refused by name, at once', async ({ kubectl }) => {
  await kubectl`run target --image=example.com/app:1`;
  await kubectl`wait --for=condition=Ready pod/target --timeout=20s`;
  expect(await kubectl.fails`exec target -- ls`).toContain('the sandbox API server does not offer pods/exec');
  expect(await kubectl.fails`attach target`).toContain('the sandbox API server does not offer pods/attach');
  expect(await kubectl.fails`port-forward target 0:8080`).toContain(
    'the sandbox API server does not offer pods/portforward',
  );
  expect(await kubectl.fails`cp target:/etc/hosts /dev/null`).toContain('does not offer pods/exec');
  expect(await kubectl.fails`top pods`).toBe('error: Metrics API not available');
  expect(await kubectl.fails`get limitranges`).toBe('error: the server doesn\'t have a resource type "limitranges"');
  expect(await kubectl.fails`create token default`).toContain('does not offer');
});
