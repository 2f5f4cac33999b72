# shellcheck shell=bash disable=SC2154 # node.bash and up.bash set what is not set here
# How a node is started, and how up waits for it.

explain() { # what did not happen, log
  tail -n 15 "$node_state/log/$2.log" | cut -c 1-400 >&2 || true
  fail "$1" "Above are the last words of $2; all logs: $node_state/log. tools/kubernetes/down cleans up."
}

# What signs, and whom the API server knows. One process a certificate, at the same time.
make_certificates() (
  cd -- "$state/pki" || exit
  write_openssl_configuration "DNS:localhost, DNS:kubernetes, DNS:kubernetes.default, DNS:kubernetes.default.svc, \
DNS:kubernetes.default.svc.cluster.local, IP:127.0.0.1, IP:$first_service_address, IP:$node_address"
  certificate ca /CN=kubernetes-ca ca
  certificate kube-apiserver /CN=kube-apiserver server -CA ca.crt -CAkey ca.key &
  client admin /O=system:masters/CN=kubernetes-admin &
  client controller-manager /CN=system:kube-controller-manager &
  client scheduler /CN=system:kube-scheduler &
  client kube-proxy /CN=system:kube-proxy &
  { certificate front-proxy-ca /CN=front-proxy-ca ca &&
    certificate front-proxy-client /CN=front-proxy-client client -CA front-proxy-ca.crt -CAkey front-proxy-ca.key; } &
  service_account_key &
  all_made
) 2>> "$state/log/openssl.log"

client() { # name, subject: and its kubeconfig
  certificate "$1" "$2" client -CA ca.crt -CAkey ca.key
  write_kubeconfig "$1.kubeconfig" "$server" "$1" "./$1"
}

# Those of a node's kubelet.
make_node_certificates() (
  cd -- "$state/pki" || exit
  write_openssl_configuration "DNS:localhost, DNS:$node_name, IP:127.0.0.1, IP:$node_address"
  certificate "kubelet-server-$node_name" "/CN=$node_name" server -CA ca.crt -CAkey ca.key &
  client "kubelet-$node_name" "/O=system:nodes/CN=system:node:$node_name" &
  all_made
) 2>> "$state/log/openssl.log"

namespaces=(--mount --uts --ipc --net --pid --cgroup --fork)
launcher=

# Starts the node's PID 1 and connects it to the machine.
start_node() {
  make_cgroups
  mkfifo -- "$node_state/go"
  ( # a session of its own, in the node's cgroups, which it will see as the roots
    cd /
    join_cgroups
    exec setsid unshare "${namespaces[@]}" "$BASH" "$here/node/init" "$state" "$instance" "$bin" "$number"
  ) < /dev/null > "$node_state/log/init.log" 2>&1 9<&- &
  launcher=$!
  disown "$launcher"
  until [ -s "$node_state/pid" ]; do
    is_awake || explain 'the namespaces of the node were not made' init
    sleep 0.01
  done
  connect_node "$(< "$node_state/pid")"
  delegate_cgroups
  echo > "$node_state/go"
}

is_awake() { is_alive "$launcher"; }

await() { # seconds, what, log, question that is answered by success
  local until=$(($(now) + $1 * 1000000)) what=$2 log=$3
  shift 3
  until "$@" > /dev/null 2>&1; do
    is_awake || explain "the node ended: $what did not come" init
    [ "$(now)" -lt "$until" ] || explain "$what did not come in time" "$log"
    sleep 0.05
  done
}

# Not kubectl: asked twenty times a second, its start would cost the node a core.
condition() { # path, type: "True" and what follows it
  ask "$1" | tr -d ' \n' | grep -oE "\"type\":\"$2\",\"status\":\"True\"[^}]*"
}

# What an earlier run of a kept node wrote does not count.
node_is_ready() {
  local says
  says=$(condition "/api/v1/nodes/$node_name" Ready)
  [[ $says =~ \"lastHeartbeatTime\":\"([^\"]*)\" && ! ${BASH_REMATCH[1]} < $began_at ]]
}
