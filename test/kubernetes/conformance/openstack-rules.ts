import {
  type Api,
  Blazar,
  Glance,
  Gnocchi,
  Keystone,
  kinds,
  Magnum,
  MariaDB,
  Masakari,
  Memcached,
  Neutron,
  Nova,
  OpenStackControlPlane,
  OVNNetwork,
  Placement,
  RabbitMQ,
  Zaqar,
} from '@openstack-operator/openstack';
import { balancerRules } from './balancer-rules.ts';
import { componentRules } from './component-rules.ts';
import { dataPlaneRules } from './data-plane-rules.ts';
import { dnsRules } from './dns-rules.ts';
import { extendedServiceRules } from './extended-service-rules.ts';
import { metalRules } from './metal-rules.ts';
import { networkRules } from './network-rules.ts';
import { otherShapeRules } from './other-shape-rules.ts';
import { notYet, type RefusedSpec, refused } from './refused-spec.ts';
import { storageRules } from './storage-rules.ts';

const has = ({ spec }: Api, field: string) => field in (spec.schema.properties ?? {});
/** Kinds with an API of their own. */
const apis = kinds.filter((kind) => has(kind, 'externalService'));

const external = {
  databaseRef: { host: 'db.example.com', port: 3307, secretName: 'db' },
  messageQueueRef: { host: 'mq.example.com', secretName: 'mq' },
  cacheRef: { servers: ['cache-0.example.com:11211'] },
  coordinationRef: { host: 'valkey.example.com' },
  keystoneRef: { authURL: 'https://keystone.example.com/v3', secretName: 'keystone' },
  ovnRef: { northbound: 'tcp:ovn:6641', southbound: 'tcp:ovn:6642' },
};

const references: readonly RefusedSpec[] = kinds.flatMap((kind) =>
  Object.entries(external)
    .filter(([field]) => has(kind, field))
    .flatMap(([field, external]) => [
      refused(kind, `spec.${field}`, 'exactly one of name and external', { [field]: {} }, { [field]: { name: 'x' } }),
      refused(kind, `spec.${field}`, 'exactly one', { [field]: { name: 'x', external } }, { [field]: { external } }),
    ]),
);

const singles: readonly RefusedSpec[] = [
  refused(Memcached, 'spec.replicas', 'at most 1 in this version', { replicas: 2 }, { replicas: 1 }),
  refused(
    Glance,
    'spec',
    'replicas of api is at most 1 with storageType pvc',
    { replicas: 2 },
    { replicas: 2, storageType: 'ceph' },
  ),
  refused(
    Glance,
    'spec',
    'replicas of api is at most 1 with storageType pvc',
    { replicas: 2, storageType: 'pvc' },
    { replicas: 2, storageType: 'swift' },
  ),
];

/** Names of components in the message of a rule of `spec.<field>` that begins with some words. */
function namesIn({ spec }: Api, field: string, words: string): readonly string[] {
  const rules = spec.schema.properties?.[field]?.['x-kubernetes-validations'] ?? [];
  const message = rules.find((rule) => rule.message.startsWith(words))?.message ?? words;
  return message
    .slice(words.length)
    .replace(/:.*/, '')
    .split(',')
    .flatMap((name) => name.trim() || []);
}

/** Each kind that runs pods, and one of its components. */
const components: readonly (readonly [Api, string])[] = kinds.flatMap((kind) => {
  const images = namesIn(kind, 'images', 'the known names are');
  const name = namesIn(kind, 'components', 'the known names are').find((one) => images.includes(one));
  return name === undefined ? [] : [[kind, name] as const];
});

const names: readonly RefusedSpec[] = components.flatMap(([kind, component]) => [
  refused(
    kind,
    'spec.components',
    'the known names are',
    { components: { nobody: {} } },
    { components: { [component]: { priorityClassName: 'high' } } },
  ),
  refused(
    kind,
    'spec.images',
    'the known names are',
    { images: { nobody: 'example.com/image:1' } },
    { images: { [component]: `example.com/image@sha256:${'0'.repeat(64)}` } },
  ),
]);

/** A volume holds one thing: not nothing, and not two. */
const volumes: readonly RefusedSpec[] = components.flatMap(([kind, component]) => {
  const holding = (sources: object) => ({
    components: { [component]: { extraVolumes: [{ name: 'a', mountPath: '/a', ...sources }] } },
  });
  const secret = { secret: { secretName: 'a' } };
  return [{}, { ...secret, configMap: { name: 'a' } }].map((sources) =>
    refused(
      kind,
      `spec.components[${component}].extraVolumes[0]`,
      'expected one of secret, configMap, persistentVolumeClaim, nfs, hostPath',
      holding(sources),
      holding(secret),
    ),
  );
});

/** Components whose pods are members of a quorum. */
const quorums: readonly RefusedSpec[] = kinds.flatMap((kind) =>
  namesIn(kind, 'components', 'of ').map((component) =>
    refused(
      kind,
      'spec.components',
      'replicas is 0, 1, 3, 5 or 7',
      { components: { [component]: { replicas: 4 } } },
      { components: { [component]: { replicas: 5 } } },
    ),
  ),
);

/** Components whose number of processes is fixed, and others that have one thread a process. */
const workers = kinds.map((kind) => {
  const others = namesIn(kind, 'components', 'processes cannot be set for');
  const withoutThreads = namesIn(kind, 'components', 'threads cannot be set for');
  return [kind, others, withoutThreads.filter((name) => !others.includes(name))] as const;
});

const processesAndThreads: readonly RefusedSpec[] = workers.flatMap(([kind, others, singleThreaded]) => {
  const noThreads = (component: string, instead: object) =>
    refused(
      kind,
      'spec.components',
      'threads cannot be set',
      { components: { [component]: { threads: 2 } } },
      { components: { [component]: instead } },
    );
  return [
    ...others.flatMap((component) => [
      refused(
        kind,
        'spec.components',
        'processes cannot be set',
        { components: { [component]: { processes: 2 } } },
        { components: { [component]: { priorityClassName: 'high' } } },
      ),
      noThreads(component, { priorityClassName: 'high' }),
    ]),
    ...singleThreaded.map((component) => noThreads(component, { processes: 2 })),
  ];
});

/** One case for each rule of each kind, but for those about names and changes, which follow from the schema. */
export const refusedSpecs: readonly RefusedSpec[] = [
  ...references,
  ...singles,
  ...quorums,
  ...names,
  ...volumes,
  ...processesAndThreads,
  refused(
    Placement,
    'spec.components.api.threads',
    'less than or equal to 64',
    { components: { api: { threads: 65 } } },
    { components: { api: { processes: 64, threads: 64 } } },
  ),
  ...apis.map((kind) => refused(kind, 'spec.exposure', notYet, { exposure: 'Ingress' }, { exposure: 'NodePort' })),
  ...apis.map((kind) =>
    refused(
      kind,
      'spec.externalService.loadBalancerSourceRanges[0]',
      'expected a network such as 203.0.113.0/24',
      { externalService: { loadBalancerSourceRanges: ['203.0.113.0/33'] } },
      { externalService: { loadBalancerSourceRanges: ['203.0.113.0/24', '2001:db8::/32'] } },
    ),
  ),
  ...kinds
    .filter((kind) => has(kind, 'release'))
    .map((kind) => refused(kind, 'spec.release', notYet, { release: '2011.2' }, { release: '2025.1' })),
  refused(OpenStackControlPlane, 'spec.exposure', notYet, { exposure: 'Ingress' }, { exposure: 'Gateway' }),
  refused(
    Keystone,
    'spec.fernetMaxActiveKeys',
    'fernetMaxActiveKeys is too small',
    { fernetMaxActiveKeys: 3, tokenExpiration: 14400, fernetKeyRotationInterval: 1 },
    { fernetMaxActiveKeys: 6, tokenExpiration: 14400, fernetKeyRotationInterval: 1 },
  ),
  refused(
    MariaDB,
    'spec.storageSize',
    'storageSize is called storage.size here',
    { storageSize: '50Gi' },
    { storage: { size: '50Gi' } },
  ),
  refused(MariaDB, 'spec.replicas', 'replicas is 0, 1, 3, 5 or 7', { replicas: 2 }, { replicas: 3 }),
  refused(
    MariaDB,
    'spec',
    'galeraEnabled: true needs replicas of 3 or more',
    { galeraEnabled: true },
    { galeraEnabled: true, replicas: 3 },
  ),
  refused(
    MariaDB,
    'spec.storage.size',
    'expected a size such as 10Gi',
    { storage: { size: '10GB' } },
    { storage: { size: '10G' } },
  ),
  refused(MariaDB, 'spec.replicas', 'greater than or equal to 0', { replicas: -1 }, { replicas: 0 }),
  refused(Blazar, 'spec.managerReplicas', 'at most 1', { managerReplicas: 2 }, { managerReplicas: 1 }),
  refused(RabbitMQ, 'spec.replicas', 'replicas is 0, 1, 3, 5 or 7', { replicas: 4 }, { replicas: 5 }),
  refused(
    RabbitMQ,
    'spec',
    'clusterEnabled: true needs replicas of 3 or more',
    { clusterEnabled: true },
    { clusterEnabled: true, replicas: 3 },
  ),
  refused(
    OVNNetwork,
    'spec.northboundDBReplicas',
    'is 1, 3, 5 or 7',
    { northboundDBReplicas: 2 },
    { northboundDBReplicas: 3 },
  ),
  refused(
    OVNNetwork,
    'spec.southboundDBReplicas',
    'is 1, 3, 5 or 7',
    { southboundDBReplicas: 4 },
    { southboundDBReplicas: 5 },
  ),
  refused(OVNNetwork, 'spec.replicas', 'has to be 1: set northboundDBReplicas', { replicas: 0 }, { replicas: 1 }),
  refused(OVNNetwork, 'spec.image', 'set spec.images', { image: 'ovn:1' }, { images: { northd: 'ovn:1' } }),
  refused(
    OVNNetwork,
    'spec.resources',
    'set spec.components',
    { resources: {} },
    { components: { northd: { resources: { requests: { cpu: 1, memory: '1Gi' } } } } },
  ),
  refused(
    OVNNetwork,
    'spec',
    'enableRaftClustering: true needs northboundDBReplicas and southboundDBReplicas of 3 or more',
    { enableRaftClustering: true, northboundDBReplicas: 3 },
    { enableRaftClustering: true, northboundDBReplicas: 3, southboundDBReplicas: 3 },
  ),
  refused(OVNNetwork, 'spec.sharedWithCNI', notYet, { sharedWithCNI: true }, { sharedWithCNI: false }),
  refused(OVNNetwork, 'spec.externalNorthboundDB', notYet, { externalNorthboundDB: 'tcp:ovn:6641' }, {}),
  refused(Neutron, 'spec.mechanism', notYet, { mechanism: 'ovs' }, { mechanism: 'ovn' }),
  refused(Neutron, 'spec.tunnelType', notYet, { tunnelType: 'vxlan' }, { tunnelType: 'geneve' }),
  ...networkRules,
  refused(Neutron, 'spec.externalBridge', 'own bridge', { externalBridge: 'br-int' }, { externalBridge: 'br-ex' }),
  refused(
    Neutron,
    'spec.externalBridge',
    'set one of the two',
    { externalBridge: 'br-ex', bridgeMappings: [{ physicalNetwork: 'physnet1', bridge: 'br-ex' }] },
    { externalBridge: 'br-ex' },
  ),
  refused(
    Neutron,
    'spec.vlanRanges',
    'needs vlanRanges',
    { networkTypes: ['vlan'] },
    { networkTypes: ['vlan'], vlanRanges: [{ physicalNetwork: 'physnet1', minimum: 1, maximum: 9 }] },
  ),
  refused(
    Neutron,
    'spec.vlanRanges[0].minimum',
    'minimum has to be at most maximum',
    { vlanRanges: [{ physicalNetwork: 'physnet1', minimum: 9, maximum: 1 }] },
    { vlanRanges: [{ physicalNetwork: 'physnet1', minimum: 9, maximum: 9 }] },
  ),
  refused(
    Nova,
    'spec.cells',
    'more than one cell',
    { cells: [{ name: 'a' }, { name: 'b' }] },
    { cells: [{ name: 'a' }] },
  ),
  refused(
    Nova,
    'spec.cellName',
    'cellName is short for cells',
    { cells: [{ name: 'a' }], cellName: 'a' },
    { cells: [{ name: 'a' }] },
  ),
  refused(
    Nova,
    'spec.computeReplicas',
    'computeReplicas is short for nodeGroups',
    { computeReplicas: 1, nodeGroups: [{ name: 'a' }] },
    { nodeGroups: [{ name: 'a', replicas: 1 }] },
  ),
  refused(
    Nova,
    'spec.nodeGroups[0].guests',
    'set memory, cpus or disk',
    { nodeGroups: [{ name: 'a', guests: {} }] },
    { nodeGroups: [{ name: 'a', guests: { cpus: 2 } }] },
  ),
  ...['west:1', ' west', 'west ', 'wést', 'we\tst', ''].map((availabilityZone) =>
    refused(
      Nova,
      'spec.nodeGroups[0].availabilityZone',
      "expected printable ASCII without ':', and no space at either end",
      { nodeGroups: [{ name: 'a', availabilityZone }] },
      { nodeGroups: [{ name: 'a', availabilityZone: 'west 1' }] },
    ),
  ),
  ...['internal', 'nova', 'Nova'].map((availabilityZone) =>
    refused(
      Nova,
      'spec.nodeGroups[0].availabilityZone',
      'internal and nova are zones of Nova itself',
      { nodeGroups: [{ name: 'a', availabilityZone }] },
      { nodeGroups: [{ name: 'a', availabilityZone: 'nova-1' }] },
    ),
  ),
  ...['HW_CPU_X86_AVX2', 'CUSTOM_', 'CUSTOM_ssd', 'CUSTOM_A-B'].map((trait) =>
    refused(
      Nova,
      'spec.nodeGroups[0].traits[0]',
      'expected CUSTOM_, and A-Z, 0-9 and _',
      { nodeGroups: [{ name: 'a', traits: [trait] }] },
      { nodeGroups: [{ name: 'a', traits: ['CUSTOM_SSD_2'] }] },
    ),
  ),
  refused(OpenStackControlPlane, 'spec.storageBackend', notYet, { storageBackend: 'lvm' }, { storageBackend: 'pvc' }),
  refused(OpenStackControlPlane, 'spec.networkBackend', notYet, { networkBackend: 'ovs' }, { networkBackend: 'ovn' }),
  ...[MariaDB, RabbitMQ, OVNNetwork, Keystone, OpenStackControlPlane].map((kind) =>
    refused(
      kind,
      'spec.tls.issuerRef.kind',
      'kind has to be Issuer or ClusterIssuer; of another kind, state its group',
      { tls: { issuerRef: { name: 'ca', kind: 'AWSPCAIssuer' } } },
      { tls: { issuerRef: { name: 'ca', kind: 'AWSPCAIssuer', group: 'awspca.cert-manager.io' } } },
    ),
  ),
  ...[MariaDB, RabbitMQ, OVNNetwork, Keystone, OpenStackControlPlane].map((kind) =>
    refused(
      kind,
      'spec.tls.duration',
      'cert-manager issues certificates for an hour (1h) or more',
      { tls: { issuerRef: { name: 'ca' }, duration: '59m' } },
      { tls: { issuerRef: { name: 'ca' }, duration: '60m' } },
    ),
  ),
  refused(
    Magnum,
    'spec.defaultCOE',
    'this value of defaultCOE is not offered by this version of the operator; possible now: kubernetes',
    { defaultCOE: 'swarm' },
    { defaultCOE: 'kubernetes' },
  ),
  ...balancerRules,
  refused(
    Zaqar,
    'spec.messageStore',
    'this value of messageStore is not offered by this version of the operator; possible now: redis',
    { messageStore: 'swift' },
    { messageStore: 'redis' },
  ),
  refused(
    Gnocchi,
    'spec.replicas',
    'replicas of api is at most 1 with storageType pvc',
    { replicas: 2 },
    { replicas: 2, storageType: 'swift' },
  ),
  refused(Gnocchi, 'spec.messageQueue', notYet, { messageQueue: {} }, {}),
  refused(Masakari, 'spec.recoveryMethod', notYet, { recoveryMethod: 'migrate' }, { recoveryMethod: 'evacuate' }),
  ...extendedServiceRules,
  ...componentRules,
  ...storageRules,
  ...otherShapeRules,
  ...dnsRules,
  ...dataPlaneRules,
  ...metalRules,
];
