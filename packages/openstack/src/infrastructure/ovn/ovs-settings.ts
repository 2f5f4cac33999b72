import { type ClientCertificate, certificateFolder } from '../../engine/vocabulary/certificate.ts';
import { authorityKey } from '../../engine/vocabulary/trust.ts';

/**
 * Milliseconds without a sign of life after which the other end of a connection to OVN's databases is asked for one, and
 * after as many again given up. Neutron's `ovsdb_probe_interval` is the same by default.
 */
export const inactivityProbe = 60_000;

const before = `# Tells Open vSwitch of this node who it is to OVN, and which bridges carry which networks.
# What cannot be asked is not taken for an answer: each question is an assignment of its own, whose failure ends the pod.
set -o pipefail
rm -f /tmp/applied
datapath=
until [ -n "$datapath" ]; do
  datapath=$(ovs-vsctl --timeout=5 --no-wait --if-exists get open_vswitch . external_ids:ovn-bridge-datapath-type | tr -d '"') || true
  if [ -z "$datapath" ]; then sleep 1; fi
done
# Open vSwitch takes an interface away from the node: what carries the node's address, or lies below that (a bond's
# members, a VLAN's device), would cut it off. So would what carries another address, such as that of storage; those that
# routers of a network hand out (IPv6) do not count.
carriers=$(ip -oneline address show to "$NODE_IP" | cut -d ' ' -f 2)
addressed=$(ip -oneline -4 address show scope global | cut -d ' ' -f 2)
# A kernel without IPv6 may refuse the question.
addressed="$addressed $(ip -oneline -6 address show scope global permanent | cut -d ' ' -f 2)" || true
if [ -n "\${TUNNEL_NETWORK:-}" ]; then
  carriers="$carriers $(ip -oneline address show to "$TUNNEL_NETWORK" | cut -d ' ' -f 2)"
fi
routes=$(ip route show default)
routes="$routes $(ip -6 route show default)" || true
previous=
for word in $routes; do
  if [ "$previous" = dev ]; then carriers="$carriers $word"; fi
  previous=$word
done
carries() {
  for device in $carriers; do
    if [ "$1" = "$device" ] || [ -e "/sys/class/net/$device/lower_$1" ]; then return 0; fi
  done
  for device in $addressed; do
    if [ "$1" = "$device" ]; then return 0; fi
  done
  return 1
}
echo "$BRIDGES" > /tmp/bridges
is_mapped() {
  while read -r mapped_network mapped_bridge mapped_interface mapped_own; do
    if [ "$mapped_bridge $mapped_interface" = "$1" ]; then return 0; fi
  done < /tmp/bridges
  return 1
}
is_mapped_elsewhere() {
  while read -r mapped_network mapped_bridge mapped_interface mapped_own; do
    if [ "$mapped_interface" = "$1" ] && [ "$mapped_bridge" != "$2" ]; then return 0; fi
  done < /tmp/bridges
  return 1
}
has_other_uplink() {
  while read -r mapped_network mapped_bridge mapped_interface mapped_own; do
    if [ "$mapped_bridge" = "$1" ] && [ "$mapped_interface" != - ] && [ "$mapped_interface" != "$2" ]; then return 0; fi
  done < /tmp/bridges
  return 1
}
bridge_of() {
  port=$(ovs-vsctl --timeout=30 --if-exists get port "$1" name) || return
  if [ -n "$port" ]; then ovs-vsctl --timeout=30 port-to-br "$1"; fi
}
bridges=$(ovs-vsctl --timeout=30 list-br)
is_bridge() {
  for known_bridge in $bridges; do
    if [ "$1" = "$known_bridge" ]; then return 0; fi
  done
  return 1
}
# The pod is started again, so that an interface which comes late is found.
refuse() {
  echo "bridgeMappings: $1. It is refused, and the node keeps the uplinks that it has" >&2
  exit 1
}
`;

/**
 * All that may refuse comes before the first change: a node whose mapping is wrong keeps the uplinks that it has. What
 * is a port already stays one whatever has become of its device: taking it out would help nobody, and ovs-vswitchd
 * takes the device up by itself when it is back.
 */
const checks = `while read -r network bridge interface own; do
  if [ -z "$network" ] || [ "$interface" = - ]; then continue; fi
  if is_mapped_elsewhere "$interface" "$bridge"; then
    refuse "interface $interface is named for bridge $bridge and for another one: name it once"
  fi
  if has_other_uplink "$bridge" "$interface"; then
    refuse "bridge $bridge is named with interface $interface and with $mapped_interface, which would join their networks, or make a loop: name each bridge once"
  fi
  if [ "$interface" = "$bridge" ] || is_bridge "$interface"; then
    refuse "interface $interface, which physicalNetwork $network names, is a bridge of Open vSwitch: name the interface that is to be its uplink"
  fi
  current=$(bridge_of "$interface")
  if [ "$current" = "$bridge" ]; then
    error=$(ovs-vsctl --timeout=30 --if-exists get interface "$interface" error)
    if [ "\${error:-[]}" != '[]' ]; then
      echo "interface $interface of node $NODE_NAME stays a port of bridge $bridge, but carries nothing: $error" >&2
    fi
    continue
  fi
  if [ ! -e "/sys/class/net/$interface" ]; then
    refuse "node $NODE_NAME has no interface $interface, which physicalNetwork $network names for bridge $bridge: name one that every node of the group has (ip link), or give this node a group of its own"
  fi
  if [ "$own" != own ] && carries "$interface"; then
    refuse "interface $interface of node $NODE_NAME carries an address of the node or its default route, and would cut it off: name another one, or set allowNodeInterface to true"
  fi
  if [ -n "$current" ]; then
    uplink=$(ovs-vsctl --timeout=30 --if-exists get port "$interface" external_ids:openstack-uplink | tr -d '"')
    if [ "$uplink" != true ]; then
      refuse "interface $interface of node $NODE_NAME is a port of bridge $current, where somebody else has put it: name another one, or take it out (ovs-vsctl del-port $interface)"
    fi
  fi
  # A member of a bond or of a bridge of the kernel has a master, and the kernel gives it no other one.
  if [ "$datapath" = system ] && [ -e "/sys/class/net/$interface/master" ]; then
    master=$(readlink "/sys/class/net/$interface/master") || true
    if [ "\${master##*/}" != ovs-system ]; then
      refuse "interface $interface of node $NODE_NAME is a member of \${master##*/}: name that one"
    fi
  fi
done < /tmp/bridges
# Tunnels begin at the node's address, or at the one that it has in a network of their own.
tunnel=$NODE_IP
if [ -n "\${TUNNEL_NETWORK:-}" ]; then
  tunnel=$(
    ip -oneline address show to "$TUNNEL_NETWORK" | {
      read -r index device family address others || exit 0
      echo "\${address%/*}"
      cat > /dev/null
    }
  )
  if [ -z "$tunnel" ]; then
    echo "tunnelNetwork: node $NODE_NAME has no address in $TUNNEL_NETWORK" >&2
    exit 1
  fi
fi
`;

const uplinks = `# An uplink that is mapped no more goes before another one comes: two of them would join their networks, or make a loop.
: > /tmp/former
: > /tmp/added
marked=$(ovs-vsctl --timeout=30 --bare --columns=name find port external_ids:openstack-uplink=true)
for interface in $marked; do
  bridge=$(ovs-vsctl --timeout=30 port-to-br "$interface")
  if ! is_mapped "$bridge $interface"; then
    echo "interface $interface is no uplink of bridge $bridge any more"
    echo "$bridge $interface" >> /tmp/former
    ovs-vsctl --timeout=30 --if-exists del-port "$bridge" "$interface"
  fi
done
add_uplink() {
  ovs-vsctl --timeout=30 --may-exist add-port "$1" "$2" -- set port "$2" external_ids:openstack-uplink=true
}
put_back() {
  while read -r added; do
    ovs-vsctl --timeout=30 --if-exists del-port "$added"
  done < /tmp/added
  while read -r former_bridge former_interface; do
    add_uplink "$former_bridge" "$former_interface"
  done < /tmp/former
}
mappings=
while read -r network bridge interface own; do
  if [ -z "$network" ]; then continue; fi
  ovs-vsctl --timeout=30 --may-exist add-br "$bridge" -- set bridge "$bridge" "datapath_type=$datapath"
  if [ "$interface" != - ]; then
    current=$(bridge_of "$interface")
    add_uplink "$bridge" "$interface"
    if [ "$current" != "$bridge" ]; then
      echo "$interface" >> /tmp/added
      # ovs-vsctl succeeds whatever the switch says of the interface.
      error=$(ovs-vsctl --timeout=30 get interface "$interface" error)
      if [ "$error" != '[]' ]; then
        put_back
        refuse "Open vSwitch of node $NODE_NAME cannot use interface $interface, which physicalNetwork $network names for bridge $bridge: $error"
      fi
    fi
  fi
  mappings="$mappings\${mappings:+,}$network:$bridge"
done < /tmp/bridges
`;

/** A directory that ovn-controller has as well: it need not be replaced to get its certificate. */
const shared = '/run/openvswitch/ovn-tls';

const certificates = ({
  keys,
}: ClientCertificate) => `# What ovn-controller shows to the southbound database: it looks at each connection whether the files are new. All of them
# are, if one is, because a certificate is read anew with its key alone (OVS, lib/stream-ssl.c).
umask 0077
mkdir -p ${shared}
give_certificates() {
  given=yes
  for file in ${authorityKey} ${keys.certificate} ${keys.key}; do
    if [ "$(cat ${certificateFolder}/$file)" != "$(cat ${shared}/$file 2> /dev/null)" ]; then given=; fi
  done
  if [ -n "$given" ]; then return; fi
  for file in ${authorityKey} ${keys.certificate} ${keys.key}; do
    # What cannot be written in full takes nobody's place.
    cat ${certificateFolder}/$file > ${shared}/new || return 1
    mv ${shared}/new ${shared}/$file || return 1
  done
}
give_certificates
while sleep 60; do give_certificates || true; done &
ovs-vsctl --timeout=30 set-ssl ${shared}/${keys.key} ${shared}/${keys.certificate} ${shared}/${authorityKey}
`;

const identity = `# An identity that the node already has is kept: its chassis is known by it.
identity=$(ovs-vsctl --timeout=30 --if-exists get open_vswitch . external_ids:system-id | tr -d '"')
ovs-vsctl --timeout=30 set open_vswitch . \\
  "external_ids:system-id=\${identity:-$NODE_NAME}" \\
  "external_ids:hostname=$NODE_NAME" \\
  "external_ids:ovn-remote=$SOUTHBOUND" \\
  "external_ids:ovn-remote-probe-interval=${inactivityProbe}" \\
  "external_ids:ovn-encap-type=geneve" \\
  "external_ids:ovn-encap-ip=$tunnel" \\
  "external_ids:ovn-bridge=br-int" \\
  "external_ids:ovn-ofctrl-wait-before-clear=8000"
if [ -n "$mappings" ]; then
  ovs-vsctl --timeout=30 set open_vswitch . "external_ids:ovn-bridge-mappings=$mappings"
else
  ovs-vsctl --timeout=30 remove open_vswitch . external_ids ovn-bridge-mappings
fi
if [ -n "$CMS_OPTIONS" ]; then
  ovs-vsctl --timeout=30 set open_vswitch . "external_ids:ovn-cms-options=$CMS_OPTIONS"
else
  ovs-vsctl --timeout=30 remove open_vswitch . external_ids ovn-cms-options
fi
touch /tmp/applied
exec sleep infinity
`;

/** Tells Open vSwitch of a node what the resource says of it; changes nothing where that cannot be. */
export function applySettings(shown: ClientCertificate): string {
  return [before, checks, uplinks, certificates(shown), identity].join('');
}
