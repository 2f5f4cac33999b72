import { cloudLabel, computeLabel } from '../../engine/names/names.ts';
import { rootOf } from '../../engine/names/roots.ts';
import type { Component, HostAccess, Mount, NodeAgent } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { agentsOf, type ClaimedGroup, type GroupAgents } from '../../engine/vocabulary/node-groups.ts';
import type { GeneratedSecret } from '../../engine/vocabulary/service.ts';
import type { NodeFacts } from '../../engine/vocabulary/surroundings.ts';
import { modules } from '../../infrastructure/ovn/chassis.ts';
import { keepsVolumesInLvm } from '../cinder/lvm.ts';
import { type Cell, cellsOf } from './cells.ts';
import { hasSecrets } from './ceph.ts';
import { migratesCold, sshAgent, sshMount, sshSecret } from './cold-migration.ts';
import type { ComputeAgents } from './configuration.ts';
import { consoleSecrets, hostMounts, showsByTls } from './console-tls.ts';
import { guestVariables, libvirtRequests, ownedByGuests } from './guests.ts';
import type { NodeGroup, Nova } from './kind.ts';
import { libvirtPort, migratesLive, migrationMount, migrationSecret, ownName } from './live-migration.ts';
import { ownState, startCompute, startComputeWithin, startLibvirt, startVirtlogd } from './scripts.ts';
import { traitFile, traitProblems } from './traits.ts';

/** The node groups: those of the spec, else one named `default`. */
export function groupsOf({ nodeGroups }: Pick<Nova['spec'], 'nodeGroups'>): readonly NodeGroup[] {
  return nodeGroups ?? [{ name: 'default' }];
}

/** The node groups, each with the number of nodes that it claims. */
export function claimedGroups(spec: Pick<Nova['spec'], 'nodeGroups' | 'computeReplicas'>): readonly ClaimedGroup[] {
  const { nodeGroups, computeReplicas } = spec;
  const replicas = computeReplicas === undefined ? {} : { replicas: computeReplicas };
  return nodeGroups ?? [{ name: 'default', isDefault: true, ...replicas }];
}

/** What is wrong with node groups: cells that do not exist, requests said twice, what only a control plane passes on to OVN. */
export function groupProblems(context: Context<Nova>): string[] {
  const { spec, resource } = context;
  const cells = cellsOf(context).map(({ name }) => name);
  const alone = rootOf(resource) === undefined;
  return groupsOf(spec).flatMap(({ name, cell, guests, bridgeMappings, tunnelNetwork, gateway, traits, config }) => {
    const at = `spec.nodeGroups[name=${name}]`;
    const stray = [
      ...(bridgeMappings === undefined ? [] : ['bridgeMappings']),
      ...(tunnelNetwork === undefined ? [] : ['tunnelNetwork']),
      ...(gateway === undefined ? [] : ['gateway']),
    ];
    return [
      ...(cell === undefined || cells.includes(cell)
        ? []
        : [`${at}.cell: there is no cell ${cell}; known are ${cells.join(', ')}`]),
      ...(guests === undefined || spec.components?.libvirt?.resources === undefined
        ? []
        : [`${at}.guests: conflicts with spec.components.libvirt.resources; remove one of the two`]),
      ...(traits === undefined ? [] : traitProblems(at, [spec.config, config])),
      ...(alone ? stray : []).map(
        (field) => `${at}.${field}: without a control plane, set it in spec.nodeGroups of the OVNNetwork`,
      ),
    ];
  });
}

/**
 * The nodes that are to be hosts: claimed for guests, and their agents have been up. One that is not up yet is left out,
 * so that it keeps no other from becoming a host; one that is off stays, so that nothing runs again when it comes back.
 */
export function computeNodes(context: Context<Nova>): readonly NodeFacts[] {
  return context.surroundings.nodes().filter(({ labels, joined }) => labels[computeLabel] === 'true' && joined);
}

interface Hypervisor extends GroupAgents {
  readonly name: string;
  readonly virtType: 'kvm' | 'qemu';
  readonly cell: Cell;
  readonly config: NodeGroup['config'];
  readonly guests: NodeGroup['guests'];
  readonly traits: NodeGroup['traits'];
}

/** What the hypervisors of each group are. */
function hypervisors(context: Context<Nova>): Hypervisor[] {
  const { spec } = context;
  const cells = cellsOf(context);
  return groupsOf(spec).map(({ name, virtType, cell, config, guests, traits }) => ({
    ...agentsOf(name),
    name,
    virtType: virtType ?? spec.virtType ?? 'kvm',
    cell: cells.find((one) => one.name === cell) ?? (cells[0] as Cell),
    config,
    guests,
    traits,
  }));
}

/** Secrets of hypervisors. */
export function computeSecrets(context: Context<Nova>): GeneratedSecret[] {
  const agents = hypervisors(context).map(({ suffix }) => `libvirt${suffix}`);
  return [
    ...(migratesLive(context.spec) ? [migrationSecret(context, agents)] : []),
    ...(migratesCold(context.spec) ? [sshSecret] : []),
    ...consoleSecrets(context, agents),
  ];
}

/** One set of configuration for each group. */
export function computeAgents(context: Context<Nova>): ComputeAgents[] {
  return hypervisors(context).map(({ suffix, name, virtType, cell, config, guests, traits }) => ({
    config: `compute${suffix}`,
    virtType,
    cell,
    files: traits === undefined ? {} : traitFile(traits),
    user: [{ path: `spec.nodeGroups[name=${name}].config`, config, owned: ownedByGuests(guests) }],
  }));
}

/**
 * The agents of a hypervisor, three pods: replacing one of them leaves the others, and all guests, alone (production
 * rules 1-4). nova-compute's host is its node, so it is a DaemonSet: two of one host, or a host that moves, would tear
 * servers from their records.
 */
export function computeComponents(context: Context<Nova>): Record<string, Component> {
  const hosts = { [cloudLabel]: context.cloud, [computeLabel]: 'true' };
  const nodeAgent = (group: Pick<GroupAgents, 'nodes'> = { nodes: {} }): NodeAgent => ({
    nodes: { ...hosts, ...group.nodes },
  });
  const groups = hypervisors(context);
  const migrates = migratesLive(context.spec);
  const copies = migratesCold(context.spec);
  const computes = groups.map(({ suffix, nodes, guests }): [string, Component] => [
    `compute${suffix}`,
    {
      ...agent('nova-compute', nodeAgent({ nodes }), wholeHost),
      variantOf: 'compute',
      config: `compute${suffix}`,
      init: [{ name: 'own-state', user: 'root', runs: { script: ownState } }],
      runs: { script: `${migrates ? ownName : ''}${guests === undefined ? startCompute : startComputeWithin}` },
      // Its files outlive it: only a connection that is alive says that it hears what it is asked.
      health: { connected: 'nova-compute', to: [`${context.broker.host}:${context.broker.port}`] },
      // Longer than nova's graceful_shutdown_timeout of 60 s.
      graceSeconds: 90,
      env: {
        OS_DEFAULT__HOST: { field: 'spec.nodeName' },
        OS_DEFAULT__MY_IP: { field: 'status.hostIP' },
        OS_VNC__SERVER_LISTEN: { field: 'status.hostIP' },
        OS_VNC__SERVER_PROXYCLIENT_ADDRESS: { field: 'status.hostIP' },
        ...(migrates ? { LIBVIRT_SERVICE: context.host(`libvirt${suffix}`) } : {}),
        ...guestVariables(guests),
      },
      mounts: [
        ...shared,
        ...(copies ? [sshMount(context)] : []),
        { path: '/run/openvswitch', host: 'DirectoryOrCreate' },
        modules,
        ...(logsIn(context) ? initiator : []),
      ],
      resources: { cpu: '50m', memory: '384Mi' },
    },
  ]);
  const libvirts = groups.map(({ suffix, nodes, guests }): [string, Component] => [
    `libvirt${suffix}`,
    {
      ...agent('nova-libvirt', nodeAgent({ nodes }), outliving),
      variantOf: 'libvirt',
      user: 'root',
      config: 'libvirt',
      runs: { script: startLibvirt({ secrets: hasSecrets(context), migrates, shows: showsByTls(context.spec) }) },
      health: { exec: ['virsh', '-c', 'qemu:///system', 'version'], periodSeconds: 10 },
      env: {
        POD_UID: { field: 'metadata.uid' },
        ...(migrates ? { HOST_IP: { field: 'status.hostIP' } } : {}),
        ...guestVariables(guests),
      },
      // Each host has a name by it.
      ...(migrates ? { ports: { libvirt: libvirtPort }, service: 'headless' as const } : {}),
      mounts: [
        ...shared,
        ...(migrates ? [migrationMount(context)] : []),
        ...hostMounts(context),
        { path: '/etc/libvirt/qemu', host: 'DirectoryOrCreate' },
        { path: '/etc/libvirt/secrets', host: 'DirectoryOrCreate' },
        { path: '/run/openvswitch', host: 'DirectoryOrCreate' },
        modules,
        cgroups,
      ],
      resources: libvirtRequests(guests),
    },
  ]);
  return {
    virtlogd: {
      ...agent('nova-libvirt', nodeAgent(), outliving),
      user: 'root',
      config: 'virtlogd',
      runs: { script: startVirtlogd },
      health: { exec: ['test', '-S', '/run/libvirt/virtlogd-sock'] },
      // virtlogd outlives its pod, and the pod's own files with it are gone (seen live: no further guest starts).
      mounts: [...shared, { path: '/var/log/libvirt', host: 'DirectoryOrCreate' }, cgroups],
      resources: { cpu: '10m', memory: '64Mi' },
    },
    ...(copies ? { ssh: sshAgent(context, nodeAgent()) } : {}),
    ...Object.fromEntries([...libvirts, ...computes]),
  };
}

function agent(image: string, nodeAgent: NodeAgent, host: HostAccess) {
  return { workload: 'DaemonSet', step: 'AgentsReady', image, nodeAgent, host } as const;
}

const wholeHost: HostAccess = { network: true, privileged: true };

/** What it starts outlives its pod. */
const outliving: HostAccess = { ...wholeHost, pid: true };

/** At the same paths as on the node, for all three: they hand paths to each other. */
const shared: readonly Mount[] = [
  { path: '/run/libvirt', host: 'DirectoryOrCreate', shared: true },
  { path: '/var/lib/libvirt', host: 'DirectoryOrCreate' },
  { path: '/var/lib/nova', host: 'DirectoryOrCreate', shared: true },
  // The node's own: a container's never shows terminals of guests, nor devices that are plugged in later.
  { path: '/dev', host: 'Directory' },
];

/** Whether volumes are reached by iSCSI. */
const logsIn = ({ surroundings }: Context<Nova>): boolean =>
  keepsVolumesInLvm(surroundings.peerSpec('Cinder') ?? {}, surroundings.peerRemembered('Cinder'));

/**
 * What nova-compute tells the node's iscsid by: the name of the node, and the records of sessions, which outlive pods (Debian
 * has them beside the name, others apart).
 */
const initiator: readonly Mount[] = ['/etc/iscsi', '/var/lib/iscsi', '/run/lock/iscsi'].map((path) => ({
  path,
  host: 'DirectoryOrCreate',
}));

/** All control groups of the node: a container sees only its own at /sys/fs/cgroup. */
const cgroups: Mount = { path: '/host/cgroup', host: 'Directory', from: '/sys/fs/cgroup' };
