import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { bridgeMappings, bridgeName } from '../../api/node-groups.ts';
import { onlyOffered } from '../../api/offering.ts';
import { secretName, serviceRef } from '../../api/references.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { array, choice, int, object, required, rule, string } from '../../api/schema.ts';
import { claimedNodes, cloud, common, endpoints, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { ovnRef } from '../../infrastructure/ovn/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

const vlanRanges = array(
  'VLANs that projects may use, by physical network. Needed for the network type vlan.',
  object(
    'One range of VLANs.',
    {
      physicalNetwork: required(string('Name of the physical network, one of the bridge mappings.', { maxLength: 64 })),
      minimum: required(int('First VLAN.', { minimum: 1, maximum: 4094 })),
      maximum: required(int('Last VLAN.', { minimum: 1, maximum: 4094 })),
    },
    { rules: [rule('self.minimum <= self.maximum', 'minimum has to be at most maximum', '.minimum')] },
  ),
  { maxItems: 32 },
);

/** The network service. */
export const Neutron = defineApi({
  kind: 'Neutron',
  plural: 'neutrons',
  shortName: 'osnt',
  description: 'The network service, with OVN: networks, routers, security groups.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of Neutron.',
    {
      ...template({
        main: 'the server',
        components: ['server', 'periodic-workers', 'ovn-maintenance-worker', 'metadata-agent'],
        nodeAgents: ['metadata-agent'],
        wsgi: ['server'],
      }),
      ...api('neutron'),
      release,
      region,
      databaseRef,
      messageQueueRef,
      cacheRef,
      keystoneRef,
      ovnRef,
      novaRef: serviceRef('Nova', 'that is notified of changed ports, and whose metadata service the agents use'),
      database: database('neutron', ['neutron']),
      messageQueue: messageQueue('neutron'),
      identity: identity('neutron'),
      metadataSecretName: secretName(
        'Secret that the metadata agents share with the metadata service (key password). If absent, <name>-metadata-secret is generated.',
      ),
      mechanism: choice('ML2 mechanism driver. ovs is not offered yet.', ['ovn', 'ovs'], {
        default: 'ovn',
        rules: [onlyOffered('mechanism', ['ovn'])],
      }),
      tunnelType: choice(
        'Encapsulation of project networks between nodes. vxlan and gre are not offered with mechanism ovn.',
        ['geneve', 'vxlan', 'gre'],
        { default: 'geneve', rules: [onlyOffered('tunnelType', ['geneve'])] },
      ),
      externalBridge: bridgeName(
        'OVS bridge that carries the physical network physnet1. Short for bridgeMappings with this one entry.',
        { fallback: 'br-ex' },
      ),
      bridgeMappings: bridgeMappings(
        'Physical networks and the bridges that carry them. A change is applied to running nodes, and interrupts a network whose uplink changes. If absent, physnet1 on externalBridge; none if that is absent as well and a node group maps physnet1 or br-ex.',
      ),
      networkTypes: array(
        'Types that networks of projects may have. The first one is used when a user names none.',
        choice('A network type.', ['geneve', 'vlan', 'flat', 'local']),
        { minItems: 1, maxItems: 4, unique: true, fallback: ['geneve'] },
      ),
      vlanRanges,
      physicalMTU: int('MTU of the physical network, in bytes; networks of projects get what encapsulation leaves.', {
        minimum: 1280,
        maximum: 9216,
        fallback: 1500,
      }),
      recordsAudit,
      passwordRotationDays,
      config: config('neutron.conf'),
      policy,
      unknownOptions,
    },
    {
      rules: [
        rule(
          '!(has(self.bridgeMappings) && has(self.externalBridge))',
          'externalBridge is short for bridgeMappings: set one of the two',
          '.externalBridge',
        ),
        rule(
          "!has(self.networkTypes) || !('vlan' in self.networkTypes) || has(self.vlanRanges)",
          'networkTypes has vlan, which needs vlanRanges to be set as well',
          '.vlanRanges',
        ),
      ],
    },
  ),
  status: object('Observed state of Neutron.', { ...common, phase, ...endpoints, cloud, ...claimedNodes }),
  columns: [{ name: 'Mechanism', type: 'string', jsonPath: '.spec.mechanism', description: 'ML2 mechanism driver' }],
});

export type Neutron = ObjectOf<typeof Neutron>;
export type NeutronSpec = SpecOf<typeof Neutron>;
export type NeutronStatus = StatusOf<typeof Neutron>;
