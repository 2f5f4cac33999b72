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

/** Finds the process that an earlier container of the node has left: its pid, and whether it still runs. */
const former = (program: string) => `pidfile=/run/libvirt/${program}.pid
pid=$(cat "$pidfile" 2> /dev/null) || pid=
runs() { [ -n "$1" ] && [ "$(cat "/proc/$1/comm" 2> /dev/null)" = ${program} ]; }
`;

/**
 * libvirtd. The identity of its host is the node's: live migration refuses two hosts with the same one. Outside of the
 * pod's control groups and in the node's process namespace, it survives when its container is killed (seen live), and
 * holds the files of its successor: that one ends it first.
 */
export const startLibvirt = `# libvirtd of this node. Its guests outlive it.
${leaveControlGroups}identity=/var/lib/libvirt/host-uuid
if [ ! -s "$identity" ]; then echo "$POD_UID" > "$identity"; fi
cat /etc/openstack/libvirtd.conf > /etc/libvirt/libvirtd.conf
echo "host_uuid = \\"$(cat "$identity")\\"" >> /etc/libvirt/libvirtd.conf
if [ -c /dev/kvm ]; then chmod 666 /dev/kvm; fi
mkdir -p /var/lib/libvirt/qemu /run/libvirt/qemu
${former('libvirtd')}seconds=0
while runs "$pid"; do
  echo "libvirtd $pid has outlived its container: it is ended"
  if [ "$seconds" -lt 20 ]; then kill "$pid" || true; else kill -KILL "$pid" || true; fi
  seconds=$((seconds + 1))
  sleep 1
done
rm -f "$pidfile"
until [ -S /run/libvirt/virtlogd-sock ]; do sleep 1; done
# Guests inherit it. To ask for more than the node grants, in qemu.conf, would keep every guest from starting.
ulimit -Sn "$(ulimit -Hn)"
exec libvirtd --pid-file "$pidfile"
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

/** nova-compute, which needs libvirtd first. */
export const startCompute = `# nova-compute of this node.
mkdir -p /var/lib/nova/instances /var/lib/nova/tmp
until [ -S /run/libvirt/libvirt-sock ]; do sleep 1; done
exec nova-compute --config-file /etc/nova/nova.conf
`;

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

/** Maps the hosts of the claimed nodes to their cell, and waits until each is there. */
export const discoverHosts = `# Every claimed node becomes a host of its cell as soon as its nova-compute has reported.
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
    exit 0
  fi
  attempts=$((attempts + 1))
  if [ "$attempts" -ge 60 ]; then
    echo "nova-compute has not reported from:$missing" >&2
    exit 1
  fi
  sleep 5
done
`;
