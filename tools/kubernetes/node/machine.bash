# shellcheck shell=bash disable=SC2154 # node.bash sets what is not set here
# What a node asks of the machine, and the few things that it changes there. Each change is noted in DIR/state first,
# so that down finds it whatever happened in between.

require_room() {
  local available
  available=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
  [ "$available" -ge 1536 ] ||
    fail "too little memory: $available MiB are available, an empty node takes 1536" 'End other programs, or take a bigger machine. See: ps axo rss,args --sort=-rss | head'
  [ "$(free_gib "$directory")" -ge 2 ] ||
    fail "too little disk: less than 2 GiB are free at $directory" 'Free some, or choose another disk with --dir.'
}

require_free_addresses() {
  local network route
  [ ! -e "/sys/class/net/$interface" ] ||
    fail "the interface $interface exists: another node runs as instance $instance" 'Choose another one with --instance, or end that node: tools/kubernetes/down --dir ITS-DIR.'
  for network in "$node_network" "$service_network" "$pod_network"; do
    route=$({ ip -4 route show root "$network"; ip -4 route show match "$network"; } | grep -vm 1 '^default' || true)
    [ -z "$route" ] ||
      fail "the network $network, which a node needs, is in use: $route" 'Choose other addresses with --instance, or remove that route.'
  done
}

# Tried in namespaces and directories that vanish, so that a kernel without something is told of by its name.
require_kernel() {
  local attempt=$directory/.attempt why
  mkdir -p -- "$attempt"/{lower,upper,work,all}
  modprobe --quiet overlay 2> /dev/null || true
  why=$(unshare --mount mount -t overlay -o "lowerdir=$attempt/lower,upperdir=$attempt/upper,workdir=$attempt/work" overlay "$attempt/all" 2>&1) || {
    rm -rf -- "$attempt"
    fail "no overlay file system is possible in $directory: ${why##*: }" 'Choose a directory on ext4, XFS or Btrfs with --dir (in a container: on a volume).'
  }
  rm -rf -- "$attempt"
  why=$(unshare --net sh -ec '
    ip link add bridge type bridge
    ip link add one type veth peer name other
    iptables --table nat --append POSTROUTING --match comment --comment x --match conntrack --ctstate NEW --jump MASQUERADE
    iptables --append FORWARD --match mark --mark 1 --jump ACCEPT
    iptables --table nat --append PREROUTING --match statistic --mode random --probability 0.5 --jump ACCEPT' 2>&1) ||
    fail "the kernel cannot do the network of a node: $why" 'It needs bridge, veth, and iptables with nat, comment, conntrack, mark and statistic (modprobe br_netfilter iptable_nat).'
}

prepare_machine() {
  local name value least
  for name in fs.inotify.max_user_instances:8192 fs.inotify.max_user_watches:524288; do
    least=${name#*:} name=${name%:*}
    value=$(< "/proc/sys/${name//.//}")
    if [ "$value" -lt "$least" ]; then
      echo "$name $value $least" >> "$directory/state/sysctls"
      echo "$least" > "/proc/sys/${name//.//}"
    fi
  done
  # Once loaded, it sends what the machine's own bridges carry through iptables: not for our sake.
  if [ ! -d /proc/sys/net/bridge ]; then
    echo br_netfilter >> "$directory/state/modules"
    modprobe br_netfilter ||
      fail 'the kernel module br_netfilter cannot be loaded' 'Install the modules of the running kernel (Debian: linux-image-...), or boot one that has it.'
    for name in /proc/sys/net/bridge/bridge-nf-call-*; do echo 0 > "$name"; done
  fi
}

restore_machine() {
  local name value ours
  if [ -e "$directory/state/sysctls" ]; then
    while read -r name value ours; do
      name=/proc/sys/${name//.//}
      if [ "$(< "$name")" = "$ours" ]; then echo "$value" > "$name"; fi # or else somebody has set it since
    done < "$directory/state/sysctls"
  fi
  if [ -e "$directory/state/modules" ]; then
    while read -r name; do modprobe --remove --quiet "$name" || true; done < "$directory/state/modules" # it may be in use by now
  fi
}

# All nodes are on one bridge of the machine, and so is the machine. A node's end is eth0. Nothing on the machine forwards
# for them: pods reach the machine, and what it has no route for ends there.
connect_node() { # pid of its PID 1
  local inside=(nsenter --target "$1" --net ip) port=$interface-$number
  if [ ! -e "/sys/class/net/$interface" ]; then
    ip link add "$interface" type bridge
    ip address add "$machine_address/24" dev "$interface"
    ip link set "$interface" up
  fi
  ip link add "$port" type veth peer name eth0 netns "$1"
  ip link set "$port" master "$interface" up
  "${inside[@]}" link set lo up
  "${inside[@]}" address add "$node_address/24" dev eth0
  "${inside[@]}" link set eth0 up
  "${inside[@]}" route add default via "$machine_address"
  # A second card, without an address: an Open vSwitch in user space takes one whole.
  ip link add "$port-2" type veth peer name eth1 netns "$1"
  # Through a wire of two ends, packets with checksums that a card would have completed stay incomplete.
  nsenter --target "$1" --net ethtool -K eth1 tx off > /dev/null
  ip link set "$port-2" master "$interface" up
  "${inside[@]}" link set eth1 up
  [ "$number" = 1 ] || return 0
  ip route add "$service_network" via "$node_address"
  ip route add "$pod_network" via "$node_address"
}

disconnect_nodes() { # the routes go with the bridge
  local link
  for link in "/sys/class/net/$interface" "/sys/class/net/$interface"-*; do
    # The kernel removes the ends of a node that has ended by itself, a moment later.
    ip link delete "${link##*/}" 2> /dev/null || [ ! -e "$link" ] ||
      fail "the interface ${link##*/} cannot be removed" "See why: ip link delete ${link##*/}"
  done
}
