import { Octavia } from '@openstack-operator/openstack';
import { type RefusedSpec, refused } from './refused-spec.ts';

const amphora = {
  flavorID: 'amphora',
  imageOwnerID: '2f3b1c5d',
  managementNetworkID: '5a1f0c56-55b5',
  securityGroupIDs: ['0b7e6a4c-2a1d'],
  controllerAddresses: ['192.0.2.10:5555', '[fd00::10]:5555'],
};
/** What users cannot say of load balancers. */
export const balancerRules: readonly RefusedSpec[] = [
  refused(
    Octavia,
    'spec.amphora',
    'needs amphora to be set as well',
    { provider: 'amphora' },
    { provider: 'amphora', amphora },
  ),
  ...[
    [
      'controllerAddresses[0]',
      'expected an address and a port',
      { controllerAddresses: ['octavia.example.com'] },
    ] as const,
    ['flavorID', 'expected an identifier', { flavorID: 'm1 small' }] as const,
  ].map(([at, words, wrong]) =>
    refused(Octavia, `spec.amphora.${at}`, words, { amphora: { ...amphora, ...wrong } }, { amphora }),
  ),
];
