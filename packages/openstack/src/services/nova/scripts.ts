import type { Job } from '../../engine/vocabulary/service.ts';
import { endFormer, former } from '../../infrastructure/outliving.ts';
import { secretsDirectory } from './ceph.ts';
import { giveConsoleCertificates } from './console-tls.ts';
import { giveCertificates } from './live-migration.ts';

/**
 * Leaves the pod's control groups, in every hierarchy of version 1 and in version 2: what is started from here on is
 * not killed with the pod. Run on version 1 and the hybrid layout; `0` is the writing process itself.
 */
const leaveControlGroups = `groups=0
for hierarchy in /host/cgroup /host/cgroup/*/; do
  hierarchy=\${hierarchy%/}
  if [ ! -f "$hierarchy/cgroup.procs" ]; then continue; fi
  own="$hierarchy/openstack/guests"
  mkdir -p "$own"
  # New groups of version 1 have no processors and no memory until they are given some, from the top down.
  for file in cpuset.cpus cpuset.mems; do
    if [ -f "$hierarchy/$file" ]; then
      cat "$hierarchy/$file" > "$hierarchy/openstack/$file"
      cat "$hierarchy/$file" > "$own/$file"
    fi
  done
  echo 0 > "$own/cgroup.procs"
  groups=$((groups + 1))
  # Version 2 is one tree: its directories are no hierarchies of their own.
  if [ -f "$hierarchy/cgroup.controllers" ] && [ "$hierarchy" = /host/cgroup ]; then break; fi
done
echo "left the pod's control groups in $groups hierarchies"
if grep -q kubepods /proc/self/cgroup; then
  echo 'still in a control group of kubepods: guests would be killed with this pod' >&2
  exit 1
fi
`;

/**
 * Gives guests as much of the processors as the group of all pods gets, when both want them: the kubelet weighs that by
 * the processors of the node (`cpu.shares`, or `cpu.weight` as runc converts it). A new group weighs as one processor.
 */
const weighGuests = `processors=\${GUESTS_CPUS:-$(grep -c '^processor' /proc/cpuinfo)}
if [ "$processors" -gt 256 ]; then processors=256; fi
for group in /host/cgroup/openstack /host/cgroup/*/openstack; do
  if [ -f "$group/cpu.shares" ]; then echo "$((processors * 1024))" > "$group/cpu.shares"; fi
  if [ -f "$group/cpu.weight" ]; then echo "$((1 + (processors * 1024 - 2) * 9999 / 262142))" > "$group/cpu.weight"; fi
done
`;

/**
 * libvirtd. The identity of its host is the node's: live migration refuses two hosts with the same one. Outside of the
 * pod's control groups and in the node's process namespace, it survives when its container is killed (seen live), and
 * holds the files of its successor: that one ends it first.
 */
const libvirtOf = (
  before: string,
  { migrates, shows }: Pick<LibvirtUse, 'migrates' | 'shows'>,
) => `# libvirtd of this node. Its guests outlive it.
${migrates ? giveCertificates : ''}${shows ? giveConsoleCertificates : ''}${leaveControlGroups}${weighGuests}identity=/var/lib/libvirt/host-uuid
if [ ! -s "$identity" ]; then echo "$POD_UID" > "$identity"; fi
cat /etc/openstack/libvirtd.conf > /etc/libvirt/libvirtd.conf
echo "host_uuid = \\"$(cat "$identity")\\"" >> /etc/libvirt/libvirtd.conf
${migrates ? narrow : ''}if [ -c /dev/kvm ]; then chmod 666 /dev/kvm; fi
mkdir -p /var/lib/libvirt/qemu /run/libvirt/qemu
${endFormer('libvirtd')}${before}until [ -S /run/libvirt/virtlogd-sock ]; do sleep 1; done
# Guests inherit it. To ask for more than the node grants, in qemu.conf, would keep every guest from starting.
ulimit -Sn "$(ulimit -Hn)"
# Guests inherit it, too. The kubelet gives a pod that is system-node-critical -997: where memory runs out, the kernel would
# kill databases and other pods before any guest.
echo 0 > /proc/$$/oom_score_adj
exec libvirtd --pid-file "$pidfile"${migrates ? ' --listen' : ''}
`;

/** Other hosts are served at the address of the node alone. */
const narrow = `echo "listen_addr = \\"$HOST_IP\\"" >> /etc/libvirt/libvirtd.conf
cat /etc/openstack/qemu.conf > /etc/libvirt/qemu.conf
echo "migration_address = \\"$HOST_IP\\"" >> /etc/libvirt/qemu.conf
`;

/** What a libvirtd is for, beside guests with disks on its node. */
export interface LibvirtUse {
  /** It knows keys of users of Ceph, which it reads when it starts. */
  readonly secrets: boolean;
  /** It takes servers of other hosts, and gives them its own. */
  readonly migrates: boolean;
  /** Its guests show their screens by TLS. */
  readonly shows: boolean;
}

/** libvirtd. */
export const startLibvirt = ({ secrets, ...use }: LibvirtUse): string => libvirtOf(secrets ? giveSecrets : '', use);

const giveSecrets = `mkdir -p /etc/libvirt/secrets
chmod 700 /etc/libvirt/secrets
for file in ${secretsDirectory}/*; do
  cat "$file" > "/etc/libvirt/secrets/\${file##*/}"
  chmod 600 "/etc/libvirt/secrets/\${file##*/}"
done
`;

/**
 * virtlogd, which writes the guests' consoles and cuts them. It outlives its pod, because a guest's console ends with the
 * pipe to the process that it began with (seen live): a later pod keeps watch over it, and takes its place when no guest
 * is left.
 */
export const startVirtlogd = `# Writes the consoles of this node's guests.
log=/run/libvirt/virtlogd.log
mkdir -p /run/libvirt /var/log/libvirt/qemu
${former('virtlogd')}if runs "$pid" && ! cat /proc/[0-9]*/comm 2> /dev/null | grep -q '^qemu-'; then
  kill "$pid"
  while runs "$pid"; do sleep 1; done
fi
if runs "$pid"; then
  echo "virtlogd $pid of an earlier pod goes on: guests write their consoles to it"
  while runs "$pid"; do sleep 5; done
else
  rm -f "$pidfile"
  # Its words go to a file: the pod's own pipe would break with the pod.
  (
${leaveControlGroups}exec virtlogd --pid-file "$pidfile"
  ) > "$log" 2>&1 &
  wait $! || true
fi
echo 'virtlogd has ended' >&2
cat "$log" >&2
exit 1
`;

/** The disks of guests may be a file system of its own, which belongs to root when it is made. */
export const ownState = `# What nova-compute writes belongs to it.
mkdir -p /var/lib/nova/instances
chown 42436:42436 /var/lib/nova /var/lib/nova/instances
`;

/** nova-compute, which needs libvirtd first; `before` runs before it is waited for. */
const computeOf = (before: string) => `# nova-compute of this node.
mkdir -p /var/lib/nova/instances /var/lib/nova/tmp
${before}until [ -S /run/libvirt/libvirt-sock ]; do sleep 1; done
exec nova-compute --config-file /etc/nova/nova.conf
`;

/** nova-compute whose guests may use the whole node. */
export const startCompute = computeOf('');

/**
 * nova-compute whose guests may use a part of the node: Nova is told what is left of it, which only the node knows. It
 * counts disks in whole GiB and rounds up what is reserved, so that the disk's size is rounded down here as well.
 */
export const startComputeWithin = computeOf(`reserve() {
  if [ -n "$2" ]; then export "OS_DEFAULT__RESERVED_HOST_$1=$(($3 > $2 ? $3 - $2 : 0))"; fi
}
memory=$(grep '^MemTotal:' /proc/meminfo | tr -dc 0-9)
disk=$(df -k --output=size /var/lib/nova/instances | tail -n 1)
reserve CPUS "\${GUESTS_CPUS-}" "$(grep -c '^processor' /proc/cpuinfo)"
reserve MEMORY_MB "\${GUESTS_MEMORY_MB-}" "$((memory / 1024))"
reserve DISK_MB "\${GUESTS_DISK_MB-}" "$((disk / 1048576 * 1024))"
`);

/** Maps cell0 and one cell; a second run brings the mappings up to date. */
export const setUpCells = `# Cells are templates: every process fills in its own account.
# nova-manage tells of errors on its standard output.
cells=$(nova-manage cell_v2 list_cells) || { status=$?; echo "$cells" >&2; exit "$status"; }
uuid() { echo "$cells" | grep "^| *$1 *|" | cut -d '|' -f 3 | tr -d ' '; }
cell0=$(uuid cell0)
if [ -n "$cell0" ]; then
  # An existing mapping is left as it is by map_cell0.
  nova-manage cell_v2 update_cell --cell_uuid "$cell0" --name cell0 \\
    --database_connection "$CELL0_DATABASE" --transport-url none:///
else
  nova-manage cell_v2 map_cell0 --database_connection "$CELL0_DATABASE"
fi
cell=$(uuid "$CELL_NAME")
if [ -n "$cell" ]; then
  nova-manage cell_v2 update_cell --cell_uuid "$cell" --name "$CELL_NAME" \\
    --database_connection "$CELL_DATABASE" --transport-url "$CELL_TRANSPORT"
else
  # With templates Nova cannot tell that a cell is there already: only the list above can.
  nova-manage cell_v2 create_cell --name "$CELL_NAME" --verbose \\
    --database_connection "$CELL_DATABASE" --transport-url "$CELL_TRANSPORT"
fi
`;

/** Longest list that one variable carries: Linux takes 128 KiB for name and value (execve, MAX_ARG_STRLEN). */
const mostOfVariable = 130_000;

/**
 * What host discovery runs for these nodes. A list that is too long for a variable, of some thousands of nodes, stands at
 * the beginning of the script, which a ConfigMap carries.
 */
export function hostDiscovery(nodes: readonly string[], hasZones = false): Pick<Job, 'env' | 'runs'> {
  const list = nodes.join(' ');
  const name = 'host-discovery';
  const script = discoverHosts(hasZones ? mirrorAggregates : '');
  if (list.length <= mostOfVariable) return { env: { NODES: list }, runs: [{ name, script }] };
  return { runs: [{ name, script: `NODES='${list}'\n${script}` }] };
}

/**
 * The scheduler finds the hosts of a zone by the aggregates of their providers. Nova's API leaves those out that had none yet, or
 * that Placement did not answer for, and tells its log alone. What ails an aggregate of somebody else holds up nothing.
 */
const mirrorAggregates = `    for attempt in 1 2 3; do
      status=0
      nova-manage placement sync_aggregates || status=$?
      case "$status" in 0 | 4 | 5) break ;; esac
      sleep 5
    done
    if [ "$status" != 0 ]; then echo 'not all aggregates are in Placement; the next run tries again' >&2; fi
`;

/**
 * The same, now and then. From 4 on its status says that hosts of some aggregate are not there, be it of somebody else: they are in
 * no cell (4), have no compute node (5), or no provider (6), which a new host has a moment after it was found.
 */
export const mirrorOften = `status=0
nova-manage placement sync_aggregates || status=$?
case "$status" in 4 | 5 | 6) exit 0 ;; esac
exit "$status"
`;

/** Maps the hosts of the claimed nodes to their cell, and waits until each is there; `then` is run last. */
export const discoverHosts = (
  then = '',
): string => `# Every claimed node becomes a host of its cell as soon as its nova-compute has reported.
attempts=0
while true; do
  nova-manage cell_v2 discover_hosts --verbose
  hosts=$(nova-manage cell_v2 list_hosts)
  missing=
  for node in $NODES; do
    if ! echo "$hosts" | grep -q "| *$node *|"; then missing="$missing $node"; fi
  done
  if [ -z "$missing" ]; then
    echo 'every claimed node is a host'
${then}    exit 0
  fi
  attempts=$((attempts + 1))
  if [ "$attempts" -ge 60 ]; then
    echo "nova-compute has not reported from:$missing" >&2
    exit 1
  fi
  sleep 5
done
`;
