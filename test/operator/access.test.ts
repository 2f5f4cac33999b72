import { minimalControlPlane } from '@openstack-operator/cli';
import { ClusterRoleBinding, isApiError, type Kind, Node } from '@openstack-operator/kube';
import { conditionOf, OpenStackControlPlane } from '@openstack-operator/openstack';
import { afterAll, afterEach, expect, test } from 'vitest';
import { uniqueName } from '../conformance/server.ts';
import { identityOnly } from '../rollout/cloud.ts';
import {
  client,
  eventually,
  install,
  makeNamespace,
  makeNode,
  makeStorageClass,
  playKubelet,
  startOperator,
  wait,
} from './real-operator.ts';

const ControlPlane = OpenStackControlPlane as Kind;
const ending: (() => Promise<unknown> | void)[] = [];
const end = async () => {
  for (const one of ending.splice(0).reverse()) await one();
};
afterEach(end);
afterAll(() => client.close());

async function bringUp(spec: object, options: { rolesAlone?: boolean } = {}) {
  const namespace = uniqueName('operator');
  await makeNamespace(namespace);
  await install([['rbac/role.yaml'], ['rbac/role_binding.yaml']]);
  if (options.rolesAlone === true) {
    await client.delete(ClusterRoleBinding, { name: 'openstack-operator' });
    await install([['rbac-namespaced/role.yaml', namespace]]);
  }
  const kubelet = new AbortController();
  const played = playKubelet(namespace, kubelet.signal);
  ending.push(() => {
    kubelet.abort();
    return played;
  });
  const operator = await startOperator(options.rolesAlone === true ? [namespace] : undefined);
  ending.push(() => operator.stop());
  const object = { ...minimalControlPlane, metadata: { name: 'my-cloud', namespace }, spec };
  await client.create(ControlPlane, object);
  const ref = { namespace, name: 'my-cloud' };
  const cloud = () => client.get(ControlPlane, ref);
  const ready = () =>
    eventually(
      async () => {
        const found = await cloud();
        return { ready: conditionOf(found, 'Ready'), generation: found.metadata.generation };
      },
      ({ ready, generation }) => ready?.status === 'True' && ready.observedGeneration === generation,
    );
  const gone = async () => {
    await client.delete(ControlPlane, ref);
    await eventually(
      () => cloud().catch((error: unknown) => (isApiError(error, 404) ? undefined : Promise.reject(error))),
      (found) => found === undefined,
    );
  };
  return { operator, ready, gone, ref };
}

test('with config/rbac the whole cloud is stated, changed and deleted on a real API server; nothing is refused', async () => {
  await makeNode('node-of-the-test');
  await makeStorageClass();
  const spec = minimalControlPlane['spec'] as object;
  const { operator, ready, gone, ref } = await bringUp(spec);
  await ready();
  await wait(3000);
  operator.writes.length = 0;
  await wait(6000);
  expect(operator.writes).toEqual([]);
  const patch = { spec: { keystone: { tokenExpiration: 7200 } } };
  await client.patch(ControlPlane, ref, 'merge', patch);
  await ready();
  await gone();
  const labels = (await client.get(Node, { name: 'node-of-the-test' })).metadata.labels ?? {};
  expect(Object.keys(labels).filter((label) => label.includes('openstack'))).toEqual([]);
  expect(operator.refused).toEqual([]);
  expect(operator.complaints).toEqual([]);
});

test('with Roles alone a cloud without nodes comes up; nothing is refused', async () => {
  const { operator, ready, gone } = await bringUp(identityOnly, { rolesAlone: true });
  await ready();
  await gone();
  expect(operator.refused).toEqual([]);
});
