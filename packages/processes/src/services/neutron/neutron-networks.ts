import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { mapOf } from '../../infrastructure/ovsdb.ts';
import { Fault } from '../../model/fault.ts';
import type { Config } from '../../oslo/config.ts';

/** Whether the API has these resources at all: some come with a plugin or an extension only. */
export function hasResource(config: Config, kind: string): boolean {
  if (kind === 'routers')
    return config.list('DEFAULT', 'service_plugins').some((name) => ['router', 'ovn-router'].includes(name));
  return kind !== 'security-groups' || config.boolean('securitygroup', 'enable_security_group');
}

const invalid = (reason: string): Fault => new Fault(400, `Invalid input for operation: ${reason}`, 'InvalidInput');

/**
 * What ML2 makes of a network that is asked for: its type, checked by the type's driver
 * (neutron.plugins.ml2.drivers.type_flat, type_vlan, type_geneve). @throws Fault
 */
export function networkOf(config: Config, given: Row): Row {
  const types = config.list('ml2', 'type_drivers');
  const [tenantType = 'local'] = config.list('ml2', 'tenant_network_types');
  const type = textOf(given['provider:network_type']) ?? tenantType;
  const physical = textOf(given['provider:physical_network']);
  if (!types.includes(type)) throw invalid(`network_type value '${type}' not supported.`);
  if (type === 'flat' && !config.list('ml2_type_flat', 'flat_networks').some((one) => one === '*' || one === physical))
    throw invalid(`physical_network '${physical}' unknown for flat provider network.`);
  const vlans = config.list('ml2_type_vlan', 'network_vlan_ranges').map((range) => range.split(':')[0]);
  if (type === 'vlan' && !vlans.some((one) => one === physical))
    throw invalid(`physical_network '${physical}' unknown for VLAN provider network.`);
  if (type === 'geneve' && config.list('ml2_type_geneve', 'vni_ranges').length === 0)
    throw new Fault(
      503,
      'Unable to create the network. No available network found in maximum allowed attempts.',
      'NoNetworkAvailable',
    );
  return { 'provider:network_type': type };
}

/**
 * Whether ML2/OVN binds a port of that network on that chassis: a network outside of OVN needs the bridge that its
 * nodes reach it by (mech_driver.bind_port).
 */
export function canBind(chassis: Row | undefined, network: Row | undefined): boolean {
  if (chassis === undefined) return false;
  if (!['flat', 'vlan'].includes(String(network?.['provider:network_type']))) return true;
  const mappings = (mapOf(chassis, 'other_config')['ovn-bridge-mappings'] ?? '').split(',');
  return mappings.some((one) => one.split(':')[0] === network?.['provider:physical_network']);
}

/** A column's value, if it is a text. */
export const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** The port behind which OVN answers a network's guests with their metadata, if it does. */
export function metadataPort(config: Config, network: Row): Row | undefined {
  if (!config.boolean('ovn', 'ovn_metadata_enabled')) return undefined;
  const id = String(network['id']);
  return { id: `${id}-metadata`, network_id: id, device_owner: 'network:distributed', device_id: `ovnmeta-${id}` };
}
