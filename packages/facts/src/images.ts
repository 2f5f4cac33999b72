/** Images of one release, as they are published. */
export interface ImageFacts {
  /** Host and path that stand before a name. */
  readonly registry: string;
  /** The tag of all of them. It moves. */
  readonly tag: string;
  /** Names by service, or by what services stand on. A service that is missing has none. */
  readonly names: Readonly<Record<string, readonly string[]>>;
}

/**
 * What Kolla publishes, by release. Tags are `<branch>-<distribution>-<version>`, one for each CPU architecture (kolla,
 * tests/playbooks/run.yml); names are the directories below docker/ of the branch.
 */
const images: ReadonlyMap<string, ImageFacts> = new Map([
  [
    '2025.1',
    {
      registry: 'quay.io/openstack.kolla',
      tag: '2025.1-debian-bookworm',
      names: {
        aodh: ['aodh-api', 'aodh-evaluator', 'aodh-listener', 'aodh-notifier', 'aodh-expirer'],
        barbican: ['barbican-api', 'barbican-worker', 'barbican-keystone-listener'],
        blazar: ['blazar-api', 'blazar-manager'],
        ceilometer: ['ceilometer-central', 'ceilometer-compute', 'ceilometer-ipmi', 'ceilometer-notification'],
        cinder: ['cinder-api', 'cinder-scheduler', 'cinder-volume', 'cinder-backup'],
        cloudkitty: ['cloudkitty-api', 'cloudkitty-processor'],
        cyborg: ['cyborg-api', 'cyborg-conductor', 'cyborg-agent'],
        designate: [
          'designate-api',
          'designate-central',
          'designate-producer',
          'designate-worker',
          'designate-mdns',
          'designate-sink',
          'designate-backend-bind9',
        ],
        etcd: ['etcd'],
        glance: ['glance-api'],
        gnocchi: ['gnocchi-api', 'gnocchi-metricd', 'gnocchi-statsd'],
        haproxy: ['haproxy', 'haproxy-ssh', 'keepalived', 'letsencrypt-lego', 'letsencrypt-webserver'],
        heat: ['heat-api', 'heat-api-cfn', 'heat-engine'],
        horizon: ['horizon'],
        ironic: ['ironic-api', 'ironic-conductor', 'ironic-pxe', 'ironic-prometheus-exporter', 'dnsmasq'],
        'ironic-inspector': ['ironic-inspector'],
        'ironic-neutron-agent': ['ironic-neutron-agent'],
        keystone: ['keystone', 'keystone-fernet', 'keystone-ssh'],
        magnum: ['magnum-api', 'magnum-conductor'],
        manila: ['manila-api', 'manila-scheduler', 'manila-share', 'manila-data'],
        mariadb: ['mariadb-server', 'mariadb-clustercheck', 'proxysql', 'proxysql-3'],
        masakari: ['masakari-api', 'masakari-engine'],
        'masakari-monitors': [
          'masakari-monitors',
          'hacluster-corosync',
          'hacluster-pacemaker',
          'hacluster-pacemaker-remote',
          'hacluster-pcs',
        ],
        memcached: ['memcached'],
        mistral: ['mistral-api', 'mistral-engine', 'mistral-executor', 'mistral-event-engine'],
        neutron: [
          'neutron-server',
          'neutron-openvswitch-agent',
          'neutron-ovn-agent',
          'neutron-metadata-agent',
          'neutron-dhcp-agent',
          'neutron-l3-agent',
          'neutron-metering-agent',
          'neutron-bgp-dragent',
          'neutron-sriov-agent',
          'neutron-mlnx-agent',
          'neutron-infoblox-ipam-agent',
        ],
        nova: [
          'nova-api',
          'nova-conductor',
          'nova-scheduler',
          'nova-compute',
          'nova-compute-ironic',
          'nova-libvirt',
          'nova-novncproxy',
          'nova-serialproxy',
          'nova-spicehtml5proxy',
          'nova-ssh',
        ],
        octavia: [
          'octavia-api',
          'octavia-worker',
          'octavia-health-manager',
          'octavia-housekeeping',
          'octavia-driver-agent',
        ],
        openvswitch: ['openvswitch-db-server', 'openvswitch-vswitchd', 'ovsdpdk-db', 'ovsdpdk-vswitchd'],
        ovn: ['ovn-controller', 'ovn-northd', 'ovn-nb-db-server', 'ovn-sb-db-server', 'ovn-sb-db-relay'],
        placement: ['placement-api'],
        rabbitmq: ['rabbitmq', 'rabbitmq-4-1'],
        redis: ['redis', 'redis-sentinel'],
        'skyline-apiserver': ['skyline-apiserver', 'skyline-console'],
        storage: ['iscsid', 'tgtd', 'multipathd'],
        tacker: ['tacker-server', 'tacker-conductor'],
        trove: ['trove-api', 'trove-conductor', 'trove-taskmanager', 'trove-guestagent'],
        valkey: ['valkey-server', 'valkey-sentinel'],
        venus: ['venus-api', 'venus-manager'],
        watcher: ['watcher-api', 'watcher-engine', 'watcher-applier'],
        zun: ['zun-api', 'zun-compute', 'zun-wsproxy', 'zun-cni-daemon', 'kuryr-libnetwork'],
      },
    },
  ],
]);

/** The images of a release; undefined when none is known by that name. */
export function imagesOf(release: string): ImageFacts | undefined {
  return images.get(release);
}
