import { minimalControlPlane } from '@openstack-operator/cli';
import { type Kind, Namespace, Pod } from '@openstack-operator/kube';
import { conditionOf, OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';
import { afterAll, expect, test } from 'vitest';
import { networkOnly } from '../../sandbox/rollout/cloud.ts';
import { uniqueName } from '../conformance/server.ts';
import { eventually } from '../eventually.ts';
import {
  client,
  installDefault,
  makeNamespace,
  makeNode,
  makeStorageClass,
  playNode,
  startOperator,
} from './real-operator.ts';

const ending: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const one of ending.reverse()) await one();
});

test('where restricted pod security is enforced node agents alone are refused, which the conditions say until they are admitted', async () => {
  const namespace = uniqueName('restricted');
  const enforce = 'pod-security.kubernetes.io/enforce';
  await makeNamespace(namespace, { 'openstack.k8s.io/node-agents': 'allowed', [enforce]: 'restricted' });
  await makeNode('node-restricted');
  await makeStorageClass();
  installDefault();
  const kubelet = new AbortController();
  const played = playNode(namespace, 'node-restricted', kubelet.signal);
  ending.push(() => {
    kubelet.abort();
    return played;
  });
  const operator = await startOperator();
  ending.push(() => operator.stop());
  const metadata = { name: 'my-cloud', namespace };
  await client.create(OpenStackControlPlane, { ...minimalControlPlane, metadata, spec: networkOnly as object });

  const conditions = async () => {
    const network = await client.get(OVNNetwork as Kind, { namespace, name: 'my-cloud-ovn' }).catch(() => undefined);
    return ['AgentsReady', 'Ready'].map((type) => network && conditionOf(network, type));
  };
  const [agents] = await eventually(conditions, ([one]) => one?.message.includes('refused') === true, 120);
  expect(agents?.message).toMatch(
    /^agents are up on 0 of 1 nodes; node-restricted: DaemonSet my-cloud-ovn[-a-z]*: its pods are refused \(pods that use their node need label pod-security\.kubernetes\.io\/enforce=privileged on namespace [-a-z0-9]+, see docs\/guides\/install\.md\): violates PodSecurity "restricted:latest": /,
  );
  expect((await client.list(Pod, { namespace })).items, 'of the databases').not.toEqual([]);

  await client.patch(Namespace, { name: namespace }, 'merge', { metadata: { labels: { [enforce]: 'privileged' } } });
  const after = await eventually(conditions, (all) => all.at(-1)?.status === 'True', 300);
  expect(after[0]).toMatchObject({ status: 'True', message: '' });
});
