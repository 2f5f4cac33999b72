import { Designate } from '@openstack-operator/openstack';
import { notYet, type RefusedSpec, refused } from './refused-spec.ts';

const pool = {
  name: 'branch',
  type: 'pdns4',
  nsRecords: ['ns1.example.com'],
  masters: [{ host: '192.0.2.40' }],
  servers: [{ host: '192.0.2.53', apiEndpoint: 'http://dns.example.com:8081' }],
  secretName: 'pdns',
};
const pools = (change: object) => ({ pools: [{ ...pool, ...change }] });

/** Specs of a Designate that are refused. */
export const dnsRules: readonly RefusedSpec[] = [
  refused(Designate, 'spec.dnsBackend', notYet, { dnsBackend: 'powerdns' }, { dnsBackend: 'bind9' }),
  refused(
    Designate,
    'spec.components',
    'replicas cannot be set for bind: state spec.bindReplicas',
    { components: { bind: { replicas: 2 } } },
    { bindReplicas: 2 },
  ),
  refused(
    Designate,
    'spec.pools[0].masters[0].host',
    'expected an address such as 192.0.2.10',
    pools({ masters: [{ host: 'mdns.example.com' }] }),
    pools({}),
  ),
  refused(
    Designate,
    'spec.pools[0].servers[0].host',
    'expected an address such as 192.0.2.10',
    pools({ servers: [{ host: 'dns.example.com', apiEndpoint: 'http://dns.example.com:8081' }] }),
    pools({ servers: [{ host: '2001:db8::53', apiEndpoint: 'http://dns.example.com:8081' }] }),
  ),
  refused(
    Designate,
    'spec.pools[0].servers',
    'type pdns4 needs apiEndpoint of each server',
    pools({ servers: [{ host: '192.0.2.53' }] }),
    pools({ type: 'bind9', servers: [{ host: '192.0.2.53' }] }),
  ),
  refused(
    Designate,
    'spec.pools[0].servers[0].apiEndpoint',
    'expected a URL without a path',
    pools({ servers: [{ host: '192.0.2.53', apiEndpoint: 'http://192.0.2.53:8081/api' }] }),
    pools({}),
  ),
];
