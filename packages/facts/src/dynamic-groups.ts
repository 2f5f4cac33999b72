import { type OptionFacts, optionOf } from './option-facts.ts';

/** Groups whose names no package lists: any of them has the options of known ones. */
export interface DynamicGroup {
  /** `[group] option` whose value names the groups; without it and without `names`: any group that has an `auth_type`. */
  readonly namedBy?: readonly [group: string, option: string];
  /** The names are the keys of the value, `name:driver`, not its elements. */
  readonly keys?: true;
  /** What stands before a name in the name of the group. */
  readonly prefix?: string;
  /** Names that are always there. */
  readonly names?: readonly string[];
  /** Groups whose options such a group may have, as the facts name them. */
  readonly options: readonly string[];
  /** Options that no known group has. */
  readonly own?: readonly OptionFacts[];
}

/** How a client of keystoneauth logs in and connects, beside the options of its plug-in. */
const session = (service: string): readonly OptionFacts[] => [
  ...['auth_section', 'auth_type', 'cafile', 'certfile', 'keyfile'].map((name) =>
    optionOf(service, ['*', name, 'string', null]),
  ),
  optionOf(service, ['*', 'insecure', 'boolean', 'false']),
  optionOf(service, ['*', 'timeout', 'integer', null]),
];

/**
 * What no package says of itself. cinder/volume/manager.py and glance_store/multi_backend.py read a group for each name,
 * manila/share/manager.py as well; so does Designate for each handler of its sink (designate/plugin.py). Nova's groups of
 * mediated devices are registered by nova/conf/devices.py, and Glance's own two stores by glance/common/store_utils.py; two
 * options that each of its stores has stand in no list (glance_store/driver.py).
 * Keystone registers `remote_id_attribute` for each protocol of federation (keystone/federation/utils.py).
 * Contexts of oslo.privsep have a group each (nova/privsep, cinder/privsep, neutron/privileged, os_brick/privileged, and the
 * plug-ins of os-vif); Glance lists no options of it at all.
 * manila/coordination.py registers `backend_url` of `[coordination]`, which manila/opts.py lists in `[DEFAULT]`;
 * of NetApp's driver it leaves two lists out (manila/share/drivers/netapp/options.py).
 * octavia/common/config.py registers the options of a client of keystoneauth in `[neutron]`, and lists them nowhere.
 * cinder/service_auth.py registers `auth_type` of `[service_user]`, which cinder/opts.py does not list.
 * CloudKitty registers those of a client where it collects and where it finds projects (cloudkitty/collector/gnocchi.py,
 * cloudkitty/fetcher/gnocchi.py and keystone.py); Vitrage in `[service_credentials]` (vitrage/keystone_client.py).
 * Those of other drivers (type drivers of ML2, providers of Octavia, backends of Designate) have fixed names.
 */
const named: Readonly<Record<string, readonly DynamicGroup[]>> = {
  cinder: [
    { namedBy: ['DEFAULT', 'enabled_backends'], options: ['backend_defaults', 'backend', 'DEFAULT'] },
    { names: ['service_user'], options: [], own: [optionOf('cinder', ['service_user', 'auth_type', 'string', null])] },
    { names: ['cinder_sys_admin', 'privsep_osbrick'], options: ['privsep'] },
  ],
  cloudkitty: [
    { names: ['collector_gnocchi', 'fetcher_gnocchi', 'fetcher_keystone'], options: [], own: session('cloudkitty') },
  ],
  designate: [
    {
      namedBy: ['service:sink', 'enabled_notification_handlers'],
      prefix: 'handler:',
      options: ['handler:nova_fixed'],
    },
  ],
  glance: [
    {
      namedBy: ['DEFAULT', 'enabled_backends'],
      keys: true,
      names: ['os_glance_staging_store', 'os_glance_tasks_store'],
      options: ['glance_store'],
      own: [
        optionOf('glance', ['*', 'store_description', 'string', null]),
        optionOf('glance', ['*', 'weight', 'integer', '0']),
      ],
    },
    {
      names: ['privsep_osbrick'],
      options: [],
      own: [
        optionOf('glance', ['*', 'capabilities', 'list', '']),
        optionOf('glance', ['*', 'helper_command', 'string', null]),
      ],
    },
  ],
  keystone: [
    {
      namedBy: ['auth', 'methods'],
      names: ['openid', 'saml2'],
      options: [],
      own: [optionOf('keystone', ['*', 'remote_id_attribute', 'string', null])],
    },
  ],
  manila: [
    {
      namedBy: ['DEFAULT', 'enabled_share_backends'],
      options: ['DEFAULT'],
      own: ['netapp_vserver', 'netapp_cluster_name', 'netapp_trace_flags', 'netapp_api_trace_pattern'].map((name) =>
        optionOf('manila', ['*', name, 'string', null]),
      ),
    },
    {
      names: ['coordination'],
      options: [],
      own: [optionOf('manila', ['coordination', 'backend_url', 'string', 'file://$state_path', { secret: true }])],
    },
  ],
  neutron: [
    {
      names: ['conntrack', 'dhcp_release', 'link', 'namespace', 'ovs_vsctl'].map((name) => `privsep_${name}`),
      options: ['privsep'],
    },
  ],
  nova: [
    {
      namedBy: ['devices', 'enabled_mdev_types'],
      prefix: 'mdev_',
      options: [],
      own: [
        optionOf('nova.conf', ['mdev_*', 'device_addresses', 'list', '']),
        optionOf('nova.conf', ['mdev_*', 'max_instances', 'integer', null, { min: 1 }]),
        optionOf('nova.conf', ['mdev_*', 'mdev_class', 'string', 'VGPU']),
      ],
    },
    {
      names: ['nova_sys_admin', 'privsep_osbrick', 'vif_plug_linux_bridge_privileged', 'vif_plug_ovs_privileged'],
      options: ['privsep'],
    },
  ],
  octavia: [
    {
      names: ['neutron'],
      options: [],
      own: [
        ...['auth_type', 'endpoint_override', 'region_name', 'service_name', 'service_type'].map((name) =>
          optionOf('octavia', ['neutron', name, 'string', null]),
        ),
        optionOf('octavia', ['neutron', 'valid_interfaces', 'list', null]),
      ],
    },
  ],
  vitrage: [{ names: ['service_credentials'], options: [], own: session('vitrage') }],
};

/** Further sources of configuration (oslo_config/sources): a group for each name, in every program. */
const sources: DynamicGroup = {
  namedBy: ['DEFAULT', 'config_source'],
  options: ['sample_castellan_source', 'sample_remote_file_source'],
};

/** The dynamic groups of a service; options of a plug-in of keystoneauth stand in any group that has an `auth_type`. */
export function dynamicGroupsOf(service: string, options: readonly OptionFacts[]): readonly DynamicGroup[] {
  const places = new Set(options.map(({ group, name }) => `${group}/${name}`));
  const groups = new Set(options.map(({ group }) => group));
  const known = [...(named[service] ?? []), sources].flatMap((dynamic) =>
    dynamic.namedBy === undefined || places.has(dynamic.namedBy.join('/'))
      ? [{ ...dynamic, options: dynamic.options.filter((group) => groups.has(group)) }]
      : [],
  );
  const authenticates = options.some(({ name }) => name === 'auth_type');
  return authenticates ? [...known, { options: [] }] : known;
}
