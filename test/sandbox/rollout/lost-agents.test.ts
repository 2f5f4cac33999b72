import { Neutron, OVNNetwork } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, isReady, readyCloud } from './cloud.ts';

const agents = (cloud: Cloud) =>
  cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith('my-cloud-neutron-metadata-agent-'));
const uids = (cloud: Cloud) => agents(cloud).map(({ metadata }) => metadata.uid);

test('an OVNNetwork that is made anew has other addresses: agents that lost it are replaced, one at a time', async () => {
  const { cloud } = await readyCloud({ nodes: ['node-1', 'node-2'] });
  const before = uids(cloud);
  const message = () => cloud.condition(Neutron, 'my-cloud-neutron', 'AgentsReady')?.message ?? '';
  await cloud.change(OVNNetwork, 'my-cloud-ovn', {
    metadata: { annotations: { 'openstack.k8s.io/delete-with-resources': 'true' } },
  });
  await cloud.remove(OVNNetwork, 'my-cloud-ovn');
  await cloud.until(() => agents(cloud).every((pod) => !isReady(pod)));
  expect(uids(cloud)).toEqual(before);
  await cloud.until(() => message().includes('DaemonSet my-cloud-neutron-metadata-agent: of an older revision on 2'));
  expect(message()).toContain('openstack.k8s.io/roll-node-agents=true');
  let fewest = before.length;
  await cloud.until(() => {
    fewest = Math.min(fewest, agents(cloud).length);
    return agents(cloud).every((pod) => isReady(pod) && !before.includes(pod.metadata.uid));
  }, 20);
  expect(fewest).toBe(1);
  await cloud.ready();
});
