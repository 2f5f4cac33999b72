import { database, identity } from '../../../packages/openstack/src/api/accounts.ts';
import { defineApi, type ObjectOf } from '../../../packages/openstack/src/api/define-api.ts';
import { api } from '../../../packages/openstack/src/api/exposure.ts';
import { nameLength } from '../../../packages/openstack/src/api/names.ts';
import { serviceRef } from '../../../packages/openstack/src/api/references.ts';
import { recordsAudit } from '../../../packages/openstack/src/api/schedules.ts';
import { int, object } from '../../../packages/openstack/src/api/schema.ts';
import { common, endpoints, phase } from '../../../packages/openstack/src/api/status.ts';
import { region, release, template } from '../../../packages/openstack/src/api/template.ts';
import {
  authtoken,
  database as databaseSection,
  logging,
  sections,
} from '../../../packages/openstack/src/engine/configuration/sections.ts';
import { idOf } from '../../../packages/openstack/src/engine/vocabulary/cloud-resources.ts';
import { defineService } from '../../../packages/openstack/src/engine/vocabulary/service.ts';
import { databaseRef } from '../../../packages/openstack/src/infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../../packages/openstack/src/infrastructure/memcached/reference.ts';
import { keystoneRef } from '../../../packages/openstack/src/services/keystone/reference.ts';

const Chime = defineApi({
  kind: 'Chime',
  plural: 'chimes',
  shortName: 'osch',
  description: 'A made-up service.',
  nameLength: nameLength.service,
  spec: object('Desired state of Chime.', {
    ...template({ main: 'the API', components: ['api'], wsgi: ['api'] }),
    ...api('chime'),
    release,
    region,
    databaseRef,
    cacheRef,
    keystoneRef,
    neutronRef: serviceRef('Neutron', 'that has its network'),
    novaRef: serviceRef('Nova', 'that has its flavour'),
    database: database('chime', ['chime']),
    identity: identity('chime'),
    ramMegabytes: int('Memory of its servers, in MiB.', { minimum: 64, maximum: 65536, fallback: 512 }),
    networkMTU: int('MTU of its network, in bytes.', { minimum: 1280, maximum: 9000, fallback: 1400 }),
    recordsAudit,
  }),
  status: object('Observed state of Chime.', { ...common, phase, ...endpoints }),
});

/** A service that this version does not have, with a network, a subnet and a flavour. It runs Placement's programs. */
export const chime = defineService<ObjectOf<typeof Chime>>({
  kind: Chime,
  offers: { chimeRef: {} },
  child: { field: 'chime', phase: 'ExtendedServices', description: 'The chime service.' },
  name: 'chime',
  user: 'placement',
  dependsOn: { databaseRef: 'steps', cacheRef: 'steps', keystoneRef: 'start', neutronRef: 'steps', novaRef: 'steps' },
  databases: [{ name: 'chime' }],
  identity: {
    users: [{ name: 'chime', roles: ['admin', 'service'] }],
    catalogue: [
      { type: 'chime', name: 'chime', description: 'A made-up service', component: 'api', port: 'api', path: '' },
    ],
  },
  resources: ({ spec: { networkMTU = 1400, ramMegabytes = 512 } }) => [
    { in: 'neutronRef', kind: 'network', name: 'chimes', attributes: { mtu: networkMTU, description: 'Of chimes' } },
    {
      in: 'neutronRef',
      kind: 'subnet',
      name: 'chimes',
      attributes: { network_id: idOf('network', 'chimes'), ip_version: 4, cidr: '192.0.2.0/24' },
    },
    { in: 'novaRef', kind: 'flavor', name: 'chime', attributes: { ram: ramMegabytes, vcpus: 1, disk: 1 } },
  ],
  migrate: () => ({ image: 'placement-api', sync: ['placement-manage', 'db', 'sync'] }),
  config: (context) => ({
    main: {
      '/etc/placement/placement.conf': {
        oslo: sections(logging, databaseSection(context, 'chime', 'placement_database'), authtoken(context)),
      },
    },
  }),
  components: () => ({
    api: {
      workload: 'Deployment',
      image: 'placement-api',
      runs: { wsgi: 'placement.wsgi.api:application' },
      ports: { api: 8997 },
      health: { get: '/', port: 'api' },
      reachable: 'anyone',
    },
  }),
});
