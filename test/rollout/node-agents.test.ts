import { Pod, Secret, type StoredObject } from '@openstack-operator/kube';
import { OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';

const nodes = ['node-1', 'node-2', 'node-3'];
/** The network alone: it has four node agents. */
const networkOnly = {
  ...Object.fromEntries(
    ['mariadb', 'rabbitmq', 'memcached', 'keystone', 'glance', 'placement', 'neutron', 'nova'].map((name) => [
      name,
      { enabled: false },
    ]),
  ),
  ovnNetwork: { nodeGroups: [{ name: 'chassis' }] },
};
const change = (cloud: Cloud, patch: object) => cloud.change(OpenStackControlPlane, 'my-cloud', patch);
const controllers = (cloud: Cloud): readonly StoredObject[] =>
  cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith('my-cloud-ovn-ovn-controller-'));
const imageOf = (pod: StoredObject) =>
  (pod['spec'] as { containers: { image: string }[] }).containers[0]?.image.split('/')[0];
const isReady = ({ status }: StoredObject) =>
  (status as { conditions?: { type: string; status: string }[] }).conditions?.some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  ) === true;
const image = 'registry.example.org/openstack.kolla/ovn-controller:2025.1-debian-bookworm';

test('an image of a node agent changes: told, and replaced only when asked, never two at a time', async () => {
  const { cloud } = await readyCloud({ nodes, spec: networkOnly });
  const before = controllers(cloud).map(({ metadata }) => metadata.uid);
  expect(before).toHaveLength(3);
  await change(cloud, { spec: { ovnNetwork: { images: { 'ovn-controller': image } } } });
  await cloud.clock.advance(120_000);
  expect(controllers(cloud).map(({ metadata }) => metadata.uid)).toEqual(before);
  const message = cloud.condition(OVNNetwork, 'my-cloud-ovn', 'AgentsReady')?.message ?? '';
  expect(message).toContain('DaemonSet my-cloud-ovn-ovn-controller: of an older revision on 3 of 3 nodes');
  expect(message).toContain('openstack.k8s.io/roll-node-agents=true');

  let fewest = 3;
  const end = cloud.rehearsal.sandbox.client();
  await change(cloud, { metadata: { annotations: { 'openstack.k8s.io/roll-node-agents': 'true' } } });
  await cloud.until(() => {
    fewest = Math.min(fewest, controllers(cloud).filter(isReady).length);
    return controllers(cloud).filter((pod) => isReady(pod) && imageOf(pod) === 'registry.example.org').length === 3;
  });
  expect(fewest).toBe(2);
  await cloud.clock.advance(30_000);
  expect(cloud.condition(OVNNetwork, 'my-cloud-ovn', 'AgentsReady')?.message).toBe('');
  expect((await cloud.settle(end.list(Pod, { namespace: 'openstack' }))).items.every(isReady)).toBe(true);
});

test('a node agent that never ran is replaced as soon as its template is right', async () => {
  const { cloud } = await readyCloud({ spec: networkOnly });
  await change(cloud, { spec: { ovnNetwork: { images: { 'ovn-controller': 'registry.example.org/absent:1' } } } });
  await cloud.clock.advance(30_000);
  const [pod] = controllers(cloud);
  await cloud.remove(Pod, pod?.metadata.name ?? '');
  await cloud.clock.advance(60_000);
  expect(controllers(cloud).filter(isReady)).toEqual([]);
  await change(cloud, { spec: { ovnNetwork: { images: { 'ovn-controller': image } } } });
  await cloud.until(() => controllers(cloud).some((one) => isReady(one) && imageOf(one) === 'registry.example.org'));
});

test('a node agent whose credentials are issued anew is replaced unasked: nobody accepts the old ones', async () => {
  const { cloud } = await readyCloud();
  const agents = (name: string) =>
    cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith(`my-cloud-nova-${name}-`));
  const uids = (name: string) => agents(name).map(({ metadata }) => metadata.uid);
  const before = { compute: uids('compute'), libvirt: uids('libvirt') };
  await cloud.remove(Secret, 'my-cloud-nova-mq-password');
  await cloud.until(() => agents('compute').every((pod) => !before.compute.includes(pod.metadata.uid) && isReady(pod)));
  await cloud.ready();
  expect(agents('compute')).toHaveLength(before.compute.length);
  expect(uids('libvirt'), 'it has no credentials').toEqual(before.libvirt);
});
