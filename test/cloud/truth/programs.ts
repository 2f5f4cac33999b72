/** OpenStack programs that read the same files, and where their options come from. */
export interface ConfiguredPrograms {
  /** `app.kubernetes.io/name` of their pods. */
  readonly service: string;
  /** `app.kubernetes.io/component` of their pods. */
  readonly components: readonly string[];
  /** Files that they read, in their order. */
  readonly files: readonly string[];
  /** Namespaces of `oslo.config.opts` that have all their options (the projects' own config-generator files). */
  readonly namespaces: readonly string[];
  /** Groups that the validator cannot know: their names come from the configuration itself. */
  readonly dynamicGroups?: readonly string[];
}

const libraries = ['oslo.log', 'oslo.policy', 'oslo.db', 'oslo.messaging', 'oslo.middleware', 'oslo.concurrency'];
const service = [...libraries, 'keystonemiddleware.auth_token', 'oslo.cache', 'oslo.limit', 'oslo.privsep'];
const server = ['oslo.service.service', 'oslo.service.periodic_task', 'oslo.service.sslutils', 'oslo.service.wsgi'];
const agent = ['neutron', 'neutron.agent', 'neutron.base.agent', 'neutron.ml2.ovn'];

/** Every program that reads an oslo.config file. */
export const programs: readonly ConfiguredPrograms[] = [
  {
    service: 'keystone',
    components: ['api'],
    files: ['/etc/keystone/keystone.conf'],
    namespaces: [...libraries, 'keystone', 'oslo.cache'],
  },
  {
    service: 'glance',
    components: ['api'],
    files: ['/etc/glance/glance-api.conf'],
    namespaces: [...service, 'glance.api', 'glance.store', 'glance'],
    dynamicGroups: ['glance_store', 'local', 'os_glance_staging_store', 'os_glance_tasks_store'],
  },
  {
    service: 'placement',
    components: ['api'],
    files: ['/etc/placement/placement.conf'],
    namespaces: [...service, 'placement.conf'],
  },
  {
    service: 'neutron',
    components: ['server', 'rpc-server', 'periodic-workers', 'ovn-maintenance-worker'],
    files: ['/etc/neutron/neutron.conf', '/etc/neutron/plugins/ml2/ml2_conf.ini'],
    namespaces: [
      ...service,
      ...server,
      ...agent,
      'neutron.db',
      'neutron.extensions',
      'neutron.ml2',
      'nova.auth',
      'placement.auth',
    ],
  },
  {
    service: 'neutron',
    components: ['metadata-agent'],
    files: ['/etc/neutron/neutron_ovn_metadata_agent.ini'],
    namespaces: [...libraries, ...agent, 'oslo.privsep', 'neutron.metadata.agent', 'neutron.ovn.metadata.agent'],
  },
  {
    service: 'nova',
    components: ['api', 'metadata', 'scheduler', 'conductor', 'cell1-conductor', 'cell1-novncproxy', 'compute'],
    files: ['/etc/nova/nova.conf'],
    namespaces: [...service, ...server, 'nova.conf', 'os_vif', 'oslo.reports'],
  },
];
