import { CustomResourceDefinition, type StoredObject } from '@openstack-operator/kube';
import { OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, isReady, networkOnly, readyCloud } from './cloud.ts';
import { sharedCloud } from './shared-cloud.ts';

const nodeOf = (pod: StoredObject) => (pod['spec'] as { nodeName?: string }).nodeName ?? '';
const agents = (cloud: Cloud, name: string) =>
  cloud
    .list('Pod')
    .filter(({ metadata }) => metadata.name.startsWith(`my-cloud-ovn-${name}-`))
    .sort((one, other) => (nodeOf(one) < nodeOf(other) ? -1 : 1));
const settings = (cloud: Cloud) => agents(cloud, 'ovs-settings');
const uids = (cloud: Cloud) => settings(cloud).map(({ metadata }) => metadata.uid);
/** Runs a command beside a node's switch. */
const inSwitch = async (cloud: Cloud, node: string, ...argv: string[]) => {
  const pod = agents(cloud, 'ovs-vswitchd').find((one) => nodeOf(one) === node);
  const { namespace = '', name = '' } = pod?.metadata ?? {};
  return await cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace, name }, argv));
};
const portsOf = async (cloud: Cloud, node: string, bridge = 'br-ex') =>
  (await inSwitch(cloud, node, 'ovs-vsctl', 'list-ports', bridge)).stdout.trim();
const map = (cloud: Cloud, ...mappings: object[]) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: {
      ovnNetwork: {
        bridgeMappings: mappings.map((one, index) => ({
          physicalNetwork: `physnet${index + 1}`,
          bridge: 'br-ex',
          ...one,
        })),
      },
    },
  });
const said = (cloud: Cloud) => cloud.condition(OVNNetwork, 'my-cloud-ovn', 'AgentsReady')?.message ?? '';
const applied = (cloud: Cloud, before: readonly string[]) =>
  cloud.until(() => {
    const now = settings(cloud);
    return now.length === before.length && now.every((pod) => isReady(pod) && !before.includes(pod.metadata.uid));
  });
const wired = async (nodes: readonly string[], ...mappings: object[]) => {
  const { cloud } = await readyCloud({ nodes: [...nodes], spec: networkOnly });
  const before = uids(cloud);
  await map(cloud, ...mappings);
  await applied(cloud, before);
  return cloud;
};
const eight = Array.from({ length: 8 }, (_, index) => `node-${index + 1}`);
const sharedOne = sharedCloud(async () => ({ cloud: await wired(['node-1'], { interface: 'eth1' }) }));
const sharedEight = sharedCloud(async () => ({ cloud: await wired(eight, { interface: 'eth1' }) }));

test('an interface that no node has stops the roll at the first node, which keeps its uplink and says so', async () => {
  const { cloud } = await sharedEight();
  const before = uids(cloud);
  await map(cloud, { interface: 'bond9' });
  await cloud.clock.advance(400_000);
  for (const node of eight) expect(await portsOf(cloud, node), node).toBe('eth1');
  expect(
    settings(cloud)
      .filter((pod) => !isReady(pod))
      .map(nodeOf),
  ).toEqual(['node-1']);
  expect(uids(cloud).filter((uid) => before.includes(uid))).toHaveLength(7);
  expect(said(cloud)).toContain('agents are up on 7 of 8 nodes; node-1: ');
  expect(said(cloud)).toMatch(
    /bridgeMappings: node node-1 has no interface bond9, which physicalNetwork physnet1 names for bridge br-ex: name one .*\(ip link\)/,
  );
  expect(JSON.stringify(cloud.get('OpenStackControlPlane', 'my-cloud')?.['status'])).toContain('no interface bond9');

  await map(cloud, { interface: 'eth1' });
  await cloud.until(() => settings(cloud).every(isReady));
  await cloud.clock.advance(60_000);
  expect(said(cloud)).toBe('');
  expect(uids(cloud).filter((uid) => before.includes(uid))).toHaveLength(7);
});

test('where one of many nodes lacks the interface, those that went beside it have it, and the rest waits', async () => {
  const { cloud } = await sharedEight();
  await inSwitch(cloud, 'node-2', 'ip', 'link', 'delete', 'bond0');
  const before = uids(cloud);
  await map(cloud, { interface: 'bond0' });
  await cloud.clock.advance(400_000);
  const ports: string[] = [];
  for (const node of eight) ports.push(await portsOf(cloud, node));
  expect(ports).toEqual(['bond0', 'eth1', 'bond0', 'eth1', 'eth1', 'eth1', 'eth1', 'eth1']);

  // The kubelet starts the pod again and again: a bond that the node's configuration makes late is found.
  await inSwitch(cloud, 'node-2', 'ip', 'link', 'add', 'bond0', 'type', 'bond');
  await applied(cloud, before);
  for (const node of eight) expect(await portsOf(cloud, node), node).toBe('bond0');
});

test('what is a port already stays one when its device is gone, and other settings are applied', async () => {
  const cloud = await wired(['node-1'], { interface: 'eth1' });
  await inSwitch(cloud, 'node-1', 'ip', 'link', 'delete', 'eth1');
  const before = uids(cloud);
  await map(cloud, { interface: 'eth1' }, { bridge: 'br-two', interface: 'bond0' });
  await applied(cloud, before);
  expect(await portsOf(cloud, 'node-1')).toBe('eth1');
  expect(await portsOf(cloud, 'node-1', 'br-two')).toBe('bond0');
  const again = uids(cloud);
  await map(cloud, { interface: 'eth1' });
  await applied(cloud, again);
  const { namespace = '', name = '' } = settings(cloud)[0]?.metadata ?? {};
  expect(cloud.rehearsal.sandbox.pods.logs({ namespace, name })).toContain(
    'interface eth1 of node node-1 stays a port of bridge br-ex, but carries nothing: "could not open network device eth1 (No such device)"',
  );
});

test('nothing is changed where one of the mappings is refused', async () => {
  const { cloud } = await sharedOne();
  await inSwitch(cloud, 'node-1', 'ovs-vsctl', 'add-br', 'br-own', '--', 'add-port', 'br-own', 'bond1');
  const refused: [object[], RegExp][] = [
    [
      [{ interface: 'bond0' }, { bridge: 'br-two', interface: 'eth0' }],
      /eth0 of node node-1 carries an address of the node/,
    ],
    [
      [{ interface: 'bond0' }, { bridge: 'br-two', interface: 'bond1' }],
      /bond1 of node node-1 is a port of bridge br-own/,
    ],
    [
      [{ interface: 'bond0' }, { bridge: 'br-two', interface: 'bond0' }],
      /bond0 is named for bridge br-ex and for another/,
    ],
    [
      [{ interface: 'bond0' }, { bridge: 'br-two', interface: 'br-own' }],
      /br-own, which physicalNetwork physnet2 names, is a bridge of Open vSwitch/,
    ],
    [
      [{ bridge: 'br-two', interface: 'bond0' }, { interface: 'lo' }],
      /cannot use interface lo, .* \(Invalid argument\)/,
    ],
  ];
  for (const [mappings, words] of refused) {
    await map(cloud, ...mappings);
    await cloud.until(() => words.test(said(cloud)));
    await cloud.clock.advance(60_000);
    expect(said(cloud)).toMatch(words);
    expect(await portsOf(cloud, 'node-1')).toBe('eth1');
  }
  expect(await portsOf(cloud, 'node-1', 'br-two'), 'what came with a refused one goes again').toBe('');
  await map(cloud, { interface: 'bond0' });
  await cloud.ready();
  await cloud.until(() => settings(cloud).every(isReady));
  expect(await portsOf(cloud, 'node-1')).toBe('bond0');
});

test('ovs-vsctl succeeds for an interface that is not there, and says what Open vSwitch says', async () => {
  const { cloud } = await sharedOne();
  const vsctl = (...argv: string[]) => inSwitch(cloud, 'node-1', 'ovs-vsctl', ...argv);
  const added = await vsctl('add-port', 'br-ex', 'bond9');
  expect(added).toMatchObject({ code: 0 });
  expect(added.stderr).toBe(
    "ovs-vsctl: Error detected while setting up 'bond9': could not open network device bond9 (No such device).  See ovs-vswitchd log for details.\n" +
      'ovs-vsctl: The default log directory is "/var/log/openvswitch".\n',
  );
  const error = async (name: string) => (await vsctl('get', 'interface', name, 'error')).stdout;
  expect(await error('bond9')).toBe('"could not open network device bond9 (No such device)"\n');
  expect(await error('eth1')).toBe('[]\n');
  await vsctl('del-port', 'br-ex', 'bond9');
  expect((await vsctl('get', 'interface', 'bond9', 'error')).stderr).toBe(
    'ovs-vsctl: no row "bond9" in table Interface\n',
  );
});

// The last one of the cloud that is shared: its definitions are others then.
test('a bridge gets no second uplink where that was stored before it was refused', async () => {
  const { cloud } = await sharedOne();
  const client = cloud.rehearsal.sandbox.client();
  for (const plural of ['openstackcontrolplanes', 'ovnnetworks']) {
    const name = `${plural}.openstack.k8s.io`;
    const current = await cloud.settle(client.get(CustomResourceDefinition, { name }));
    const without = JSON.stringify(current, (key, value: unknown) =>
      key === 'x-kubernetes-validations' ? undefined : value,
    );
    await cloud.settle(client.replace(CustomResourceDefinition, JSON.parse(without) as typeof current));
  }
  await map(cloud, { interface: 'eth1' }, { interface: 'bond0' });
  const words = /bridge br-ex is named with interface eth1 and with bond0, .*: name each bridge once/;
  await cloud.until(() => words.test(said(cloud)));
  await cloud.clock.advance(60_000);
  expect(await portsOf(cloud, 'node-1')).toBe('eth1');
});
