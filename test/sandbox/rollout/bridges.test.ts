import type { StoredObject } from '@openstack-operator/kube';
import { OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, networkOnly, readyCloud } from './cloud.ts';

const settings = (cloud: Cloud): StoredObject | undefined =>
  cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith('my-cloud-ovn-ovs-settings-'));
const vsctl = async (cloud: Cloud, ...words: string[]) => {
  const pod = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith('my-cloud-ovn-ovs-vswitchd-'));
  const { namespace = '', name = '' } = pod?.metadata ?? {};
  const result = await cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace, name }, ['ovs-vsctl', ...words]));
  return result.stdout.trim();
};
const bridge = (more: object) => ({
  spec: { ovnNetwork: { bridgeMappings: [{ physicalNetwork: 'physnet1', bridge: 'br-ex', ...more }] } },
});

test("an interface that carries the node's address is taken into a bridge only when that is asked for", async () => {
  const { cloud } = await readyCloud({ spec: networkOnly });
  const change = (more: object) => cloud.change(OpenStackControlPlane, 'my-cloud', bridge(more));
  await change({ interface: 'eth0' });
  await cloud.until(() => (cloud.condition(OVNNetwork, 'my-cloud-ovn', 'AgentsReady')?.message ?? '').includes('eth0'));
  const message = cloud.condition(OVNNetwork, 'my-cloud-ovn', 'AgentsReady')?.message ?? '';
  expect(message).toMatch(/interface eth0 of node node-1 carries an address of the node .* allowNodeInterface to true/);
  expect(await vsctl(cloud, 'list-ports', 'br-ex')).toBe('');

  await change({ interface: 'eth1' });
  await cloud.ready();
  expect(await vsctl(cloud, 'list-ports', 'br-ex')).toBe('eth1');

  await change({ interface: 'eth0', allowNodeInterface: true });
  await cloud.ready();
  await cloud.clock.advance(30_000);
  expect(await vsctl(cloud, 'list-ports', 'br-ex'), 'a bridge has the uplink that is named, and no other').toBe('eth0');
  const uid = settings(cloud)?.metadata.uid;
  await change({ interface: 'eth0', allowNodeInterface: false });
  await cloud.ready();
  await cloud.clock.advance(30_000);
  expect(settings(cloud)?.metadata.uid, 'other settings are applied unasked').not.toBe(uid);
  expect(cloud.isReady('OVNNetwork', 'my-cloud-ovn'), 'what is a port already stays one').toBe(true);
});

test('an uplink follows its mapping to another bridge and goes with it; ports of others stay', async () => {
  const { cloud } = await readyCloud({ spec: networkOnly });
  const change = async (...bridgeMappings: object[]) => {
    const uid = settings(cloud)?.metadata.uid;
    await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { ovnNetwork: { bridgeMappings } } });
    await cloud.until(() => settings(cloud) !== undefined && settings(cloud)?.metadata.uid !== uid);
    await cloud.ready();
    await cloud.clock.advance(30_000);
  };
  await change({ physicalNetwork: 'physnet1', bridge: 'br-ex', interface: 'eth1' });
  await vsctl(cloud, 'add-port', 'br-ex', 'eth7');
  await change({ physicalNetwork: 'physnet1', bridge: 'br-new', interface: 'eth1' });
  expect(await vsctl(cloud, 'list-ports', 'br-ex')).toBe('eth7');
  expect(await vsctl(cloud, 'list-ports', 'br-new')).toBe('eth1');
  await change({ physicalNetwork: 'physnet1', bridge: 'br-new' });
  expect(await vsctl(cloud, 'list-ports', 'br-new')).toBe('');
  expect(await vsctl(cloud, 'list-ports', 'br-ex')).toBe('eth7');
});

test('nodes without a mapping of their own get no bridge that ends nowhere', async () => {
  const on = (node: string) => ({ 'kubernetes.io/hostname': node });
  const wired = [{ physicalNetwork: 'physnet1', bridge: 'br-ex', interface: 'eth1' }];
  const nodeGroups = [
    { name: 'wired', nodeSelector: on('node-1'), bridgeMappings: wired },
    { name: 'plain', nodeSelector: on('node-2') },
  ];
  const { cloud } = await readyCloud({
    nodes: ['node-1', 'node-2'],
    spec: { ...networkOnly, ovnNetwork: { nodeGroups } },
  });
  const told = async (node: string, key: string) => {
    const pod = cloud
      .list('Pod')
      .find(
        ({ metadata, spec }) =>
          metadata.name.startsWith('my-cloud-ovn-ovs-vswitchd-') && (spec as { nodeName: string }).nodeName === node,
      );
    const { namespace = '', name = '' } = pod?.metadata ?? {};
    const argv = ['ovs-vsctl', '--if-exists', 'get', 'open_vswitch', '.', `external_ids:${key}`];
    return (await cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace, name }, argv))).stdout.trim();
  };
  expect(await told('node-1', 'ovn-bridge-mappings')).toBe('"physnet1:br-ex"');
  expect(await told('node-1', 'ovn-cms-options')).toBe('"enable-chassis-as-gw"');
  expect(await told('node-2', 'ovn-bridge-mappings')).toBe('');
});

test('tunnels begin where the group says; a node without an address there says so', async () => {
  const group = (tunnelNetwork: string) => ({
    spec: { ovnNetwork: { nodeGroups: [{ name: 'chassis', tunnelNetwork }] } },
  });
  const { cloud } = await readyCloud({ spec: networkOnly });
  const pod = settings(cloud);
  const { hostIP: address = '' } = (pod?.['status'] ?? {}) as { hostIP?: string };
  const encap = () => vsctl(cloud, 'get', 'open_vswitch', '.', 'external_ids:ovn-encap-ip');
  expect(await encap()).toContain(address);
  await cloud.change(OpenStackControlPlane, 'my-cloud', group('198.51.100.0/24'));
  await cloud.until(() =>
    (cloud.condition(OVNNetwork, 'my-cloud-ovn', 'AgentsReady')?.message ?? '').includes(
      'tunnelNetwork: node node-1 has no address in 198.51.100.0/24',
    ),
  );
  await cloud.change(OpenStackControlPlane, 'my-cloud', group(`${address.replace(/\.\d+$/, '.0')}/24`));
  await cloud.ready();
  expect(await encap()).toContain(address);
});

test('an interface that carries tunnels is not taken into a bridge', async () => {
  const tunnelNetwork = '198.51.100.0/24';
  const { cloud } = await readyCloud({ spec: networkOnly });
  const pod = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith('my-cloud-ovn-ovs-vswitchd-'));
  const { namespace = '', name = '' } = pod?.metadata ?? {};
  const argv = ['ip', 'address', 'add', '198.51.100.7/24', 'dev', 'eth1'];
  await cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace, name }, argv));
  const change = (uplink: string) =>
    cloud.change(OpenStackControlPlane, 'my-cloud', {
      spec: {
        ovnNetwork: {
          bridgeMappings: [{ physicalNetwork: 'physnet1', bridge: 'br-ex', interface: uplink }],
          nodeGroups: [{ name: 'chassis', tunnelNetwork }],
        },
      },
    });
  await change('eth1');
  await cloud.until(() =>
    (cloud.condition(OVNNetwork, 'my-cloud-ovn', 'AgentsReady')?.message ?? '').includes(
      'interface eth1 of node node-1 carries an address of the node',
    ),
  );
  expect(await vsctl(cloud, 'list-ports', 'br-ex')).toBe('');
  await change('bond0');
  await cloud.ready();
  expect(await vsctl(cloud, 'get', 'open_vswitch', '.', 'external_ids:ovn-encap-ip')).toContain('198.51.100.7');
  expect(await vsctl(cloud, 'list-ports', 'br-ex')).toBe('bond0');
});
