import { Pod, Secret, type StoredObject } from '@openstack-operator/kube';
import { Nova, OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';
import { describe, expect, test } from 'vitest';
import { type Cloud, isReady, networkOnly, readyCloud } from './cloud.ts';

const nodes = ['node-1', 'node-2', 'node-3'];
const change = (cloud: Cloud, patch: object) => cloud.change(OpenStackControlPlane, 'my-cloud', patch);
const controllers = (cloud: Cloud): readonly StoredObject[] =>
  cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith('my-cloud-ovn-ovn-controller-'));
const imageOf = (pod: StoredObject) =>
  (pod['spec'] as { containers: { image: string }[] }).containers[0]?.image.split('/')[0];
const image = 'registry.example.org/openstack.kolla/ovn-controller:2025.1-debian-bookworm';

test('an image of a node agent changes: told, and replaced only when asked, never two at a time', async () => {
  const { cloud } = await readyCloud({ nodes, spec: networkOnly });
  const before = controllers(cloud).map(({ metadata }) => metadata.uid);
  expect(before).toHaveLength(3);
  await change(cloud, { spec: { ovnNetwork: { images: { 'ovn-controller': image } } } });
  await cloud.clock.advance(120_000);
  expect(controllers(cloud).map(({ metadata }) => metadata.uid)).toEqual(before);
  const told = cloud.condition(OVNNetwork, 'my-cloud-ovn', 'AgentsReady');
  expect(told).toMatchObject({ status: 'True', reason: 'Degraded' });
  const { message = '' } = told ?? {};
  expect(message).toContain('DaemonSet my-cloud-ovn-ovn-controller: of an older revision on 3 of 3 nodes');
  expect(message).toContain('openstack.k8s.io/roll-node-agents=true');
  for (const ready of [cloud.condition(OVNNetwork, 'my-cloud-ovn'), cloud.condition(OpenStackControlPlane, 'my-cloud')])
    expect(ready).toMatchObject({ status: 'True', message });
  const warned = cloud.list('Event').filter(({ type, reason }) => type === 'Warning' && reason === 'Degraded');
  expect(
    warned
      .map(({ involvedObject }) => (involvedObject as { kind: string }).kind)
      .sort((one, other) => (one < other ? -1 : 1)),
  ).toEqual(['OVNNetwork', 'OpenStackControlPlane']);

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

test('groups that do not say otherwise are rolled as one: their nodes may be each other’s gateways', async () => {
  const nodeGroups = nodes.map((name) => ({ name, nodeSelector: { 'kubernetes.io/hostname': name } }));
  const { cloud } = await readyCloud({ nodes, spec: { ...networkOnly, ovnNetwork: { nodeGroups } } });
  let fewest = 3;
  await change(cloud, {
    metadata: { annotations: { 'openstack.k8s.io/roll-node-agents': 'true' } },
    spec: { ovnNetwork: { images: { 'ovn-controller': image } } },
  });
  await cloud.until(() => {
    fewest = Math.min(fewest, controllers(cloud).filter(isReady).length);
    return controllers(cloud).filter((pod) => isReady(pod) && imageOf(pod) === 'registry.example.org').length === 3;
  });
  expect(fewest).toBe(2);
});

test('a roll goes on only while what the service needs is Ready', async () => {
  const { cloud } = await readyCloud({ nodes: ['node-1', 'node-2'] });
  const libvirts = () => cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith('my-cloud-nova-libvirt-'));
  const before = libvirts().map(({ metadata }) => metadata.uid);
  const libvirt = 'registry.example.org/openstack.kolla/nova-libvirt:1';
  await change(cloud, { spec: { nova: { images: { libvirt } } } });
  await cloud.ready();
  const database = cloud.get('Pod', 'my-cloud-mariadb-0')?.['spec'] as { nodeName: string };
  cloud.rehearsal.sandbox.nodes.stop(database.nodeName);
  await cloud.until(() => !cloud.isReady('MariaDB', 'my-cloud-mariadb'));
  const roll = { metadata: { annotations: { 'openstack.k8s.io/roll-node-agents': 'true' } } };
  await cloud.change(Nova, 'my-cloud-nova', roll);
  await cloud.clock.advance(300_000);
  expect(libvirts().map(({ metadata }) => metadata.uid)).toEqual(before);
  expect(JSON.stringify(cloud.list('Event'))).toContain('not replaced meanwhile: waiting for MariaDB my-cloud-mariadb');

  cloud.rehearsal.sandbox.nodes.start(database.nodeName);
  await cloud.until(() => libvirts().every((pod) => isReady(pod) && !before.includes(pod.metadata.uid)));
});

test('a group says how many of its nodes may be without an agent; one that is off holds up none of the others', async () => {
  const ovnNetwork = { nodeGroups: [{ name: 'chassis', maxUnavailable: 2 }] };
  const { cloud } = await readyCloud({ nodes: [...nodes, 'node-4', 'node-5'], spec: { ...networkOnly, ovnNetwork } });
  const onNode = (name: string) => (pod: StoredObject) => (pod['spec'] as { nodeName?: string }).nodeName === name;
  // One that runs no database: those are on one node each.
  const central = cloud.list('Pod').filter(({ metadata }) => /-(nb-db|sb-db|northd)-/.test(metadata.name));
  const off = [...nodes, 'node-4', 'node-5'].find((name) => !central.some(onNode(name))) ?? '';
  cloud.rehearsal.sandbox.nodes.stop(off);
  await cloud.clock.advance(120_000);
  const settings = () => cloud.list('Pod').filter(({ metadata }) => metadata.name.includes('-ovs-settings-'));
  const before = settings().map(({ metadata }) => metadata.uid);
  const others = (pods: readonly StoredObject[]) => pods.filter((pod) => !onNode(off)(pod));

  await change(cloud, {
    metadata: { annotations: { 'openstack.k8s.io/roll-node-agents': 'true' } },
    spec: {
      neutron: { enabled: false },
      ovnNetwork: {
        images: { 'ovn-controller': image },
        bridgeMappings: [{ physicalNetwork: 'physnet2', bridge: 'br-two' }],
      },
    },
  });
  let fewest = 4;
  await cloud.until(() => {
    fewest = Math.min(fewest, others(controllers(cloud)).filter(isReady).length);
    return (
      others(controllers(cloud)).filter((pod) => isReady(pod) && imageOf(pod) === 'registry.example.org').length === 4
    );
  });
  expect(fewest).toBe(2);
  // What touches neither data path nor guests follows unasked.
  await cloud.until(() => others(settings()).every((pod) => isReady(pod) && !before.includes(pod.metadata.uid)));
  expect(cloud.isReady('OVNNetwork', 'my-cloud-ovn')).toBe(true);

  cloud.rehearsal.sandbox.nodes.start(off);
  await cloud.until(
    () => controllers(cloud).filter((pod) => isReady(pod) && imageOf(pod) === 'registry.example.org').length === 5,
  );
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

describe('credentials of node agents on three nodes are issued anew', () => {
  const agents = (cloud: Cloud) =>
    cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith('my-cloud-nova-compute-'));

  test('the agents of a few nodes are replaced one at a time', async () => {
    const { cloud } = await readyCloud({ nodes });
    const before = agents(cloud).map(({ metadata }) => metadata.uid);
    let fewest = nodes.length;
    const told = new Set<string>();
    cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ object }) => {
      if (object.kind === 'Pod') fewest = Math.min(fewest, agents(cloud).filter(isReady).length);
      if (object.kind === 'Nova') told.add(cloud.condition(Nova, 'my-cloud-nova', 'AgentsReady')?.message ?? '');
    });
    await cloud.remove(Secret, 'my-cloud-nova-mq-password');
    await cloud.until(() => agents(cloud).every((pod) => !before.includes(pod.metadata.uid) && isReady(pod)));
    expect(before).toHaveLength(3);
    expect(fewest).toBe(2);
    expect([...told]).toContain(
      'DaemonSet my-cloud-nova-compute: of an older revision on 2 of 3 nodes, being replaced',
    );
    expect([...told].filter((message) => message.includes('roll-node-agents'))).toEqual([]);
  });

  test('on many nodes the first one goes alone, and a quarter of them at once after it', async () => {
    const eight = Array.from({ length: 8 }, (_, index) => `node-${index + 1}`);
    const { cloud } = await readyCloud({ nodes: eight });
    const before = agents(cloud).map(({ metadata }) => metadata.uid);
    const away: number[] = [];
    cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ object }) => {
      if (object.kind === 'Pod') away.push(8 - agents(cloud).filter(isReady).length);
    });
    await cloud.remove(Secret, 'my-cloud-nova-mq-password');
    await cloud.until(() => agents(cloud).every((pod) => !before.includes(pod.metadata.uid) && isReady(pod)));
    expect(before).toHaveLength(8);
    expect(away.filter((count, index) => count !== away[index - 1]).slice(0, 4)).toEqual([0, 1, 0, 1]);
    expect(Math.max(...away)).toBe(2);
  });

  test('a node on which the new agent does not come up holds back the others for two minutes only', async () => {
    const { cloud } = await readyCloud({ nodes });
    const before = agents(cloud).map(({ metadata }) => metadata.uid);
    const replaced = () => agents(cloud).filter(({ metadata }) => !before.includes(metadata.uid));
    const image = 'registry.example.org/absent:1';
    await change(cloud, { spec: { nova: { images: { compute: image } } } });
    await cloud.remove(Secret, 'my-cloud-nova-mq-password');
    await cloud.until(() => replaced().length === 1);
    await cloud.clock.advance(60_000);
    expect(replaced()).toHaveLength(1);
    await cloud.until(() => replaced().length === 2, 3);
  });
});
