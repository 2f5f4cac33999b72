import { children, Neutron, Nova, OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, readyCloud } from './cloud.ts';
import { asUser, userImage } from './servers.ts';

const resource = (kind: string, name: string, spec: object) => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind,
  metadata: { name, namespace: 'openstack' },
  spec,
});

/** Names of the agents' pods. */
const agents = (cloud: Cloud, prefix = '') =>
  cloud
    .list('Pod')
    .filter(
      ({ metadata: { name, ownerReferences } }) =>
        ownerReferences?.[0]?.kind === 'DaemonSet' && name.startsWith(prefix),
    )
    .map(({ metadata }) => metadata.name)
    .sort();

test('a second network of a namespace leaves the nodes to the first', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(resource('OVNNetwork', 'first', { nodeGroups: [{ name: 'edge' }] })));
  await cloud.until(() => cloud.isReady('OVNNetwork', 'first'));
  await cloud.clock.advance(120_000);
  const before = agents(cloud);
  const name = before.find((pod) => pod.startsWith('first-ovsdb-server')) ?? '';
  const ask = ['ovs-vsctl', 'get', 'open_vswitch', '.', 'external_ids:ovn-remote'];
  const remote = async () =>
    (await cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace: 'openstack', name }, ask))).stdout;
  const chassisOfFirst = await remote();

  await cloud.settle(cloud.rehearsal.create(resource('OVNNetwork', 'second', { nodeGroups: [{ name: 'edge' }] })));
  await cloud.clock.advance(300_000);
  const told = cloud.condition(OVNNetwork, 'second');
  expect(told).toMatchObject({ status: 'False', reason: 'NodesTaken' });
  expect(told?.message).toContain('OVNNetwork first of this namespace claims the nodes');
  expect(agents(cloud)).toEqual(before);
  expect(await remote()).toBe(chassisOfFirst);
  expect(cloud.isReady('OVNNetwork', 'first')).toBe(true);

  await cloud.remove(OVNNetwork, 'first');
  await cloud.until(() => cloud.isReady('OVNNetwork', 'second'), 30);
});

test('a second network gets no nodes while the deletion of the first waits for servers', async () => {
  const cloud = await createCloud({ images: [userImage] });
  await cloud.startOperator();
  const spec = controlPlane()['spec'] as Record<string, object>;
  const references: Record<string, object> = {
    neutron: { ovnRef: { name: 'my-cloud-ovn' }, novaRef: { name: 'my-cloud-nova' } },
    nova: { neutronRef: { name: 'my-cloud-neutron' } },
  };
  for (const { kind, field, suffix } of children.filter(({ optional }) => !optional)) {
    const own = { ...spec[field], ...references[field], enabled: undefined };
    await cloud.settle(cloud.rehearsal.create(resource(kind, `my-cloud-${suffix}`, own)));
  }
  await cloud.until(() => cloud.isReady('Nova', 'my-cloud-nova') && cloud.isReady('Neutron', 'my-cloud-neutron'));
  await asUser(cloud, 'boot');
  await cloud.settle(cloud.rehearsal.create(resource('OVNNetwork', 'second', {})));
  await cloud.until(() => cloud.condition(OVNNetwork, 'second')?.reason === 'NodesTaken');
  const before = agents(cloud);

  await cloud.remove(OVNNetwork, 'my-cloud-ovn');
  await cloud.clock.advance(180_000);
  expect(cloud.condition(OVNNetwork, 'my-cloud-ovn', 'ResourcesGone')?.reason).toBe('ResourcesExist');
  expect(cloud.condition(OVNNetwork, 'second')?.reason).toBe('NodesTaken');
  expect(agents(cloud)).toEqual(before);
});

test('a second Nova of a namespace neither gets the nodes of the first nor takes agents from them', async () => {
  const { cloud } = await readyCloud();
  const client = cloud.rehearsal.sandbox.client();
  const ref = { namespace: 'openstack', name: 'my-cloud' };
  await cloud.settle(client.delete(OpenStackControlPlane, ref, { propagationPolicy: 'Orphan' }));
  await cloud.until(() => cloud.get('OpenStackControlPlane', 'my-cloud') === undefined);
  await cloud.change(Neutron, 'my-cloud-neutron', { spec: { novaRef: null } });
  await cloud.clock.advance(10_000);
  const before = agents(cloud);
  expect(before.some((pod) => pod.startsWith('my-cloud-neutron-metadata-agent'))).toBe(true);

  await cloud.settle(cloud.rehearsal.create(resource('Nova', 'second', {})));
  await cloud.clock.advance(60_000);
  expect(cloud.condition(Nova, 'second')?.status).toBe('False');
  // Neutron does not know any more whose metadata service its agents ask: they stay.
  expect(cloud.condition(Neutron, 'my-cloud-neutron')).toMatchObject({ status: 'False', reason: 'ReferenceMissing' });
  expect(cloud.condition(Neutron, 'my-cloud-neutron')?.message).toContain('several of kind Nova');
  expect(agents(cloud)).toEqual(before);
  await cloud.remove(Nova, 'second');
  await cloud.until(() => cloud.isReady('Neutron', 'my-cloud-neutron'));
  expect(agents(cloud)).toEqual(before);
});
