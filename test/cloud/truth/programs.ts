/** OpenStack programs that read the same files, and where their options come from. */
export interface ConfiguredPrograms {
  /** `app.kubernetes.io/name` of their pods. */
  readonly service: string;
  /** `app.kubernetes.io/component` of their pods, or what those of its variants begin with: `volume` of `volume-ceph`. */
  readonly components: readonly string[];
  /** Whether a cloud may be without them. */
  readonly isOptional?: true;
  /** Files that they read, in their order. */
  readonly files: readonly string[];
  /** Namespaces of `oslo.config.opts` that have all their options (the projects' own config-generator files). */
  readonly namespaces: readonly string[];
  /**
   * Groups that the validator cannot know, as their options come from the configuration itself: the plug-in that logs in. Those
   * that the file's own list of backends names need not stand here.
   */
  readonly dynamicGroups?: readonly string[];
  /** The program that has `upgrade check`, and the component in which it is run. */
  readonly upgradeCheck?: { readonly in: string; readonly command: readonly string[] };
}

const libraries = ['oslo.log', 'oslo.policy', 'oslo.db', 'oslo.messaging', 'oslo.middleware', 'oslo.concurrency'];
const service = [...libraries, 'keystonemiddleware.auth_token', 'oslo.cache', 'oslo.limit', 'oslo.privsep'];
const server = ['oslo.service.service', 'oslo.service.periodic_task', 'oslo.service.sslutils', 'oslo.service.wsgi'];
const neutronFiles = ['/etc/neutron/neutron.conf', '/etc/neutron/plugins/ml2/ml2_conf.ini'];
const agent = ['neutron', 'neutron.agent', 'neutron.base.agent', 'neutron.ml2.ovn'];

/** Every program that reads an oslo.config file. */
export const programs: readonly ConfiguredPrograms[] = [
  {
    service: 'keystone',
    components: ['api'],
    files: ['/etc/keystone/keystone.conf'],
    namespaces: [...libraries, 'keystone', 'oslo.cache'],
    upgradeCheck: { in: 'api', command: ['keystone-status'] },
  },
  {
    service: 'glance',
    components: ['api'],
    files: ['/etc/glance/glance-api.conf'],
    namespaces: [...service, 'glance.api', 'glance.store', 'glance'],
    dynamicGroups: ['glance_store', 'os_glance_staging_store', 'os_glance_tasks_store'],
    upgradeCheck: { in: 'api', command: ['glance-status'] },
  },
  {
    service: 'placement',
    components: ['api'],
    files: ['/etc/placement/placement.conf'],
    namespaces: [...service, 'placement.conf'],
    upgradeCheck: { in: 'api', command: ['placement-status'] },
  },
  {
    service: 'neutron',
    components: ['server', 'periodic-workers', 'ovn-maintenance-worker'],
    files: neutronFiles,
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
    upgradeCheck: {
      in: 'server',
      command: ['neutron-status', ...neutronFiles.flatMap((file) => ['--config-file', file])],
    },
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
    upgradeCheck: { in: 'conductor', command: ['nova-status'] },
  },
  {
    service: 'cinder',
    isOptional: true,
    components: ['api', 'scheduler', 'volume', 'backup'],
    files: ['/etc/cinder/cinder.conf'],
    namespaces: [...service, ...server, 'cinder'],
    dynamicGroups: ['nova', 'service_user'],
    upgradeCheck: { in: 'api', command: ['cinder-status'] },
  },
  {
    service: 'manila',
    isOptional: true,
    components: ['api', 'scheduler', 'share', 'data'],
    files: ['/etc/manila/manila.conf'],
    namespaces: [...service, ...server, 'manila'],
    // See the options in allowed.yaml.
    dynamicGroups: ['coordination'],
    upgradeCheck: { in: 'api', command: ['manila-status'] },
  },
];
