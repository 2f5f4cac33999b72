import { authtoken, database, logging, sections } from '../../engine/configuration/sections.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { Placement } from './kind.ts';

/** What every host has, and what is used of it (phase 1 plan, task 15). */
export const placement = defineService<Placement>({
  kind: Placement,
  offers: { placementRef: {} },
  child: { field: 'placement', phase: 'CoreServices', description: 'The placement service.' },
  name: 'placement',
  user: 'placement',
  dependsOn: { databaseRef: 'steps', cacheRef: 'steps', keystoneRef: 'start' },
  databases: [{ name: 'placement' }],
  connections: () => ({ api: { pools: 1 } }),
  identity: {
    users: [{ name: 'placement', roles: ['admin', 'service'] }],
    catalogue: [
      {
        type: 'placement',
        name: 'placement',
        description: 'OpenStack Placement',
        component: 'api',
        port: 'api',
        path: '',
      },
    ],
  },
  config: (context) => ({
    main: {
      '/etc/placement/placement.conf': {
        oslo: sections(logging, database(context, 'placement', 'placement_database'), authtoken(context), {
          api: { auth_strategy: 'keystone' },
        }),
      },
    },
  }),
  components: () => ({
    api: {
      workload: 'Deployment',
      image: 'placement-api',
      runs: { wsgi: 'placement.wsgi.api:application', threads: 4 },
      ports: { api: 8778 },
      // It has no /healthcheck; the versions need no token.
      health: { get: '/', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      resources: { cpu: '50m', memory: '256Mi' },
    },
  }),
  migrate: () => ({
    image: 'placement-api',
    sync: ['placement-manage', 'db', 'sync'],
    check: ['placement-status'],
    contract: [['placement-manage', 'db', 'online_data_migrations']],
  }),
});
