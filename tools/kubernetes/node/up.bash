# shellcheck shell=bash disable=SC2154 # up sets here, directory, instance and images
# up without --api-only: the machine's half of a node. The other half is node/init.

for part in node cgroups packages machine images down; do
  # shellcheck source=/dev/null
  source "$here/node/$part.bash"
done

umask 077
require_root
if [ -n "$images" ]; then
  archives=("$images"/*.tar)
  [ -e "${archives[0]}" ] || fail "there is no image archive in $images" 'Give a directory with *.tar files to --images, or leave it out.'
fi

# --- what is there, and whether a node is possible: nothing is changed yet ---

take_directory
trap 'rmdir -- "$directory" 2> /dev/null || true' EXIT # made in vain, when a check fails
kubeconfig=$directory/kubeconfig
state=$directory/state

load_images() {
  [ -n "$images" ] || return 0
  # shellcheck disable=SC2034 # import_images reads it
  enter=(in_node)
  import_images "${archives[@]}"
}
if node_runs; then
  [ -e "$kubeconfig" ] || fail "the node in $directory runs but never became Ready" "See $state/log, and end it with tools/kubernetes/down."
  load_images
  printf 'kubeconfig: %s\n' "$kubeconfig"
  say 'it runs already'
  exit 0
fi
if [ -e "$state" ] && [ ! -e "$state/kept" ]; then
  fail "a node ran in $directory and was killed" \
    'Remove what is left of it with tools/kubernetes/down; or with tools/kubernetes/down --keep-volumes, then the next up goes on with its objects and volumes.'
fi
if [ -e "$state/kept" ] && [ "$(< "$state/instance")" != "$instance" ]; then
  fail "the node kept in $directory has the addresses of instance $(< "$state/instance")" "Say --instance $(< "$state/instance"), or remove it with tools/kubernetes/down."
fi
use_instance "$instance"
require_room
require_cgroups
mapfile -t missing < <(missing_packages)
install_packages "${missing[@]}"
require_free_addresses
require_kernel
touch "$directory/$marker"
bin=$("$here/build")

# --- from here on down has something to do ---

launcher=
# shellcheck disable=SC2317 # called by the trap
give_up() {
  trap '' INT TERM HUP
  if [ -n "$launcher" ]; then kill -KILL "$launcher" 2> /dev/null || true; fi
  take_down
  say 'interrupted; nothing is left of it'
  exit 130
}
trap give_up INT TERM HUP

explain() { # what did not happen, log
  tail -n 15 "$state/log/$2.log" | cut -c 1-400 >&2 || true
  fail "$1" "Above are the last words of $2; all logs: $state/log. tools/kubernetes/down cleans up."
}

# One process a certificate, at the same time.
make_certificates() (
  cd -- "$state/pki" || exit
  write_openssl_configuration "DNS:localhost, DNS:kubernetes, DNS:kubernetes.default, DNS:kubernetes.default.svc, \
DNS:kubernetes.default.svc.cluster.local, DNS:$node_name, IP:127.0.0.1, IP:$first_service_address, IP:$node_address"
  signed=(-CA ca.crt -CAkey ca.key)
  client() { # name, subject: and its kubeconfig
    certificate "$1" "$2" client "${signed[@]}"
    write_kubeconfig "$1.kubeconfig" "$server" "$1" "./$1"
  }
  certificate ca /CN=kubernetes-ca ca
  certificate kube-apiserver /CN=kube-apiserver server "${signed[@]}" &
  certificate kubelet-server "/CN=$node_name" server "${signed[@]}" &
  client admin /O=system:masters/CN=kubernetes-admin &
  client controller-manager /CN=system:kube-controller-manager &
  client scheduler /CN=system:kube-scheduler &
  client kube-proxy /CN=system:kube-proxy &
  client kubelet "/O=system:nodes/CN=system:node:$node_name" &
  { certificate front-proxy-ca /CN=front-proxy-ca ca &&
    certificate front-proxy-client /CN=front-proxy-client client -CA front-proxy-ca.crt -CAkey front-proxy-ca.key; } &
  service_account_key &
  all_made
) 2>> "$state/log/openssl.log"

began=$(now) began_at=$(date --utc +%FT%TZ)
mkdir -p -- "$state/log" "$directory/store"
# Pods of any user pass through these.
chmod 755 "$state"
if [ ! -e "$state/kept" ]; then
  echo "$instance" > "$state/instance"
  mkdir -- "$state/pki"
  make_certificates || explain 'openssl made no certificates' openssl
  tr -d - < /proc/sys/kernel/random/uuid > "$state/machine-id"
fi
rm -f -- "$state/kept" "$state/complete"
echo "$bin" > "$state/bin"
prepare_machine
make_cgroups
mkfifo -- "$state/go"

namespaces=(--mount --uts --ipc --net --pid --cgroup --fork)
( # a session of its own, in the node's cgroups, which it will see as the roots
  cd /
  join_cgroups
  exec setsid unshare "${namespaces[@]}" "$BASH" "$here/node/init" "$state" "$instance" "$bin"
) < /dev/null > "$state/log/init.log" 2>&1 9<&- &
launcher=$!
disown "$launcher"

is_awake() { is_alive "$launcher"; }
until [ -s "$state/pid" ]; do
  is_awake || explain 'the namespaces of the node were not made' init
  sleep 0.01
done
connect_node "$(< "$state/pid")"
delegate_cgroups
echo > "$state/go"

kubectl() { KUBECACHEDIR=$state/kubectl-cache "$bin/kubectl" --kubeconfig "$state/pki/admin.kubeconfig" "$@"; }
await() { # seconds, what, log, question that is answered by success
  local until=$(($(now) + $1 * 1000000)) what=$2 log=$3
  shift 3
  until "$@" > /dev/null 2>&1; do
    is_awake || explain "the node ended: $what did not come" init
    [ "$(now)" -lt "$until" ] || explain "$what did not come in time" "$log"
    sleep 0.05
  done
}
await 120 'the API' kube-apiserver ask /readyz
await 30 'the namespace kube-system' kube-apiserver ask /api/v1/namespaces/kube-system
say "[$(since "$began") s] the API is ready"
sed "s|@dns@|$dns_address|" "$here/node/cluster.yaml" | kubectl apply --server-side --force-conflicts --filename - > "$state/log/cluster.log" 2>&1 ||
  explain 'the objects of the cluster were not made' cluster
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
dns_answers() {
  condition /apis/apps/v1/namespaces/kube-system/deployments/coredns Available && timeout 1 bash -c "exec 3<> /dev/tcp/$dns_address/53"
}
await 120 "the condition Ready of $node_name" kubelet node_is_ready
say "[$(since "$began") s] $node_name is Ready"
await 120 'DNS' kubelet dns_answers
await 30 'the service account default' kube-controller-manager ask /api/v1/namespaces/default/serviceaccounts/default

# Last: its presence says that the node was ready.
touch "$state/complete"
cp -- "$state/pki/admin.kubeconfig" "$kubeconfig"
say "[$(since "$began") s] DNS answers"
load_images
printf 'kubeconfig: %s\n' "$kubeconfig"
printf 'ready in %s s\n' "$(since "$began")"
