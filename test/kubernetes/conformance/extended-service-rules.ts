import { Adjutant, CloudKitty, Freezer, Storlets, Tacker, Venus, Zun } from '@openstack-operator/openstack';
import { notYet, type RefusedSpec, refused } from './refused-spec.ts';

/** Specs of extended services that are refused. */
export const extendedServiceRules: readonly RefusedSpec[] = [
  refused(
    Adjutant,
    'spec.horizonURL',
    'expected a URL such as https://horizon.example.com/',
    { horizonURL: 'horizon.example.com' },
    { horizonURL: 'https://horizon.example.com/' },
  ),
  refused(
    CloudKitty,
    'spec.collector',
    'this value of collector is not offered by this version of the operator; possible now: gnocchi, prometheus',
    { collector: 'ceilometer' },
    { collector: 'gnocchi' },
  ),
  refused(
    CloudKitty,
    'spec.prometheusURL',
    'collector prometheus and prometheusURL are set together',
    { collector: 'prometheus' },
    { collector: 'prometheus', prometheusURL: 'http://prometheus:9090/api/v1' },
  ),
  refused(
    CloudKitty,
    'spec.prometheusURL',
    'expected a URL that ends with /api/v1',
    { collector: 'prometheus', prometheusURL: 'http://prometheus:9090' },
    { collector: 'prometheus', prometheusURL: 'http://prometheus:9090/api/v1' },
  ),
  refused(
    Freezer,
    'spec.schedulerReplicas',
    'a scheduler runs the jobs of one user on the host that it runs on',
    { schedulerReplicas: 1 },
    { schedulerReplicas: 0 },
  ),
  refused(
    Tacker,
    'spec.replicas',
    'replicas of server is at most 1 with storageAccessMode ReadWriteOnce',
    { replicas: 2 },
    { replicas: 2, storageAccessMode: 'ReadWriteMany' },
  ),
  refused(
    Tacker,
    'spec.enableVNFM',
    'enableVNFM and enableNFVO cannot both be false',
    { enableVNFM: false, enableNFVO: false },
    { enableVNFM: false },
  ),
  refused(
    Tacker,
    'spec.conductorReplicas',
    'conductorReplicas is at most 1 in this version of the operator',
    { conductorReplicas: 2 },
    { conductorReplicas: 0 },
  ),
  refused(
    Storlets,
    'spec.gatewayReplicas',
    'the gateway docker starts containers by the socket of a Docker on its own node',
    { gatewayReplicas: 1 },
    { gatewayReplicas: 0 },
  ),
  refused(
    Storlets,
    'spec.gateway',
    `gateway ${notYet}; possible now: stub`,
    { gateway: 'docker' },
    { gateway: 'stub' },
  ),
  refused(
    Venus,
    'spec.elasticsearchURL',
    'expected http:// with host and port',
    { elasticsearchURL: 'https://user:password@opensearch' },
    { elasticsearchURL: 'http://opensearch:9200' },
  ),
  refused(
    Venus,
    'spec.managerReplicas',
    'each would look for anomalies',
    { elasticsearchURL: 'http://opensearch:9200', managerReplicas: 2 },
    { elasticsearchURL: 'http://opensearch:9200', managerReplicas: 1 },
  ),
  refused(
    Zun,
    'spec.computeReplicas',
    'zun-compute needs a Docker with kuryr-libnetwork',
    { computeReplicas: 1 },
    { computeReplicas: 0 },
  ),
];
