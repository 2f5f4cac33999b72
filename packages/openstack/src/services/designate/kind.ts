import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api, hostname } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { partName } from '../../api/node-groups.ts';
import { onlyOffered } from '../../api/offering.ts';
import { port, secretName } from '../../api/references.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { array, bool, choice, type Infer, int, object, required, rule, string } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { storage } from '../../api/storage.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef, coordinationRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

const nameServers = (what: string, otherwise?: string) =>
  array(what, hostname('Such as ns1.example.com, without a dot at the end.', {}), {
    minItems: 1,
    maxItems: 13,
    unique: true,
    ...(otherwise === undefined ? {} : { otherwise }),
  });

/** Designate takes no names here, and neither does BIND. */
const address = string('An address, no name.', {
  maxLength: 45,
  form: {
    pattern: '^([0-9]{1,3}([.][0-9]{1,3}){3}|[0-9A-Fa-f]*:[0-9A-Fa-f.:]+)$',
    expected: 'an address such as 192.0.2.10',
  },
});

const pools = array(
  'Pools of name servers that this operator does not run. A pool of the name default takes the place of BIND: all zones go there that ask for no other. One that is removed here stays in Designate, with its zones.',
  object(
    'One pool.',
    {
      name: required(partName('Its name. Zones go there whose attribute pool is that.')),
      type: required(
        choice('What its servers are: bind9, which are told of zones by rndc, or pdns4, PowerDNS, by its API.', [
          'bind9',
          'pdns4',
        ]),
      ),
      nsRecords: required(nameServers('Names of its servers, as the NS records of its zones have them.')),
      masters: required(
        array(
          'Where its servers find the component mdns, from which they transfer zones: addresses of a Service that leads there.',
          object('One address.', {
            host: required(address),
            port: port('Port (UDP and TCP).', 5354),
          }),
          { minItems: 1, maxItems: 8 },
        ),
      ),
      servers: required(
        array(
          'Its servers. A zone is ACTIVE when all of them have it.',
          object('One server.', {
            host: required(address),
            port: port('Port (UDP and TCP).', 53),
            rndcPort: port('Port of rndc, for type bind9.', 953),
            apiEndpoint: string('URL of its API, for type pdns4.', {
              maxLength: 253,
              form: { pattern: '^https?://[^/ ]+$', expected: 'a URL without a path, such as http://192.0.2.53:8081' },
            }),
          }),
          { minItems: 1, maxItems: 13 },
        ),
      ),
      secretName: required(
        secretName(
          'Secret that lets Designate in: for bind9 key rndc.key, a key statement as rndc-confgen makes it; for pdns4 key password, the key of the API.',
        ),
      ),
    },
    {
      rules: [
        rule(
          "self.type != 'pdns4' || self.servers.all(one, has(one.apiEndpoint))",
          'type pdns4 needs apiEndpoint of each server',
          '.servers',
        ),
      ],
    },
  ),
  { maxItems: 8, keys: ['name'] },
);

/** DNS. */
export const Designate = defineApi({
  kind: 'Designate',
  plural: 'designates',
  shortName: 'osdn',
  description: 'DNS: zones and their records, which name servers publish.',
  nameLength: nameLength.service,
  spec: object('Desired state of Designate.', {
    ...template({
      main: 'the API',
      components: ['api', 'central', 'worker', 'producer', 'mdns', 'bind'],
      counted: { worker: 'workerReplicas', bind: 'bindReplicas' },
      wsgi: ['api'],
    }),
    workerReplicas: int('How many pods of the worker run, which tells name servers of zones.', {
      minimum: 0,
      maximum: 100,
      fallback: 1,
    }),
    ...api('designate'),
    release,
    region,
    databaseRef,
    messageQueueRef,
    cacheRef,
    coordinationRef,
    keystoneRef,
    database: database('designate', ['designate']),
    messageQueue: messageQueue('designate'),
    identity: identity('designate'),
    dnsBackend: choice(
      'Name servers of the pool default: bind9, BIND in pods of this cluster. powerdns is not offered: state PowerDNS servers of yours in pools.',
      ['bind9', 'powerdns'],
      { fallback: 'bind9', rules: [onlyOffered('dnsBackend', ['bind9'])] },
    ),
    bindReplicas: int('How many BIND servers run. Each has all zones of the pool default, on a volume of its own.', {
      minimum: 1,
      maximum: 13,
      fallback: 1,
    }),
    storage: storage('Volume of each BIND.', '1Gi'),
    nsRecords: nameServers(
      'Names of the BIND servers, as the NS records of zones have them: names by which resolvers outside find them.',
      'ns1.<publicDomain> below a control plane; else the name of the Service of BIND',
    ),
    pools,
    enableNeutronIntegration: bool(
      'Whether Neutron makes records of ports and floating IPs that have a name in a domain (external_dns_driver, dns_domain_ports).',
      { fallback: true },
    ),
    recordsAudit,
    passwordRotationDays,
    config: config('designate.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Designate.', { ...common, phase, ...endpoints }),
  columns: [
    {
      name: 'Backend',
      type: 'string',
      jsonPath: '.spec.dnsBackend',
      description: 'Name servers of the pool default, if stated',
    },
    endpointColumn,
  ],
});

export type Designate = ObjectOf<typeof Designate>;
export type DesignateSpec = SpecOf<typeof Designate>;
export type DesignateStatus = StatusOf<typeof Designate>;
export type Pool = Infer<typeof pools>[number];
