# shellcheck shell=bash disable=SC2034,SC2154 # those who source it use what it sets, and set directory
# What all that deal with a node share: where its things are, its addresses, its processes.
#
# DIR/.openstack-operator-node   says that DIR is ours
# DIR/kubeconfig                 the administrator's; there once the node was Ready
# DIR/store                      containerd's images; stays when the node goes
# DIR/state                      all else: /etc, /var/lib, /var/log of the node, certificates, logs
#   .../pid                      of the node's PID 1, as the machine sees it
#   .../instance                 which set of addresses it has
#   .../nodeN                    the same of a further node, and its copy of the images
#   .../sysctls, .../modules     what was changed on the machine, to be put back

# A root shell by su has no sbin; containerd looks for iptables and runc there too.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

marker=.openstack-operator-node

use_instance() { # number
  instance=$1
  interface=osnode$1
  node_network=10.89.$1.0/24
  machine_address=10.89.$1.254
  service_network=10.$((96 + $1)).0.0/16
  first_service_address=10.$((96 + $1)).0.1
  dns_address=10.$((96 + $1)).0.10
  pod_network=10.$((244 - $1)).0.0/16
  server=https://10.89.$1.1:6443
  use_node 1
}

# One of the nodes of an instance: the first one has the control plane.
use_node() { # number
  number=$1
  node_name=node$1
  node_address=10.89.$instance.$1
  tunnel_address=10.88.$instance.$1
  cgroup=openstack-operator-node$instance
  node_state=$directory/state
  store=$directory/store
  [ "$1" -gt 1 ] || return 0
  cgroup+=-$1
  node_state+=/node$1
  store=$node_state/store
}

# Numbers of the nodes that were started, whether they still run or not; the first one last.
nodes_of() {
  local at
  for at in "$directory"/state/node?; do
    if [ -d "$at" ]; then echo "${at##*/node}"; fi
  done
  echo 1
}

# The node's PID 1 is bash, with DIR/state/ among its arguments.
node_runs() {
  local pid
  pid=$(cat -- "$node_state/pid" 2> /dev/null) || return 1
  is_ours "$directory" "$pid" "$(readlink -f /proc/$$/exe)"
}

in_node() { # command: runs in the node's namespaces
  nsenter --target "$(< "$node_state/pid")" --mount --uts --ipc --net --pid --cgroup -- "$@"
}

ask() { # path: what the API server answers
  local pki=$directory/state/pki
  curl --silent --fail --noproxy '*' --max-time 5 --cacert "$pki/ca.crt" --cert "$pki/admin.crt" --key "$pki/admin.key" "$server$1"
}

require_running() {
  if [ -d "$directory" ]; then
    directory=$(cd -P -- "$directory" && pwd)
    if [ -e "$directory/state/instance" ]; then use_instance "$(< "$directory/state/instance")"; fi
    if [ -n "${node_state-}" ] && node_runs; then return; fi
  fi
  fail "no node runs in $directory" 'Start one with tools/kubernetes/up, or say with --dir where it runs.'
}

require_root() {
  [ "$(uname -s)" = Linux ] || fail "a node needs Linux; this is $(uname -s)" 'Use up --api-only of a Linux machine, or a virtual machine.'
  [ "$(id -u)" -eq 0 ] || fail 'a node needs root: it makes namespaces, mounts and network interfaces' "Run it as root: sudo $0"
}
