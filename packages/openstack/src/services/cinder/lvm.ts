import type { Component, Mount } from '../../engine/vocabulary/component.ts';
import type { ConfigFiles } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { modules } from '../../infrastructure/ovn/chassis.ts';
import type { Layer } from '../../oslo/layers.ts';
import { backendsOf, pathOf } from '../backends.ts';
import { type Backend, type Cinder, lvmPort } from './kind.ts';

/**
 * Backends of type lvm: logical volumes of a node, which tgtd serves to others by iSCSI. tgtd has the node's network and a
 * Deployment of its own, whose template follows from little: whatever becomes of cinder-volume, servers keep their disks.
 * cinder-volume stays in the network of pods, from where it reaches the database, and runs beside it on the node.
 */

/** A backend of that type. */
export const isLvm = (backend: unknown): boolean => (backend as Partial<Backend> | null)?.type === 'lvm';

/** Those that are stated. Who may write ConfigMaps has none of them made, as they have their node's devices. */
export const lvmBackends = (spec: Partial<Cinder['spec']>): readonly Backend[] => backendsOf(spec).filter(isLvm);

/** Whether volumes are reached by iSCSI: those of backends that are stated, or of others that are remembered. */
export function keepsVolumesInLvm(
  spec: Partial<Cinder['spec']>,
  remembered: Readonly<Record<string, unknown>>,
): boolean {
  return [...backendsOf(spec), ...Object.values(remembered)].some(isLvm);
}

/** Where it lies, in words. */
export const groupOf = ({ lvmVolumeGroup, lvmNode }: Backend): string => `${lvmVolumeGroup} on ${lvmNode}`;

/** Where tgtd serves it, by field: nodes with attached volumes look for them there. */
export const portalOf = ({ lvmAddress = 'that of the node', lvmPort: port = lvmPort }: Backend) => ({
  lvmAddress,
  lvmPort: String(port),
});

/** What its section says. Passwords of CHAP are Cinder's: each volume has its own. */
export function lvmOptions({ lvmVolumeGroup = '', lvmThin = true, lvmAddress, lvmPort: port }: Backend): Layer[string] {
  return {
    volume_driver: 'cinder.volume.drivers.lvm.LVMVolumeDriver',
    volume_group: lvmVolumeGroup,
    lvm_type: lvmThin ? 'thin' : 'default',
    target_helper: 'tgtadm',
    ...(lvmAddress === undefined ? {} : { target_ip_address: lvmAddress }),
    ...(port === undefined ? {} : { target_port: port }),
  };
}

const exports = '/var/lib/cinder/volumes';

/** What is exported has a file each: cinder-volume writes it, and tgtd has it from there when it starts again. */
export const targetFiles: ConfigFiles = { '/etc/tgt/targets.conf': `include ${exports}/*\n` };

/** What both share on the node, until it is switched off: the socket of tgtd, and what is exported. */
function shared({ namespace, name }: Context<Cinder>, backend: Backend): readonly Mount[] {
  const own = `/run/cinder/${namespace}/${name}/${backend.name}`;
  return [
    { path: '/run/tgtd', host: 'DirectoryOrCreate', from: `${own}/tgtd` },
    { path: exports, host: 'DirectoryOrCreate', from: `${own}/volumes` },
    // The node's own: a container's never shows volumes that are made later.
    { path: '/dev', host: 'Directory' },
  ];
}

/** There alone, and whatever taint follows: the disks are nowhere else. */
const onNode = ({ lvmNode = '' }: Backend): NonNullable<Component['scheduling']> => ({
  nodeSelector: { 'kubernetes.io/hostname': lvmNode },
  tolerations: [{ operator: 'Exists' }],
});

/** What LVM shares with that of its node: locks, what is known of devices, copies of what groups are, and semaphores of udev. */
const ofLvm: readonly Mount[] = [
  { path: '/etc/lvm', host: 'DirectoryOrCreate' },
  { path: '/run/lvm', host: 'DirectoryOrCreate' },
  { path: '/run/lock/lvm', host: 'DirectoryOrCreate' },
  { path: '/run/udev', host: 'DirectoryOrCreate', readOnly: true },
  modules,
];

/** What the process of such a backend has beside what all have; `command` runs it. */
export function besideGroup(
  context: Context<Cinder>,
  backend: Backend,
  command: readonly string[],
): Pick<Component, 'host' | 'scheduling' | 'init' | 'runs' | 'env'> & { readonly mounts: readonly Mount[] } {
  return {
    runs: { script: awaitTarget, arguments: command },
    host: { privileged: true, ipc: true },
    scheduling: onNode(backend),
    init: [
      { name: 'volume-group', user: 'root', runs: { script: awaitGroup, arguments: [backend.lvmVolumeGroup ?? ''] } },
    ],
    env: {
      NODE_NAME: { field: 'spec.nodeName' },
      ...(backend.lvmAddress === undefined
        ? { OS_BACKEND_DEFAULTS__TARGET_IP_ADDRESS: { field: 'status.hostIP' } }
        : {}),
    },
    mounts: [...shared(context, backend), ...ofLvm],
  };
}

/** tgtd for each of these backends. */
export function targets(context: Context<Cinder>): Record<string, Component> {
  return Object.fromEntries(
    lvmBackends(context.spec).map((backend) => {
      const { name, lvmAddress, lvmPort: port = lvmPort } = backend;
      return [`target-${name}`, target(context, backend, { port, address: lvmAddress })];
    }),
  );
}

function target(
  context: Context<Cinder>,
  backend: Backend,
  { port, address }: { port: number; address: string | undefined },
): Component {
  return {
    workload: 'Deployment',
    variantOf: 'target',
    strategy: 'Recreate',
    image: 'tgtd',
    user: 'root',
    config: 'target',
    runs: { script: startTarget, arguments: [String(port)] },
    host: { network: true, privileged: true },
    scheduling: onNode(backend),
    ports: { iscsi: port },
    service: 'none',
    // It is not started again for being slow: that would stop all disks that it serves.
    health: { exec: ['test', '-f', serving] },
    env: { ADDRESS: address ?? { field: 'status.hostIP' } },
    mounts: shared(context, backend),
    graceSeconds: 10,
    resources: { cpu: '50m', memory: '256Mi' },
  };
}

const serving = '/run/tgtd/serving';

const startTarget = `# Serves the volumes of this node. Connections are closed until all that was exported before is there again: whoever comes
# back to a target that is not would be told that it does not exist.
rm -f ${serving}
case "$ADDRESS" in *:*) ADDRESS="[$ADDRESS]" ;; esac
tgtd -f --iscsi "portal=$ADDRESS:$1" &
tgtd=$!
# It takes no notice of SIGTERM. What was written is with the kernel.
trap 'rm -f ${serving}' EXIT
trap 'kill -KILL "$tgtd"; exit 0' TERM
until tgtadm --op update --mode sys --name State -v offline 2> /dev/null; do
  if ! kill -0 "$tgtd" 2> /dev/null; then wait "$tgtd"; exit 1; fi
  sleep 1
done
# Where it cannot listen as it is told, it listens elsewhere, or nowhere, and goes on.
if ! tgtadm --lld iscsi --op show --mode portal | grep -qF "Portal: $ADDRESS:$1,"; then
  echo "cannot listen at $ADDRESS:$1: the node has no such address, or another program listens there" >&2
  kill -KILL "$tgtd"
  exit 1
fi
tgt-admin --execute --ignore-errors
tgtadm --op update --mode sys --name State -v ready
touch ${serving}
wait "$tgtd"
`;

const awaitGroup = `if ! vgs --noheadings -o vg_name "$1"; then
  echo "cannot find volume group $1 on node $NODE_NAME: make it there (vgcreate $1 DEVICE), or bring its disks back" >&2
  exit 1
fi
# A node without LVM of its own has not done it.
vgchange --activate y "$1"
chown cinder ${exports}
chmod 0700 ${exports}
`;

const awaitTarget = `# cinder-volume puts attached volumes into error when it cannot export them at its start: it starts when it can.
if [ ! -f ${serving} ]; then echo 'waits for tgtd, which serves its volumes'; fi
until [ -f ${serving} ]; do sleep 1; done
exec "$@"
`;

/** Backends that would listen at the same port of a node: only one of them could. */
export function portProblems(spec: Partial<Cinder['spec']>): string[] {
  const all = lvmBackends(spec);
  return all.flatMap(({ name, lvmNode, lvmPort: port = lvmPort }, index) => {
    const same = all.slice(0, index).find((one) => one.lvmNode === lvmNode && (one.lvmPort ?? lvmPort) === port);
    return same === undefined
      ? []
      : [`${pathOf(name)}.lvmPort: backend ${same.name} has port ${port} of node ${lvmNode}; choose another`];
  });
}
