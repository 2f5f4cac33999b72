import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { notOffered } from '../../api/offering.ts';
import { serviceRef } from '../../api/references.ts';
import { days, passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { array, choice, int, object, required, rule, string, transition } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { ovnRef } from '../../infrastructure/ovn/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

/** The identifier of something in OpenStack. */
const id = (what: string) =>
  string(what, {
    maxLength: 64,
    minLength: 1,
    form: { pattern: '^[A-Za-z0-9_.-]+$', expected: 'an identifier, as openstack ... show -c id prints it' },
  });

const amphora = object(
  'The provider amphora, whose load balancers are servers of Nova. With it there are workers and health managers. What it names, its user makes beforehand. It cannot be removed: load balancers of this provider would have nobody who changes, repairs or deletes them.',
  {
    flavorID: required(
      transition(id('Identifier of the flavour of its servers.'), {
        absent: '""',
        allows: (next, previous) => `${previous} == "" || ${next} != ""`,
        message:
          'amphora cannot be removed: load balancers of this provider would have nobody who changes, repairs or deletes them',
      }),
    ),
    imageTag: string('Tag of its image in Glance: of several the newest one is taken.', {
      maxLength: 255,
      minLength: 1,
      fallback: 'amphora',
    }),
    imageOwnerID: required(
      id(
        'Project whose images are taken. Without it whoever shares an image with this tag would run the load balancers.',
      ),
    ),
    managementNetworkID: required(
      id('Network on which workers reach its servers (TCP port 9443). Pods have to reach its addresses.'),
    ),
    securityGroupIDs: required(
      array('Security groups of its ports in the management network: they let TCP port 9443 in.', id('Identifier.'), {
        minItems: 1,
        maxItems: 16,
        unique: true,
      }),
    ),
    keyPairName: string('Key pair of Nova, of the service user, by which operators reach its servers.', {
      maxLength: 255,
      minLength: 1,
    }),
    topology: choice('SINGLE is one server for each load balancer, ACTIVE_STANDBY two.', ['SINGLE', 'ACTIVE_STANDBY'], {
      fallback: 'SINGLE',
    }),
    controllerAddresses: required(
      array(
        'Where its servers reach the health managers (UDP), as address:port: what exposes the component health-manager.',
        string('Such as 192.0.2.10:5555.', {
          maxLength: 64,
          form: {
            pattern: String.raw`^([0-9.]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}$`,
            expected: 'an address and a port, such as 192.0.2.10:5555 or [fd00::10]:5555',
          },
        }),
        { minItems: 1, maxItems: 16, unique: true },
      ),
    ),
  },
);

const countOf = (what: string) =>
  int(`How many pods of ${what} run, with the provider amphora.`, { minimum: 0, maximum: 100, fallback: 1 });

/** Load balancers. */
export const Octavia = defineApi({
  kind: 'Octavia',
  plural: 'octavias',
  shortName: 'osoc',
  description: 'Load balancers, by OVN itself or in servers of Nova.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of Octavia.',
    {
      ...template({
        main: 'the API',
        components: ['api', 'worker', 'health-manager', 'housekeeping'],
        images: ['driver-agent'],
        counted: { worker: 'workerReplicas', 'health-manager': 'healthManagerReplicas' },
        wsgi: ['api'],
      }),
      ...api('octavia'),
      release,
      region,
      databaseRef,
      messageQueueRef,
      cacheRef,
      keystoneRef,
      ovnRef,
      neutronRef: serviceRef('Neutron', 'that has the ports of load balancers'),
      database: database('octavia', ['octavia']),
      messageQueue: messageQueue('octavia'),
      identity: identity('octavia'),
      provider: choice(
        'Provider of load balancers whose user names none: ovn, which is always there, or amphora, which needs the field amphora.',
        ['ovn', 'amphora'],
        { fallback: 'ovn' },
      ),
      amphora,
      managementNetworkCIDR: string(
        'Addresses of the management network. Not offered: make that network, and name it in amphora.managementNetworkID.',
        {
          maxLength: 64,
          rules: [
            notOffered(
              'managementNetworkCIDR',
              'make the management network with such a subnet in Neutron, and state its identifier in amphora.managementNetworkID',
            ),
          ],
        },
      ),
      amphoraImageSecretName: string(
        'Secret that says where the image of servers is. Not offered: it is the one in Glance with the tag amphora.imageTag.',
        {
          maxLength: 253,
          rules: [
            notOffered(
              'amphoraImageSecretName',
              'upload the image to Glance with the tag amphora.imageTag, and state its project in amphora.imageOwnerID',
            ),
          ],
        },
      ),
      workerReplicas: countOf('the worker'),
      healthManagerReplicas: countOf('the health manager'),
      housekeeping: object('Removal of rows of deleted load balancers and servers.', {
        purgeAfterDays: days('Days after which rows are removed, counted from the deletion.', 7),
      }),
      recordsAudit,
      passwordRotationDays,
      config: config('octavia.conf'),
      policy,
      unknownOptions,
    },
    {
      rules: [
        rule(
          "!has(self.provider) || self.provider != 'amphora' || has(self.amphora)",
          'provider amphora needs amphora to be set as well',
          '.amphora',
        ),
      ],
    },
  ),
  status: object('Observed state of Octavia.', { ...common, phase, ...endpoints }),
  columns: [
    {
      name: 'Provider',
      type: 'string',
      jsonPath: '.spec.provider',
      description: 'Provider of load balancers, if stated',
    },
    endpointColumn,
  ],
});

export type Octavia = ObjectOf<typeof Octavia>;
export type OctaviaSpec = SpecOf<typeof Octavia>;
export type OctaviaStatus = StatusOf<typeof Octavia>;
