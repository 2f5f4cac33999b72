import { blockStorage, fileStorage, identityOnly } from '../rollout/cloud.ts';

/** The parts of a control plane that can be left out. */
const optional = ['rabbitmq', 'ovnNetwork', 'glance', 'placement', 'neutron', 'nova'];

/** A cloud of these parts, beside database, cache and Keystone. */
const withParts = (...parts: string[]): Record<string, unknown> => ({
  ...identityOnly,
  ...Object.fromEntries(parts.map((part) => [part, part === 'nova' ? { virtType: 'qemu' } : { enabled: true }])),
});

const network = {
  ...withParts('rabbitmq', 'ovnNetwork', 'neutron'),
  rabbitmq: { tls: { enabled: true } },
  // Claimed by itself, a node has all agents but those of Nova.
  ovnNetwork: { enabled: true, nodeGroups: [{ name: 'default', replicas: 1 }] },
};

/** Clouds by name, smallest first: a mistake is tried on the first one that has its object. */
export const clouds: Readonly<Record<string, Record<string, unknown>>> = {
  identity: { ...withParts(), mariadb: { tls: { enabled: true } } },
  image: withParts('glance'),
  placement: { ...withParts('placement'), keystone: { tls: { enabled: true } } },
  // In that of networks nobody is connected to the broker.
  keys: { ...withParts('rabbitmq', 'barbican'), rabbitmq: { tls: { enabled: true } } },
  network,
  full: withParts(...optional),
  stacks: withParts('rabbitmq', 'heat'),
  audits: withParts(...optional, 'watcher'),
  leases: withParts(...optional, 'blazar'),
  'modern-dashboard': { ...network, glance: { enabled: true }, skyline: {} },
  dashboard: { ...withParts('glance'), horizon: {} },
  workflows: withParts('rabbitmq', 'mistral'),
  clusters: { ...withParts(...optional, 'heat'), magnum: {} },
  databases: { ...withParts(...optional), cinder: blockStorage, trove: {} },
  zones: withParts('rabbitmq', 'designate'),
  balancers: { ...network, octavia: { enabled: true } },
  devices: { ...withParts(...optional), cyborg: { enabledDrivers: ['fake_driver'] } },
  messages: { ...withParts('zaqar'), imageRegistry: 'registry.example.com/openstack' },
  availability: withParts(...optional, 'masakari'),
  metal: {
    ...withParts('rabbitmq', 'glance'),
    ironic: { enabledDrivers: ['fake-hardware'], provisioning: { interface: 'eth0', address: '192.0.2.1' } },
  },
  alarms: withParts('rabbitmq', 'aodh', 'ceilometer'),
  metrics: withParts('gnocchi'),
  rates: {
    ...withParts('rabbitmq', 'glance', 'gnocchi'),
    ceilometer: { metricsBackend: 'gnocchi', pollingIntervalSeconds: 60 },
    cloudKitty: { fetcher: 'gnocchi', config: { 'cloudkitty.conf': { collect: { period: 60 } } } },
  },
  causes: {
    ...withParts(...optional),
    vitrage: { config: { 'vitrage.conf': { datasources: { snapshots_interval: 60 } } } },
    imageRegistry: 'registry.example.com/openstack',
  },
  tasks: { ...withParts(), adjutant: {}, imageRegistry: 'registry.example.com/openstack' },
  backups: {
    ...withParts(),
    freezer: { storageBackend: 'local' },
    imageRegistry: 'registry.example.com/openstack',
  },
  functions: { ...withParts(...optional, 'barbican', 'heat'), tacker: { vimKeyStore: 'barbican' } },
  logs: {
    ...withParts(),
    venus: { elasticsearchURL: 'http://opensearch.logging.svc:9200' },
    imageRegistry: 'registry.example.com/openstack',
  },
  containers: { ...network, placement: { enabled: true }, zun: {} },
  volumes: { ...withParts('rabbitmq'), cinder: blockStorage },
  shares: { ...withParts('rabbitmq'), manila: fileStorage },
};
