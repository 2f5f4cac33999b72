import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { onlyOffered } from '../../api/offering.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { array, bool, choice, int, object, required, rule, string } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { storage } from '../../api/storage.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

const octets = String.raw`[0-9]{1,3}(\.[0-9]{1,3}){3}`;
const ipv4 = `^${octets}$`;

const provisioning = object(
  'How machines boot from the network. With it a pod of the component boot has the network of its node, which components.boot.nodeSelector names: it gives machines the first program that they boot, and leads them to the conductor for the rest.',
  {
    interface: required(
      string('Interface of the node in the network that machines boot in.', {
        maxLength: 15,
        minLength: 1,
        form: { pattern: '^[A-Za-z0-9_.-]+$', expected: 'the name of an interface, such as eth1' },
      }),
    ),
    address: required(
      string('Address that the node has there.', {
        maxLength: 15,
        form: { pattern: ipv4, expected: 'an address of IPv4, such as 192.0.2.1' },
      }),
    ),
  },
);

/** Bare metal. */
export const Ironic = defineApi({
  kind: 'Ironic',
  plural: 'ironics',
  shortName: 'osir',
  description: 'Bare metal: machines that are powered, inspected, and get images written to their disks.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of Ironic.',
    {
      ...template({
        main: 'the API',
        components: ['api', 'conductor', 'boot'],
        images: ['boot-loaders', 'http', 'http-proxy'],
        single: { components: ['boot'], reason: 'machines boot from one address' },
        counted: { conductor: 'conductorReplicas' },
        wsgi: ['api'],
      }),
      conductorReplicas: int('How many conductors run, which share the machines among them.', {
        minimum: 0,
        maximum: 100,
        fallback: 1,
      }),
      enableInspector: bool(
        'Whether the properties of machines can be found out: by an agent that is booted there, as Ironic itself does it. ironic-inspector, a service of its own, is deprecated and not run.',
        { fallback: true },
      ),
      provisioning,
      dhcpRange: string(
        'Addresses that machines get which ask for one at provisioning.interface. Without it somebody else has to.',
        {
          maxLength: 31,
          form: {
            pattern: `^${octets}-${octets}$`,
            expected: 'two addresses, such as 192.0.2.50-192.0.2.99',
          },
        },
      ),
      deployInterface: choice(
        'How images get to the machines: direct has an agent on the machine download and write them. iscsi is not offered: Ironic has it no more.',
        ['direct', 'iscsi'],
        { fallback: 'direct', rules: [onlyOffered('deployInterface', ['direct'])] },
      ),
      enabledDrivers: array(
        'Types of hardware. fake-hardware is a machine that is made up, for tests.',
        choice('A type.', ['ipmi', 'redfish', 'manual-management', 'fake-hardware']),
        { minItems: 1, maxItems: 4, unique: true, fallback: ['ipmi', 'redfish'] },
      ),
      networkInterface: choice(
        'What the networks of machines have to do with Neutron: noop nothing. flat and neutron, ports in a network that all share and in those of tenants, are not offered: nothing here binds them or configures switches.',
        ['noop', 'flat', 'neutron'],
        { fallback: 'noop', rules: [onlyOffered('networkInterface', ['noop'])] },
      ),
      ...api('ironic'),
      release,
      region,
      databaseRef,
      messageQueueRef,
      cacheRef,
      keystoneRef,
      database: database('ironic', ['ironic']),
      messageQueue: messageQueue('ironic'),
      identity: identity('ironic'),
      storage: storage('Volume of each conductor, for images.', '20Gi'),
      recordsAudit,
      passwordRotationDays,
      config: config('ironic.conf'),
      policy,
      unknownOptions,
    },
    {
      rules: [
        rule(
          '!has(self.dhcpRange) || has(self.provisioning)',
          'dhcpRange needs provisioning to be set as well',
          '.dhcpRange',
        ),
        rule(
          '!has(self.provisioning) || !has(self.conductorReplicas) || self.conductorReplicas <= 1',
          'conductorReplicas is at most 1 with provisioning: machines find only the files of one',
          '.conductorReplicas',
        ),
      ],
    },
  ),
  status: object('Observed state of Ironic.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Ironic = ObjectOf<typeof Ironic>;
export type IronicSpec = SpecOf<typeof Ironic>;
export type IronicStatus = StatusOf<typeof Ironic>;
