import type { BridgeMapping } from '../../api/node-groups.ts';
import { cloudLabel } from '../../engine/names/names.ts';
import { clientCertificate, clientMount, issuerOf } from '../../engine/vocabulary/certificate.ts';
import type { Component, HostAccess, Mount, Variable } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { agentsOf } from '../../engine/vocabulary/node-groups.ts';
import { databases } from './databases.ts';
import type { ChassisGroup, OVNNetwork } from './kind.ts';
import { applySettings } from './ovs-settings.ts';
import { remotesOf } from './raft.ts';

/**
 * The agents of every node: Open vSwitch's database and switch, ovn-controller, and, apart from them, what they are
 * told. Each is a DaemonSet of its own, so that replacing one does not take the others along, and an edit of bridge
 * mappings rolls only the settings, never the data path (production rule 6).
 */
export function chassisComponents(context: Context<OVNNetwork>): Record<string, Component> {
  const nodeAgent = { nodes: { [cloudLabel]: context.cloud } };
  return {
    'ovsdb-server': {
      ...agent('openvswitch-db-server'),
      nodeAgent,
      runs: { script: startDatabase },
      health: { exec: ['ovs-vsctl', '--timeout=3', '--no-wait', 'show'] },
      mounts: [...sockets, { path: '/var/lib/openvswitch', host: 'DirectoryOrCreate' }],
    },
    'ovs-vswitchd': {
      ...agent('openvswitch-vswitchd', { privileged: true }),
      nodeAgent,
      runs: { script: startSwitch },
      health: { exec: ['ovs-appctl', '-T', '3', '-t', '/run/openvswitch/ovs-vswitchd.ctl', 'version'] },
      mounts: [...sockets, modules, { path: '/dev/net/tun', host: 'CharDevice' }],
      resources: { cpu: '50m', memory: '256Mi' },
    },
    ...settings(context),
    'ovn-controller': {
      ...agent('ovn-controller', { capabilities: ['NET_ADMIN'] }),
      nodeAgent,
      runs: { script: startController },
      // The command succeeds whatever it says, and what it says is how the roll of other nodes goes on.
      health: { exec: ['bash', '-c', isConnected], periodSeconds: 10 },
      mounts: [...sockets, { path: '/run/ovn', scratch: true }],
      resources: { cpu: '25m', memory: '256Mi' },
    },
  };
}

/** Whether ovn-controller has the southbound database. */
const isConnected = '[ "$(ovn-appctl -t /run/ovn/ovn-controller.ctl connection-status)" = connected ]';

/** Of the node's kernel; one that has no modules has no such directory. */
export const modules: Mount = { path: '/lib/modules', host: 'DirectoryOrCreate', readOnly: true };

const sockets = [{ path: '/run/openvswitch', host: 'DirectoryOrCreate' }] as const;

function agent(image: string, host: HostAccess = { capabilities: [] }) {
  return {
    workload: 'DaemonSet',
    step: 'AgentsReady',
    image,
    user: 'root',
    host: { network: true, ...host },
    resources: { cpu: '10m', memory: '64Mi' },
  } as const;
}

/** A DaemonSet for each group. */
function settings(context: Context<OVNNetwork>): Record<string, Component> {
  const { spec } = context;
  const stated: readonly ChassisGroup[] = spec.nodeGroups ?? [];
  const groups = stated.length > 0 ? stated : [{ name: 'default' }];
  const bridgesOf = ({ bridgeMappings }: ChassisGroup) => bridgeMappings ?? spec.bridgeMappings ?? [];
  const wired = new Set(
    groups.flatMap(bridgesOf).flatMap((mapping) => (mapping.interface === undefined ? [] : [mapping.physicalNetwork])),
  );
  // Where no group names an uplink of a network, somebody may have put them into the bridges by hand.
  const endsNowhere = (mapping: BridgeMapping) => mapping.interface === undefined && wired.has(mapping.physicalNetwork);
  const components = groups.map((group): [string, Component] => {
    const { gateway = !bridgesOf(group).some(endsNowhere), tunnelNetwork } = group;
    const { suffix, nodes } = agentsOf(group.name);
    const env: Record<string, Variable> = {
      NODE_NAME: { field: 'spec.nodeName' },
      NODE_IP: { field: 'status.hostIP' },
      SOUTHBOUND: remotesOf(context, databases.southbound),
      CMS_OPTIONS: gateway ? 'enable-chassis-as-gw' : '',
      // network bridge interface; no interface is `-`; `own`: it may be the one that carries the node's address
      BRIDGES: bridgesOf(group)
        .map(({ physicalNetwork, bridge, interface: port, allowNodeInterface }) =>
          [physicalNetwork, bridge, port ?? '-', ...(allowNodeInterface === true ? ['own'] : [])].join(' '),
        )
        .join('\n'),
      ...(tunnelNetwork === undefined ? {} : { TUNNEL_NETWORK: tunnelNetwork }),
    };
    return [
      `ovs-settings${suffix}`,
      {
        ...agent('openvswitch-vswitchd'),
        nodeAgent: { nodes: { [cloudLabel]: context.cloud, ...nodes } },
        variantOf: 'ovs-settings',
        strategy: 'RollingUpdate',
        runs: { script: applySettings(clientCertificate(issuerOf(context.resource))) },
        health: { exec: ['test', '-f', '/tmp/applied'] },
        env,
        mounts: [...sockets, clientMount(context)],
      },
    ];
  });
  return Object.fromEntries(components);
}

const startDatabase = `# Open vSwitch's database of this node. Only one may answer on the node's socket.
database=/var/lib/openvswitch/conf.db
schema=/usr/share/openvswitch/vswitch.ovsschema
socket=/run/openvswitch/db.sock
if ovsdb-client --timeout=3 list-dbs "unix:$socket" > /dev/null 2>&1; then
  echo "another Open vSwitch answers on $socket of this node (the cluster's own network?): a node can have only one" >&2
  exit 1
fi
# Made beside its place: what is left when the pod ends meanwhile is no database. An empty one is not made anew, as it may
# be what is left of one that was full.
if [ ! -f "$database" ]; then
  rm -f "$database.new"
  ovsdb-tool create "$database.new" "$schema"
  mv "$database.new" "$database"
elif [ "$(ovsdb-tool needs-conversion "$database" "$schema")" = yes ]; then
  ovsdb-tool convert "$database" "$schema"
fi
exec ovsdb-server "$database" -vconsole:info -vfile:off -vsyslog:off \\
  --remote="punix:$socket" --remote=ptcp:6640:127.0.0.1 --remote=db:Open_vSwitch,Open_vSwitch,manager_options \\
  --pidfile=/run/openvswitch/ovsdb-server.pid --unixctl=/run/openvswitch/ovsdb-server.ctl
`;

/**
 * What the kernel's datapath does by itself, seen live in user space: Open vSwitch writes an interface's flags back as it
 * first saw them, which takes a guest's down that libvirt has just put up (one boot in five had no network); and it goes
 * on listening to an interface that is gone, when another of its name follows at once (each soft reboot).
 */
const keepInterfaces = `  ip -oneline monitor link | while read -r index name flags; do
    case "$index $name $flags" in
      'Deleted '*' tap'*)
        # Another port number than it has makes Open vSwitch open it anew.
        ovs-vsctl --timeout=5 --no-wait --if-exists set interface "\${flags%%[:@]*}" \\
          "ofport_request=$((30000 + \${name%%:*} % 30000))" || true
        ;;
      *' tap'*,UP*) ;;
      *' tap'*) ip link set "\${name%%[:@]*}" up 2> /dev/null || true ;;
    esac
  done &
`;

const startSwitch = `# The switch of this node, in the kernel where the kernel can, else in user space: found out once, then kept, because
# a change would take every guest's network away.
until ovs-vsctl --timeout=5 --no-wait init; do sleep 1; done
known=$(ovs-vsctl --timeout=5 --no-wait --if-exists get open_vswitch . external_ids:ovn-bridge-datapath-type)
case "$known" in
  *netdev*) datapath=netdev ;;
  *system*) datapath=system ;;
  *)
    datapath=netdev
    if [ -d /sys/module/openvswitch ] || modprobe -q openvswitch; then datapath=system; fi
    ;;
esac
echo "datapath: $datapath"
# Without it guests' TCP packets have no valid checksums in user space.
offload=false
if [ "$datapath" = netdev ]; then offload=true; fi
ovs-vsctl --timeout=5 --no-wait set open_vswitch . "external_ids:ovn-bridge-datapath-type=$datapath" \\
  "other_config:userspace-tso-enable=$offload"
if [ "$datapath" = netdev ]; then
${keepInterfaces}fi
exec ovs-vswitchd unix:/run/openvswitch/db.sock -vconsole:info -vfile:off -vsyslog:off \\
  --pidfile=/run/openvswitch/ovs-vswitchd.pid --unixctl=/run/openvswitch/ovs-vswitchd.ctl
`;

const startController = `# OVN's agent of this node. SIGTERM leaves its chassis and its flows in place.
until ovs-vsctl --timeout=2 get open_vswitch . external_ids:ovn-remote; do sleep 1; done
exec ovn-controller unix:/run/openvswitch/db.sock -vconsole:info -vfile:off -vsyslog:off \\
  --pidfile=/run/ovn/ovn-controller.pid --unixctl=/run/ovn/ovn-controller.ctl
`;
