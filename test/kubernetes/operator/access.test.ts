import { minimalControlPlane } from '@openstack-operator/cli';
import { ClusterRoleBinding, isApiError, type Kind, Node } from '@openstack-operator/kube';
import { conditionOf, kinds, OpenStackControlPlane } from '@openstack-operator/openstack';
import { afterEach, expect, test } from 'vitest';
import { identityOnly, readyCloud } from '../../sandbox/rollout/cloud.ts';
import { builtIn, differences, finalObjects } from '../../sandbox/rollout/normalise.ts';
import { uniqueName } from '../conformance/server.ts';
import { eventually, wait } from '../eventually.ts';
import {
  client,
  install,
  installDefault,
  makeNamespace,
  makeNode,
  makeStorageClass,
  playNode,
  startOperator,
  withNodeAgents,
} from './real-operator.ts';

const ControlPlane = OpenStackControlPlane as Kind;
const nodeName = 'node-of-the-test';
const ending: (() => Promise<unknown> | void)[] = [];
const end = async () => {
  for (const one of ending.splice(0).reverse()) await one();
};
afterEach(end);

async function bringUp(spec: object, options: { rolesAlone?: boolean; namespace?: string } = {}) {
  const { namespace = uniqueName('operator') } = options;
  await makeNamespace(namespace, withNodeAgents);
  installDefault();
  if (options.rolesAlone === true) {
    await client.delete(ClusterRoleBinding, { name: 'openstack-operator' });
    await install([['rbac-namespaced/role.yaml', namespace]]);
  }
  const kubelet = new AbortController();
  const played = playNode(namespace, nodeName, kubelet.signal);
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
      180,
    );
  const gone = async () => {
    await client.delete(ControlPlane, ref);
    await eventually(
      () => cloud().catch((error: unknown) => (isApiError(error, 404) ? undefined : Promise.reject(error))),
      (found) => found === undefined,
    );
  };
  const objects = async () => {
    const lists = [...kinds, ...builtIn].map((kind) =>
      // Gateway API is not installed.
      client.list(kind as Kind, { namespace }).catch((error: unknown) => {
        if (isApiError(error, 404)) return { items: [] };
        throw error;
      }),
    );
    return (await Promise.all(lists)).flatMap(({ items }) => items);
  };
  return { operator, ready, gone, ref, objects };
}

/** What the sandbox ends with, where nodes run the programs. */
async function onTheSandbox(spec: object, node: string): Promise<Record<string, unknown>> {
  const { cloud } = await readyCloud({ nodes: [node], spec: { ...spec } });
  await cloud.clock.advance(10_000);
  const objects = finalObjects(cloud.rehearsal.objects());
  cloud.rehearsal.stop();
  return objects;
}

test('with config/default the whole cloud is stated, changed and deleted on a real API server, as on the sandbox; nothing is refused', async () => {
  await makeNode(nodeName);
  await makeStorageClass();
  const spec = minimalControlPlane['spec'] as object;
  const { operator, ready, gone, ref, objects } = await bringUp(spec, { namespace: 'openstack' });
  await ready();
  await wait(3000);
  operator.writes.length = 0;
  await wait(6000);
  expect(operator.writes).toEqual([]);
  const real = finalObjects(await objects());
  expect(Object.keys(real).length).toBeGreaterThan(100);
  expect(differences(real, await onTheSandbox(spec, nodeName))).toEqual([]);
  const patch = { spec: { keystone: { tokenExpiration: 7200 } } };
  await client.patch(ControlPlane, ref, 'merge', patch);
  await ready();
  await gone();
  const labels = (await client.get(Node, { name: nodeName })).metadata.labels ?? {};
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
