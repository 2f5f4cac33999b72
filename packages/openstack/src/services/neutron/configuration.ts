import type { BridgeMapping } from '../../api/node-groups.ts';
import {
  authtoken,
  client,
  database,
  locks,
  logging,
  messaging,
  proxied,
  sections,
  trustOfApis,
} from '../../engine/configuration/sections.ts';
import { apiAt } from '../../engine/vocabulary/api-tls.ts';
import { usualProcesses } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { certificateOptions, ovnOf } from '../../infrastructure/ovn/address.ts';
import type { OVNNetwork } from '../../infrastructure/ovn/kind.ts';
import type { Layer } from '../../oslo/layers.ts';
import { secretReference } from '../../oslo/references.ts';
import { metadataHost, metadataPort } from '../metadata.ts';
import type { Neutron } from './kind.ts';

/** `neutron.conf` of the API and its workers. */
export function serverConfiguration(context: Context<Neutron>): Layer {
  return sections(
    logging,
    proxied,
    locks('neutron'),
    database(context, 'neutron'),
    messaging(context),
    authtoken(context),
    {
      DEFAULT: {
        core_plugin: 'ml2',
        service_plugins: 'ovn-router,qos,trunk,port_forwarding,segments,log',
        auth_strategy: 'keystone',
        state_path: '/var/lib/neutron',
        api_paste_config: '/etc/neutron/api-paste.ini',
        api_workers: usualProcesses,
        // No agent calls a server, and none is told anything. OVN answers DHCP.
        rpc_workers: 0,
        rpc_state_report_workers: 0,
        dhcp_agent_notification: false,
        global_physnet_mtu: context.spec.physicalMTU ?? 1500,
        notify_nova_on_port_status_changes: true,
        notify_nova_on_port_data_changes: true,
      },
      nova: { ...client(context), endpoint_type: 'internal' },
      placement: { ...client(context), endpoint_type: 'internal' },
    },
  );
}

/** Physical networks and their bridges: those of the spec, else `physnet1` on `externalBridge`. */
export function bridgesOf({
  bridgeMappings,
  externalBridge = 'br-ex',
}: Pick<Neutron['spec'], 'bridgeMappings' | 'externalBridge'>): readonly BridgeMapping[] {
  return bridgeMappings ?? [{ physicalNetwork: 'physnet1', bridge: externalBridge }];
}

/** Names of the physical networks: those of the spec, and those that nodes of the OVNNetwork reach. */
function physicalNetworks({ spec, reference }: Context<Neutron>): string[] {
  const { bridgeMappings = [], nodeGroups = [] } = (reference('ovnRef')?.['spec'] ?? {}) as OVNNetwork['spec'];
  const groups = nodeGroups.flatMap((group) => group.bridgeMappings ?? []);
  return [...new Set([...bridgesOf(spec), ...bridgeMappings, ...groups].map(({ physicalNetwork }) => physicalNetwork))];
}

/** VLANs of physical networks that no bridge leads to: ports there would bind nowhere. */
export function unmappedRanges(context: Context<Neutron>): string[] {
  // Of an OVN that this operator does not run, or has not seen, it is not known what bridges there are.
  if (context.reference('ovnRef')?.['spec'] === undefined) return [];
  const known = physicalNetworks(context);
  return (context.spec.vlanRanges ?? []).flatMap(({ physicalNetwork }, index) =>
    known.includes(physicalNetwork)
      ? []
      : [
          `spec.vlanRanges[${index}].physicalNetwork: no bridge leads to ${physicalNetwork}; known are ${known.join(', ')}: name one of them, or map it in spec.bridgeMappings or in those of a node group`,
        ],
  );
}

/** `ml2_conf.ini`: network types, and where OVN is. */
export function ml2Configuration(context: Context<Neutron>): Layer {
  const { spec } = context;
  const ovn = ovnOf(context);
  const { networkTypes = ['geneve'], vlanRanges = [] } = spec;
  const networks = physicalNetworks(context);
  const ranges = vlanRanges.map(({ physicalNetwork, minimum, maximum }) => `${physicalNetwork}:${minimum}:${maximum}`);
  const bare = networks.filter((network) => !vlanRanges.some(({ physicalNetwork }) => physicalNetwork === network));
  return {
    ml2: {
      mechanism_drivers: 'ovn',
      type_drivers: 'local,flat,vlan,geneve',
      tenant_network_types: networkTypes.join(','),
      extension_drivers: 'port_security,qos',
      overlay_ip_version: 4,
    },
    ml2_type_geneve: { vni_ranges: '1:65535', max_header_size: 38 },
    ml2_type_flat: { flat_networks: networks.join(',') },
    ml2_type_vlan: { network_vlan_ranges: [...ranges, ...bare].join(',') },
    securitygroup: { enable_security_group: true },
    ovn: {
      ovn_nb_connection: ovn.northbound,
      ovn_sb_connection: ovn.southbound,
      ...certificateOptions(ovn, 'nb', 'sb'),
      ovn_l3_scheduler: 'leastloaded',
      ovn_metadata_enabled: true,
      // None for subnets that name none (neutron/common/ovn/utils.py, get_dhcp_dns_servers): the default is the name
      // server of Neutron's own pod, which is the cluster's.
      dns_servers: '0.0.0.0,::',
      // A sync at every start of a server is a load on both databases and hides what went wrong: repair is a Job's work.
      neutron_sync_mode: 'off',
    },
  };
}

/** The database of the node's Open vSwitch. */
export const localSwitch = 'tcp:127.0.0.1:6640';

/** `neutron_ovn_metadata_agent.ini`, a file of its own: what changes in `neutron.conf` does not reach the nodes. */
export function metadataAgentConfiguration(context: Context<Neutron>): Layer {
  const nova = context.mention('novaRef');
  const ovn = ovnOf(context);
  const { scheme, port } = apiAt(context.identity, metadataPort);
  const secret = context.spec.metadataSecretName ?? context.named('metadata-secret');
  return sections(logging, locks('neutron'), {
    DEFAULT: {
      ...(nova === undefined ? {} : { nova_metadata_host: metadataHost(nova, context.namespace) }),
      nova_metadata_port: port,
      nova_metadata_protocol: scheme,
      ...trustOfApis(context, 'auth_ca_cert'),
      metadata_proxy_shared_secret: secretReference(secret, 'password', 'oslo'),
      metadata_proxy_socket: '/var/lib/neutron/metadata_proxy',
      metadata_workers: 2,
      state_path: '/var/lib/neutron',
    },
    agent: {
      root_helper: 'sudo neutron-rootwrap /etc/neutron/rootwrap.conf',
      root_helper_daemon: 'sudo neutron-rootwrap-daemon /etc/neutron/rootwrap.conf',
    },
    ovs: { ovsdb_connection: localSwitch },
    ovn: { ovn_sb_connection: ovn.southbound, ...certificateOptions(ovn, 'sb') },
  });
}
