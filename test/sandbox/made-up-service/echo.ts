import { database, identity } from '../../../packages/openstack/src/api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf } from '../../../packages/openstack/src/api/define-api.ts';
import { api } from '../../../packages/openstack/src/api/exposure.ts';
import { nameLength } from '../../../packages/openstack/src/api/names.ts';
import { recordsAudit } from '../../../packages/openstack/src/api/schedules.ts';
import { object } from '../../../packages/openstack/src/api/schema.ts';
import { common, endpoints, phase } from '../../../packages/openstack/src/api/status.ts';
import { config, region, release, template } from '../../../packages/openstack/src/api/template.ts';
import {
  authtoken,
  client,
  database as databaseSection,
  logging,
  sections,
} from '../../../packages/openstack/src/engine/configuration/sections.ts';
import { defineService } from '../../../packages/openstack/src/engine/vocabulary/service.ts';
import { databaseRef } from '../../../packages/openstack/src/infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../../packages/openstack/src/infrastructure/memcached/reference.ts';
import { secretReference } from '../../../packages/openstack/src/oslo/references.ts';
import { keystoneRef } from '../../../packages/openstack/src/services/keystone/reference.ts';

const Echo = defineApi({
  kind: 'Echo',
  plural: 'echoes',
  shortName: 'osec',
  description: 'A made-up service.',
  nameLength: nameLength.service,
  spec: object('Desired state of Echo.', {
    ...template({ main: 'the API', components: ['api'], wsgi: ['api'] }),
    ...api('echo'),
    release,
    region,
    databaseRef,
    cacheRef,
    keystoneRef,
    database: database('echo', ['echo']),
    identity: identity('echo'),
    recordsAudit,
    config: config('placement.conf'),
  }),
  status: object('Observed state of Echo.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

/** A service that this version does not have, as its folder would define it. It runs Placement's programs under its own name. */
export const echo = defineService<ObjectOf<typeof Echo>>({
  kind: Echo,
  offers: { echoRef: {} },
  child: { field: 'echo', phase: 'ExtendedServices', description: 'The echo service.' },
  name: 'echo',
  user: 'placement',
  dependsOn: { databaseRef: 'steps', cacheRef: 'steps', keystoneRef: 'start', placementRef: 'cloud' },
  configures: {
    bell: ({ context, peer }) => ({
      'placement.conf': { echo: { ...client(context), endpoint_override: `http://${peer}-api:8999` } },
    }),
  },
  databases: [{ name: 'echo' }],
  identity: {
    users: [{ name: 'echo', roles: ['service'] }],
    catalogue: [
      { type: 'echo', name: 'echo', description: 'A made-up service', component: 'api', port: 'api', path: '' },
      { type: 'echo-v1', name: 'echov1', description: 'Its old API', component: 'api', port: 'api', path: '/v1' },
    ],
  },
  config: (context) => ({
    main: {
      '/etc/placement/placement.conf': {
        oslo: sections(logging, databaseSection(context, 'echo', 'placement_database'), authtoken(context), {
          api: { auth_strategy: 'keystone' },
          // No variable has such a name: the whole file is a Secret.
          'backend:one': { password: secretReference(context.user().secret, 'password', 'oslo') },
        }),
      },
    },
  }),
  components: () => ({
    api: {
      workload: 'Deployment',
      image: 'placement-api',
      runs: { wsgi: 'placement.wsgi.api:application' },
      ports: { api: 8999, dns: 8953 },
      udp: ['dns'],
      sidecars: [{ name: 'dns', runs: { script: 'exec sleep infinity\n' }, ports: ['dns'] }],
      health: { get: '/', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
    },
  }),
  jobs: () => [
    {
      suffix: 'db-sync',
      step: 'MigrationReady',
      image: 'placement-api',
      runs: [{ name: 'db-sync', command: ['placement-manage', 'db', 'sync'] }],
    },
  ],
});
