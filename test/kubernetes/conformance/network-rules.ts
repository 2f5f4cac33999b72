import {
  Glance,
  Neutron,
  Nova,
  Octavia,
  OpenStackControlPlane,
  OpenStackDataPlane,
  OVNNetwork,
  RabbitMQ,
} from '@openstack-operator/openstack';
import { type RefusedSpec, refused } from './refused-spec.ts';

/** Bridge mappings that are refused, words of the message, and the field below the list. */
const badBridges = [
  [
    [
      { physicalNetwork: 'physnet1', bridge: 'br-ex', interface: 'eth1' },
      { physicalNetwork: 'physnet2', bridge: 'br-ex', interface: 'eth2' },
    ],
    'name each bridge once',
    '',
  ],
  [
    [
      { physicalNetwork: 'physnet1', bridge: 'br-ex', interface: 'eth1' },
      { physicalNetwork: 'physnet2', bridge: 'eth1' },
    ],
    'bridge cannot be the name of an interface',
    '',
  ],
  [[{ physicalNetwork: 'physnet1', bridge: 'br-int' }], "br-int is OVN's own bridge", '[0].bridge'],
] as const;

const goodBridges = [
  { physicalNetwork: 'physnet1', bridge: 'br-ex', interface: 'eth1' },
  { physicalNetwork: 'physnet2', bridge: 'br-two', interface: 'eth2' },
  { physicalNetwork: 'physnet3', bridge: 'br-three' },
];
const bridges: readonly RefusedSpec[] = badBridges.flatMap(([bad, words, below]) => [
  ...[Neutron, OVNNetwork].map((kind) =>
    refused(kind, `spec.bridgeMappings${below}`, words, { bridgeMappings: bad }, { bridgeMappings: goodBridges }),
  ),
  ...[OVNNetwork, Nova].map((kind) =>
    refused(
      kind,
      `spec.nodeGroups[0].bridgeMappings${below}`,
      words,
      { nodeGroups: [{ name: 'a', bridgeMappings: bad }] },
      {
        nodeGroups: [
          { name: 'a', bridgeMappings: goodBridges },
          { name: 'b', bridgeMappings: [{ physicalNetwork: 'physnet2', bridge: 'br-ex' }] },
        ],
      },
    ),
  ),
]);

const networks = { nodeNetworks: ['10.0.0.0/16', 'fd00:1::/64'] };
const badNetworks: readonly RefusedSpec[] = [RabbitMQ, OVNNetwork, Glance, OpenStackControlPlane].map((kind) =>
  refused(kind, 'spec.nodeNetworks[0]', 'expected a network', { nodeNetworks: ['10.0.0.0/33'] }, networks),
);

const clear = { northbound: 'tcp:192.0.2.1:6641', southbound: 'tcp:192.0.2.1:6642' };
const byTls = { ...clear, southbound: 'ssl:192.0.2.1:6642' };
const withCertificate = { ...byTls, certificateSecretName: 'ovn-client' };
const certificates: readonly RefusedSpec[] = [Neutron, Octavia, OpenStackDataPlane].flatMap((kind) =>
  [byTls, { ...clear, certificateSecretName: 'ovn-client' }].map((external) =>
    refused(
      kind,
      'spec.ovnRef.external',
      'certificateSecretName has to be set where',
      { ovnRef: { external } },
      { ovnRef: { external: withCertificate } },
    ),
  ),
);

/** Of bridge mappings, of networks of nodes, and of certificates for databases of OVN. */
export const networkRules: readonly RefusedSpec[] = [...bridges, ...badNetworks, ...certificates];
