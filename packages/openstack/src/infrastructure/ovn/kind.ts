import { defineApi, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { certificateDuration, issuerRef, issuerStays, longEnough } from '../../api/issuer.ts';
import { nameLength } from '../../api/names.ts';
import {
  bridgeMappings,
  gateway,
  groupMaxUnavailable,
  groupTolerations,
  partName,
  tunnelNetwork,
} from '../../api/node-groups.ts';
import { notOfferedYet } from '../../api/offering.ts';
import { nodeSelector, resources } from '../../api/scheduling.ts';
import { array, bool, type Infer, int, object, required, rule, string } from '../../api/schema.ts';
import { authorities, claimedNodes, cloud, common, lasting, phase } from '../../api/status.ts';
import { storage } from '../../api/storage.ts';
import { image, nodeNetworks, sizesOfQuorum, template } from '../../api/template.ts';

const components = [
  'nb-db',
  'sb-db',
  'northd',
  'ovsdb-server',
  'ovs-vswitchd',
  'ovs-settings',
  'ovn-controller',
] as const;

/** Fields of every kind that would be ambiguous here, where no component is the main one. */
const several = {
  replicas: int('Only 1 is accepted, because each component has a field of its own.', {
    minimum: 0,
    maximum: 100,
    rules: [
      rule(
        'self == 1',
        'replicas of an OVNNetwork has to be 1: set northboundDBReplicas, southboundDBReplicas or northdReplicas',
      ),
    ],
  }),
  image: image('An OVNNetwork has several images, so this is refused.', 'those of the release', [
    rule('false', `an OVNNetwork has several images: set spec.images.<name>, with one of ${components.join(', ')}`),
  ]),
  resources: resources('An OVNNetwork has several components, so this is refused.', 'those of the components', [
    rule('false', `an OVNNetwork has several components: set spec.components.<name>.resources instead`),
  ]),
};

/** Servers of a database. */
const members = (database: string, field: string) =>
  int(`Members of the ${database} database: 1, 3, 5 or 7, which form a Raft cluster. They never become fewer.`, {
    minimum: 1,
    maximum: 7,
    fallback: 1,
    rules: [
      rule(`self in ${sizesOfQuorum}`, `${field} is 1, 3, 5 or 7: of an even number no more may fail than of one less`),
    ],
  });

/** Nodes that are chassis, and what their bridges carry. */
const nodeGroups = array(
  'Nodes that are chassis: Open vSwitch and ovn-controller run there. Below a control plane, the node groups of Nova are added by themselves; nodes without guests, such as gateways, stand here.',
  object('One group of nodes.', {
    name: required(partName('Name of the group.')),
    nodeSelector: nodeSelector('Labels of its nodes. If absent, every node that is Ready and schedulable.'),
    tolerations: groupTolerations,
    maxUnavailable: groupMaxUnavailable,
    bridgeMappings: bridgeMappings('Physical networks that its nodes reach, instead of those of spec.bridgeMappings.'),
    tunnelNetwork,
    gateway,
  }),
  { maxItems: 32, keys: ['name'] },
);

/** The virtual network: OVN's databases, and its agents on the nodes. */
export const OVNNetwork = defineApi({
  kind: 'OVNNetwork',
  plural: 'ovnnetworks',
  shortName: 'osovn',
  description:
    "OVN: the northbound and southbound databases, northd, and on every claimed node Open vSwitch with ovn-controller. It carries Neutron's networks.",
  nameLength: nameLength.service,
  spec: object(
    'Desired state of OVNNetwork.',
    {
      nodeNetworks,
      ...template({
        main: 'each database',
        components,
        quorum: ['nb-db', 'sb-db'],
        nodeAgents: ['ovsdb-server', 'ovs-vswitchd', 'ovs-settings', 'ovn-controller'],
      }),
      ...several,
      northboundDBReplicas: members('northbound', 'northboundDBReplicas'),
      southboundDBReplicas: members('southbound', 'southboundDBReplicas'),
      northdReplicas: int('How many ovn-northd run; one is active, the others stand by.', {
        minimum: 0,
        maximum: 9,
        fallback: 1,
      }),
      tls: object(
        'TLS between the databases and their clients. Both have a certificate in any case, of an authority of this OVNNetwork (Secret <name>-tls) or of an issuer (<name>-issued-tls, <name>-issued-client).',
        {
          enabled: bool(
            'Whether northd, the chassis, Neutron and Octavia connect by TLS, to these databases alone. A change replaces the pods of northd, Neutron and Octavia, and those of Neutron on the nodes when you have node agents replaced; ovn-controller stays, and guests keep their network.',
            { fallback: false },
          ),
          issuerRef,
          duration: certificateDuration,
        },
        { rules: [issuerStays.whileEnabled, longEnough] },
      ),
      dbStorage: storage('Volume of each database.', '1Gi'),
      enableRaftClustering: bool(
        'Says that both databases have several members, which always form Raft clusters. It follows from their numbers: true demands 3 or more of each.',
        { default: false },
      ),
      sharedWithCNI: bool("Uses the OVN of the cluster's own network.", {
        default: false,
        rules: [notOfferedYet('sharedWithCNI', 'leave it out, or set it to false: an OVN of its own is started')],
      }),
      externalNorthboundDB: string('Connection string of the northbound database of a shared OVN.', {
        maxLength: 1024,
        rules: [rule('false', 'externalNorthboundDB is not offered by this version of the operator; leave it out')],
      }),
      bridgeMappings: bridgeMappings(
        'Physical networks that the nodes reach. A change is applied to running nodes, and interrupts a network whose uplink changes. If absent below a control plane, those of Neutron.',
      ),
      nodeGroups,
    },
    {
      rules: [
        rule(
          '!has(self.enableRaftClustering) || !self.enableRaftClustering || (has(self.northboundDBReplicas) && self.northboundDBReplicas >= 3 && has(self.southboundDBReplicas) && self.southboundDBReplicas >= 3)',
          'enableRaftClustering: true needs northboundDBReplicas and southboundDBReplicas of 3 or more; these alone are enough',
        ),
      ],
    },
  ),
  status: object('Observed state of OVNNetwork.', {
    ...common,
    authorities,
    phase,
    cloud,
    ...claimedNodes,
    lasting,
    northboundDBEndpoint: string('Connection string of the northbound database.', { maxLength: 1024 }),
    southboundDBEndpoint: string('Connection string of the southbound database.', { maxLength: 1024 }),
  }),
});

export type OVNNetwork = ObjectOf<typeof OVNNetwork>;
export type OVNNetworkSpec = SpecOf<typeof OVNNetwork>;
export type OVNNetworkStatus = StatusOf<typeof OVNNetwork>;
export type ChassisGroup = Infer<typeof nodeGroups>[number];
