# shellcheck shell=bash disable=SC2154 # node.bash and up.bash set what is not set here
# Further nodes of a cluster that runs: kubelet, kube-proxy and containerd in namespaces of their own.

# Starts those that do not run, up to this number of nodes.
join_nodes() { # number
  local each
  for ((each = 2; each <= $1; each++)); do
    use_node "$each"
    node_runs || join_node
  done
  connect_pods
  use_node 1
}

join_node() {
  local began
  began=$(now)
  rm -f -- "$node_state"/{pid,go}
  mkdir -p -- "$node_state/log"
  chmod 755 "$node_state"
  [ -e "$node_state/machine-id" ] || tr -d - < /proc/sys/kernel/random/uuid > "$node_state/machine-id"
  [ -e "$state/pki/kubelet-$node_name.kubeconfig" ] || make_node_certificates || explain 'openssl made no certificates' openssl
  [ -d "$store" ] || link_store
  began_at=$(date --utc +%FT%TZ)
  start_node
  await 120 "the condition Ready of $node_name" kubelet node_is_ready
  say "$node_name is Ready after $(since "$began") s"
}

# The images are those of the first node: hard links to what never changes, and copies of the databases, made while its
# containerd stands still. What runs there on top of them may come and go meanwhile.
link_store() {
  local new=$store.new from=$directory/store log=$node_state/log/store.log database
  rm -rf -- "$new"
  in_first_node pkill -STOP --exact containerd
  cp --archive --link -- "$from" "$new" 2> "$log" || true
  while read -r database; do
    cp --remove-destination --preserve=all -- "$from/$database" "$new/$database" 2>> "$log" || true
  done < <(cd -- "$from" && find . -maxdepth 2 -name '*.db')
  in_first_node pkill -CONT --exact containerd
  if grep -qv 'No such file or directory' "$log"; then explain 'the images of the first node could not be linked' store; fi
  mv -- "$new" "$store"
}

in_first_node() { # command
  local here=$number status=0
  use_node 1
  in_node "$@" || status=$?
  use_node "$here"
  return "$status"
}

# Each node has a network of pods, which the controllers have given it, and reaches those of the others at their nodes.
connect_pods() {
  local each other network
  for each in $(nodes_of); do
    use_node "$each"
    network=$(ask "/api/v1/nodes/$node_name" | tr -d ' \n' | grep -oE '"podCIDR":"[^"]+"' | cut -d '"' -f 4)
    ip route replace "$network" via "$node_address"
    for other in $(nodes_of); do
      [ "$other" != "$each" ] || continue
      ( via=$node_address
        use_node "$other"
        in_node ip route replace "$network" via "$via" )
    done
  done
}
