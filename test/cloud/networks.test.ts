import { expect, test } from 'vitest';
import { admin, externalNetwork, member, networks } from './fixture.ts';
import { until } from './until.ts';

interface Router {
  readonly status: string;
  readonly external_gateway_info: {
    readonly network_id: string;
    readonly external_fixed_ips: readonly { readonly ip_address: string }[];
  };
}

interface Port {
  readonly device_owner: string;
  readonly status: string;
  readonly fixed_ips: readonly { readonly ip_address: string }[];
}

test('a network and its subnet are as they were asked for', async () => {
  const [user, { near, nearSubnet }] = await Promise.all([member(), networks()]);
  const network = await user.call<{ status: string; mtu: number; subnet_ids: string[] }>('network.get_network', near);
  expect(network).toMatchObject({ status: 'ACTIVE', subnet_ids: [nearSubnet] });
  // Geneve takes its part of what the physical network carries.
  expect(network.mtu).toBeGreaterThan(1280);
  expect(network.mtu).toBeLessThan(1500);
  const { provider_network_type: type } = await admin.call<{ provider_network_type: string }>(
    'network.get_network',
    near,
  );
  expect(type).toBe('geneve');
  expect(await user.call('network.get_subnet', nearSubnet)).toMatchObject({
    cidr: '10.30.0.0/24',
    gateway_ip: '10.30.0.1',
    is_dhcp_enabled: true,
  });
});

test('a router has an address outside, and one in each network', async () => {
  const [user, { router }, external] = await Promise.all([member(), networks(), externalNetwork()]);
  const { status, external_gateway_info: gateway } = await user.call<Router>('network.get_router', router);
  expect(status).toBe('ACTIVE');
  expect(gateway.network_id).toBe(external);
  expect(gateway.external_fixed_ips).toHaveLength(1);
  const ports = await until({
    what: "the router's ports to be ACTIVE",
    seconds: 30,
    probe: async () => {
      const all = await user.call<Port[]>('network.ports', { device_id: router });
      return all.every((port) => port.status === 'ACTIVE') ? all : undefined;
    },
  });
  const inside = ports.filter(({ device_owner: owner }) => owner === 'network:router_interface');
  expect(inside.flatMap(({ fixed_ips: ips }) => ips.map((ip) => ip.ip_address)).sort()).toEqual([
    '10.30.0.1',
    '10.31.0.1',
  ]);
});
