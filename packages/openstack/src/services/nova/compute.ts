import { controllerOf } from '@openstack-operator/kube';
import type { NodeGroup, Nova } from '../../api/nova.ts';
import { OpenStackControlPlane } from '../../api/openstack-control-plane.ts';
import type { Context } from '../../engine/context.ts';
import { cloudLabel, computeLabel } from '../../engine/names.ts';
import { type ClaimedGroup, type Variant, variants } from '../../engine/node-groups.ts';
import type { Component, Mount, NodeAgent } from '../../engine/service.ts';
import type { NodeFacts } from '../../engine/surroundings.ts';
import { modules } from '../../infrastructure/chassis.ts';
import { type Cell, cellsOf } from './cells.ts';
import type { ComputeAgents } from './configuration.ts';
import { startCompute, startLibvirt, startVirtlogd } from './scripts.ts';

/** The node groups: those of the spec, else one named `default`. */
export function groupsOf({ nodeGroups }: Pick<Nova['spec'], 'nodeGroups'>): readonly NodeGroup[] {
  return nodeGroups ?? [{ name: 'default' }];
}

/** The node groups, each with the number of nodes that it claims. */
export function claimedGroups(spec: Pick<Nova['spec'], 'nodeGroups' | 'computeReplicas'>): readonly ClaimedGroup[] {
  const { nodeGroups, computeReplicas } = spec;
  return nodeGroups ?? [{ name: 'default', ...(computeReplicas === undefined ? {} : { replicas: computeReplicas }) }];
}

/** What is wrong with node groups: cells that do not exist, and what only a control plane can pass on to OVN. */
export function groupProblems(context: Context<Nova>): string[] {
  const { spec, resource } = context;
  const cells = cellsOf(context).map(({ name }) => name);
  const alone = controllerOf(resource)?.kind !== OpenStackControlPlane.kind;
  return groupsOf(spec).flatMap(({ name, cell, bridgeMappings, gateway }) => {
    const at = `spec.nodeGroups[name=${name}]`;
    const stray = [
      ...(bridgeMappings === undefined ? [] : ['bridgeMappings']),
      ...(gateway === undefined ? [] : ['gateway']),
    ];
    return [
      ...(cell === undefined || cells.includes(cell)
        ? []
        : [`${at}.cell: there is no cell ${cell}; known are ${cells.join(', ')}`]),
      ...(alone ? stray : []).map(
        (field) => `${at}.${field}: without a control plane, set it in spec.nodeGroups of the OVNNetwork`,
      ),
    ];
  });
}

/** The claimed nodes that run guests: those of Nova's groups, not those that are mere chassis. */
export function computeNodes(context: Context<Nova>): readonly NodeFacts[] {
  return context.surroundings.nodes.filter(({ labels }) => labels[computeLabel] === 'true');
}

interface Hypervisor {
  readonly virtType: 'kvm' | 'qemu';
  readonly cell: Cell;
  readonly config: NodeGroup['config'];
}

/** Groups whose hypervisors differ, each with the groups that are alike. */
function hypervisors(context: Context<Nova>): Variant<Hypervisor>[] {
  const { spec } = context;
  const cells = cellsOf(context);
  const groups = groupsOf(spec).map(({ name, virtType, cell, config }) => ({
    name,
    value: {
      virtType: virtType ?? spec.virtType ?? 'kvm',
      cell: cells.find((one) => one.name === cell) ?? (cells[0] as Cell),
      config,
    },
  }));
  return variants(groups);
}

/** One set of configuration for each kind of hypervisor. */
export function computeAgents(context: Context<Nova>): ComputeAgents[] {
  return hypervisors(context).map(({ suffix, groups, value: { virtType, cell, config } }) => ({
    config: `compute${suffix}`,
    virtType,
    cell,
    user: [
      { path: `spec.nodeGroups[name=${(groups ?? groupsOf(context.spec).map(({ name }) => name))[0]}].config`, config },
    ],
  }));
}

/**
 * The agents of a hypervisor, three pods: replacing one of them leaves the others, and all guests, alone (production
 * rules 1-4). nova-compute's host is its node, so it is a DaemonSet: two of one host, or a host that moves, would tear
 * servers from their records.
 */
export function computeComponents(context: Context<Nova>): Record<string, Component> {
  const nodes = { [cloudLabel]: context.cloud, [computeLabel]: 'true' };
  const nodeAgent = (groups?: readonly string[]): NodeAgent => ({
    nodes,
    ...(groups === undefined ? {} : { groups }),
    privileged: true,
  });
  const computes = hypervisors(context).map(({ suffix, groups }): [string, Component] => [
    `compute${suffix}`,
    {
      ...agent('nova-compute', nodeAgent(groups)),
      variantOf: 'compute',
      config: `compute${suffix}`,
      init: [{ name: 'own-state', user: 'root', runs: { command: ['chown', '42436:42436', '/var/lib/nova'] } }],
      runs: { script: startCompute },
      health: { exec: ['test', '-s', '/var/lib/nova/compute_id'] },
      // Longer than nova's graceful_shutdown_timeout of 60 s.
      graceSeconds: 90,
      env: {
        OS_DEFAULT__HOST: { field: 'spec.nodeName' },
        OS_DEFAULT__MY_IP: { field: 'status.hostIP' },
        OS_VNC__SERVER_LISTEN: { field: 'status.hostIP' },
        OS_VNC__SERVER_PROXYCLIENT_ADDRESS: { field: 'status.hostIP' },
      },
      mounts: [...shared, { path: '/run/openvswitch', host: 'DirectoryOrCreate' }, modules],
      resources: { cpu: '50m', memory: '384Mi' },
    },
  ]);
  const outliving: NodeAgent = { ...nodeAgent(), hostPID: true };
  return {
    virtlogd: {
      ...agent('nova-libvirt', outliving),
      user: 'root',
      config: 'virtlogd',
      runs: { script: startVirtlogd },
      health: { exec: ['test', '-S', '/run/libvirt/virtlogd-sock'] },
      // virtlogd outlives its pod, and the pod's own files with it are gone (seen live: no further guest starts).
      mounts: [...shared, { path: '/var/log/libvirt', host: 'DirectoryOrCreate' }, cgroups],
      resources: { cpu: '10m', memory: '64Mi' },
    },
    libvirt: {
      ...agent('nova-libvirt', outliving),
      user: 'root',
      config: 'libvirt',
      runs: { script: startLibvirt },
      health: { exec: ['virsh', '-c', 'qemu:///system', 'version'], periodSeconds: 10 },
      env: { POD_UID: { field: 'metadata.uid' } },
      mounts: [
        ...shared,
        { path: '/etc/libvirt/qemu', host: 'DirectoryOrCreate' },
        { path: '/etc/libvirt/secrets', host: 'DirectoryOrCreate' },
        { path: '/run/openvswitch', host: 'DirectoryOrCreate' },
        modules,
        cgroups,
      ],
      resources: { cpu: '50m', memory: '256Mi' },
    },
    ...Object.fromEntries(computes),
  };
}

function agent(image: string, nodeAgent: NodeAgent) {
  return { workload: 'DaemonSet', step: 'AgentsReady', image, nodeAgent } as const;
}

/** At the same paths as on the node, for all three: they hand paths to each other. */
const shared: readonly Mount[] = [
  { path: '/run/libvirt', host: 'DirectoryOrCreate', shared: true },
  { path: '/var/lib/libvirt', host: 'DirectoryOrCreate' },
  { path: '/var/lib/nova', host: 'DirectoryOrCreate', shared: true },
  // The node's own: a container's never shows terminals of guests, nor devices that are plugged in later.
  { path: '/dev', host: 'Directory' },
];

/** All control groups of the node: a container sees only its own at /sys/fs/cgroup. */
const cgroups: Mount = { path: '/host/cgroup', host: 'Directory', from: '/sys/fs/cgroup' };
