import {
  authtoken,
  cache,
  client,
  database,
  locks,
  logging,
  messaging,
  proxied,
  sections,
  trustOfApis,
} from '../../engine/configuration/sections.ts';
import { usualProcesses } from '../../engine/vocabulary/component.ts';
import type { ConfigFiles, UserLayer } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Layer } from '../../oslo/layers.ts';
import { secretReference } from '../../oslo/references.ts';
import { metadataSecret } from '../metadata.ts';
import { type Cell, cellsOf } from './cells.ts';
import { diskFiles, diskOptions, libvirtSecrets } from './ceph.ts';
import { migratesCold, sshClient, sshServer } from './cold-migration.ts';
import { consoleQemu, proxyOptions } from './console-tls.ts';
import { consoleProxy } from './control.ts';
import type { Nova } from './kind.ts';
import { migratesLive, migrationLibvirtd, migrationOptions, migrationQemu } from './live-migration.ts';

const file = '/etc/nova/nova.conf';

/**
 * Who knows what: API, scheduler and super-conductor know the API's database and cell0; a cell's proxies know their cell;
 * its conductor and what sets it up know that and the API's database; hypervisors know no database at all (production
 * rules 8, 16).
 */
export function configSets(context: Context<Nova>, agents: readonly ComputeAgents[]): Record<string, ConfigFiles> {
  const cells = cellsOf(context).flatMap((cell): [string, ConfigFiles][] => [
    [cell.name, { [file]: { oslo: sections(cellConfiguration(context, cell), proxyOptions(context)) } }],
    [`${cell.name}-manage`, { [file]: { oslo: manageConfiguration(context, cell) } }],
  ]);
  return {
    main: { [file]: { oslo: controlConfiguration(context) } },
    api: { [file]: { oslo: apiConfiguration(context) } },
    ...Object.fromEntries(cells),
    ...Object.fromEntries(agents.map((one) => [one.config, computeFiles(context, one)])),
    libvirt: {
      ...(migratesLive(context.spec)
        ? {
            '/etc/openstack/libvirtd.conf': `${migrationLibvirtd}${libvirtd}`,
            '/etc/openstack/qemu.conf': `${qemu}${migrationQemu}${consoleQemu(context)}`,
          }
        : {
            '/etc/openstack/libvirtd.conf': `${closed}${libvirtd}`,
            '/etc/libvirt/qemu.conf': `${qemu}${consoleQemu(context)}`,
          }),
      ...libvirtSecrets(context),
    },
    ...(migratesCold(context.spec) ? { ssh: sshServer } : {}),
    virtlogd: { '/etc/libvirt/virtlogd.conf': virtlogd },
  };
}

/** What agents of one kind of hypervisor share. */
export interface ComputeAgents {
  /** Name of their set of configuration. */
  readonly config: string;
  readonly virtType: 'kvm' | 'qemu';
  readonly cell: Cell;
  /** Files of their own beside nova.conf. */
  readonly files: ConfigFiles;
  /** What users say of their groups. */
  readonly user: readonly UserLayer[];
}

/** What sets a cell up, and finds its hosts: it knows the API's database as well. */
export function manageConfiguration(context: Context<Nova>, cell: Cell): Layer {
  return sections(cellConfiguration(context, cell), database(context, 'nova_api', 'api_database'));
}

/** By which of their endpoints others are called: from outside of the cluster by the public ones. */
type Interface = 'internal' | 'public';

/** What every process of Nova says. */
function common(context: Context<Nova>, from: Interface = 'internal'): Layer {
  const interfaces = { valid_interfaces: from };
  const { region_name: region, ...unregional } = client(context);
  return sections(logging, locks('nova'), {
    DEFAULT: { state_path: '/var/lib/nova' },
    glance: { region_name: context.region, ...interfaces, ...trustOfApis(context) },
    placement: { ...client(context), ...interfaces },
    neutron: { ...client(context), ...interfaces },
    keystone: { region_name: region ?? context.region, ...interfaces, ...trustOfApis(context) },
    // Its section knows no region.
    service_user: { send_service_user_token: true, ...unregional },
  });
}

/** Scheduler and super-conductor. */
function controlConfiguration(context: Context<Nova>): Layer {
  return sections(
    common(context),
    database(context, 'nova_api', 'api_database'),
    database(context, 'nova_cell0'),
    messaging(context),
    cache(context),
    {
      scheduler: { workers: usualProcesses, discover_hosts_in_cells_interval: -1 },
      conductor: { workers: usualProcesses },
    },
  );
}

/** The APIs: the same, and how they check tokens and answer agents on nodes. */
function apiConfiguration(context: Context<Nova>): Layer {
  const secret = metadataSecret(context.reference('neutronRef'));
  return sections(
    controlConfiguration(context),
    proxied,
    messaging(context, { pthreadHeartbeat: true }),
    authtoken(context),
    {
      wsgi: { api_paste_config: '/etc/nova/api-paste.ini' },
      neutron: {
        service_metadata_proxy: true,
        metadata_proxy_shared_secret: secretReference(secret, 'password', 'oslo'),
      },
    },
  );
}

/** A cell's proxies. */
function cellConfiguration(context: Context<Nova>, cell: Cell): Layer {
  const { consolePublicHostname } = context.spec;
  return sections(
    common(context),
    { database: { ...database(context, 'nova')['database'], connection: context.databaseUrl(cell.database) } },
    messaging(context, { vhost: cell.vhost }),
    cache(context),
    {
      conductor: { workers: usualProcesses },
      vnc: { enabled: true, novncproxy_host: '0.0.0.0', novncproxy_port: 6080 },
      ...(consolePublicHostname === undefined ? {} : { console: { allowed_origins: consolePublicHostname } }),
    },
  );
}

/** A hypervisor. Host name and addresses come from the pod, or the host, because they differ from node to node. */
export function computeConfiguration(
  context: Context<Nova>,
  { virtType, cell }: Pick<ComputeAgents, 'virtType' | 'cell'>,
  from: Interface = 'internal',
): Layer {
  return sections(common(context, from), messaging(context, { vhost: cell.vhost }), {
    DEFAULT: { compute_driver: 'libvirt.LibvirtDriver', instances_path: '/var/lib/nova/instances' },
    libvirt: {
      virt_type: virtType,
      // Emulation has no host's model to take over.
      ...(virtType === 'qemu' ? { cpu_mode: 'none' } : {}),
      connection_uri: 'qemu:///system',
      ...diskOptions(context),
      hw_machine_type: 'x86_64=q35,aarch64=virt',
      num_pcie_ports: 16,
    },
    os_vif_ovs: { ovsdb_connection: 'tcp:127.0.0.1:6640' },
    vnc: { enabled: true, novncproxy_base_url: consoleUrl(context, cell) },
  });
}

/** What concerns the control plane alone: an edit of these sections does not reach the nodes. */
const controlSections: ReadonlySet<string> = new Set([
  'api',
  'api_database',
  'cache',
  'cells',
  'conductor',
  'console',
  'consoleauth',
  'cors',
  'database',
  'filter_scheduler',
  'healthcheck',
  'keystone_authtoken',
  'metrics',
  'oslo_limit',
  'oslo_middleware',
  'oslo_policy',
  'quota',
  'scheduler',
  'wsgi',
]);

/** Whether hypervisors read a section of what users say. */
export const isOfCompute = (section: string): boolean => !controlSections.has(section);

function computeFiles(context: Context<Nova>, agents: ComputeAgents): ConfigFiles {
  return {
    [file]: {
      oslo: sections(computeConfiguration(context, agents), ...(migratesLive(context.spec) ? [migrationOptions] : [])),
      takes: isOfCompute,
      more: agents.user,
    },
    ...agents.files,
    ...diskFiles(context),
    ...(migratesCold(context.spec) ? sshClient : {}),
  };
}

/** Where users find the graphical consoles of a cell. */
export function consoleUrl(context: Context<Nova>, cell: Cell): string {
  const name = `${cell.name}-novncproxy`;
  const inside = `http://${context.host(name)}:6080`;
  return `${context.publicUrl(name, consoleProxy(context, cell.name)) ?? inside}/vnc_lite.html`;
}

const closed = `listen_tls = 0
listen_tcp = 0
`;

const libvirtd = `unix_sock_group = "nova"
unix_sock_rw_perms = "0770"
auth_unix_rw = "none"
auth_unix_ro = "none"
log_outputs = "3:stderr"
`;

const qemu = `user = "nova"
group = "nova"
# Guests stay where libvirtd is when it starts them: outside of the pod's namespaces and control groups.
namespaces = []
cgroup_controllers = []
remember_owner = 0
stdio_handler = "logd"
`;

// A guest writes its console as it pleases: without rotation it could fill the node's disk.
const virtlogd = `log_outputs = "3:stderr"
max_size = 2097152
max_backups = 3
`;
