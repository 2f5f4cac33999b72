import { database, identity, messageQueue } from '../../../packages/openstack/src/api/accounts.ts';
import { defineApi, type ObjectOf } from '../../../packages/openstack/src/api/define-api.ts';
import { api } from '../../../packages/openstack/src/api/exposure.ts';
import { nameLength } from '../../../packages/openstack/src/api/names.ts';
import { recordsAudit } from '../../../packages/openstack/src/api/schedules.ts';
import { object } from '../../../packages/openstack/src/api/schema.ts';
import { common, endpoints, phase } from '../../../packages/openstack/src/api/status.ts';
import { config, region, release, template } from '../../../packages/openstack/src/api/template.ts';
import {
  authtoken,
  client,
  coordination,
  database as databaseSection,
  logging,
  messaging,
  sections,
} from '../../../packages/openstack/src/engine/configuration/sections.ts';
import { defineService } from '../../../packages/openstack/src/engine/vocabulary/service.ts';
import { databaseRef } from '../../../packages/openstack/src/infrastructure/mariadb/reference.ts';
import { cacheRef, coordinationRef } from '../../../packages/openstack/src/infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../../packages/openstack/src/infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../../../packages/openstack/src/services/keystone/reference.ts';

const Bell = defineApi({
  kind: 'Bell',
  plural: 'bells',
  shortName: 'osbl',
  description: 'A made-up service.',
  nameLength: nameLength.service,
  spec: object('Desired state of Bell.', {
    ...template({ main: 'the API', components: ['api'], wsgi: ['api'] }),
    ...api('bell'),
    release,
    region,
    databaseRef,
    messageQueueRef,
    cacheRef,
    coordinationRef,
    keystoneRef,
    database: database('bell', ['bell', 'bell_persistence'], ['bell_persistence']),
    messageQueue: messageQueue('bell'),
    identity: identity('bell', { users: ['bell_domain_admin', 'bell_probe'], domains: ['bells'] }),
    recordsAudit,
    config: config('placement.conf'),
  }),
  status: object('Observed state of Bell.', { ...common, phase, ...endpoints }),
});

/** A service that this version does not have, and that has much to do with others. It runs Placement's programs. */
export const bell = defineService<ObjectOf<typeof Bell>>({
  kind: Bell,
  offers: { bellRef: {} },
  child: { field: 'bell', phase: 'ExtendedServices', description: 'The bell service.' },
  name: 'bell',
  user: 'placement',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    coordinationRef: 'steps',
    keystoneRef: 'start',
  },
  databases: [{ name: 'bell' }, { name: 'bell_persistence', user: 'bell_persistence' }],
  messaging: true,
  listens: { topic: 'notifications_bell', to: ['neutron'] },
  identity: {
    users: [
      { name: 'bell', roles: ['service'] },
      { name: 'bell_domain_admin', domain: 'bells', roles: ['admin'] },
      { name: 'bell_probe', project: 'probes', roles: ['reader'] },
    ],
    roles: ['bell_owner'],
    domains: [{ name: 'bells', description: 'Those who ring' }],
    implied: [{ role: 'admin', implies: 'ringer' }],
    catalogue: [
      { type: 'bell', name: 'bell', description: 'A made-up service', component: 'api', port: 'api', path: '' },
    ],
  },
  config: (context) => ({
    main: {
      '/etc/placement/placement.conf': {
        oslo: sections(
          logging,
          databaseSection(context, 'bell', 'placement_database'),
          authtoken(context),
          coordination(context),
          messaging(context),
          {
            api: { auth_strategy: 'keystone' },
            bells: client(context, 'bell_domain_admin'),
            bell_listener: { transport_url: context.transportUrl(context.accounts.broker.notifications) },
            persistence: { connection: context.databaseUrl('bell_persistence', 'mysql') },
          },
        ),
      },
    },
  }),
  components: () => ({
    api: {
      workload: 'Deployment',
      image: 'placement-api',
      runs: { wsgi: 'placement.wsgi.api:application' },
      ports: { api: 8998 },
      health: { get: '/', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
    },
  }),
  migrate: () => ({ image: 'placement-api', sync: ['placement-manage', 'db', 'sync'] }),
});
