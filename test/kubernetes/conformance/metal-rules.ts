import { Ironic } from '@openstack-operator/openstack';
import { notYet, type RefusedSpec, refused } from './refused-spec.ts';

const provisioning = { interface: 'eth1', address: '192.0.2.1' };
const dhcpRange = '192.0.2.50-192.0.2.99';

/** Specs of an Ironic that are refused. */
export const metalRules: readonly RefusedSpec[] = [
  refused(Ironic, 'spec.deployInterface', notYet, { deployInterface: 'iscsi' }, { deployInterface: 'direct' }),
  refused(Ironic, 'spec.networkInterface', notYet, { networkInterface: 'flat' }, { networkInterface: 'noop' }),
  refused(
    Ironic,
    'spec.dhcpRange',
    'dhcpRange needs provisioning to be set as well',
    { dhcpRange },
    { dhcpRange, provisioning },
  ),
  refused(
    Ironic,
    'spec.dhcpRange',
    'expected two addresses, such as 192.0.2.50-192.0.2.99',
    { dhcpRange: '192.0.2.0/24', provisioning },
    { dhcpRange, provisioning },
  ),
  refused(
    Ironic,
    'spec.conductorReplicas',
    'conductorReplicas is at most 1 with provisioning',
    { conductorReplicas: 2, provisioning },
    { conductorReplicas: 2 },
  ),
  refused(
    Ironic,
    'spec.provisioning.address',
    'expected an address of IPv4, such as 192.0.2.1',
    { provisioning: { ...provisioning, address: 'node-1' } },
    { provisioning },
  ),
  refused(
    Ironic,
    'spec.provisioning.interface',
    'expected the name of an interface, such as eth1',
    { provisioning: { ...provisioning, interface: 'eth1\nuser=x' } },
    { provisioning },
  ),
];
