# shellcheck shell=bash disable=SC2154 # up sets here, directory, instance and images
# up without --api-only: the machine's half of a node. The other half is node/init.

for part in node cgroups packages machine images down start join; do
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

load_images() { # into all nodes that run
  [ -z "$images" ] || import_everywhere "${archives[@]}"
}
if [ -e "$state/instance" ]; then use_instance "$(< "$state/instance")"; else use_instance "$instance"; fi
if node_runs; then
  [ -e "$kubeconfig" ] || fail "the node in $directory runs but never became Ready" "See $state/log, and end it with tools/kubernetes/down."
  bin=$(< "$state/bin")
  load_images
  join_nodes "$nodes"
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

# shellcheck disable=SC2317 # called by the trap
give_up() {
  trap '' INT TERM HUP
  if [ -n "$launcher" ]; then kill -KILL "$launcher" 2> /dev/null || true; fi
  take_down
  say 'interrupted; nothing is left of it'
  exit 130
}
trap give_up INT TERM HUP

began=$(now) began_at=$(date --utc +%FT%TZ)
mkdir -p -- "$state/log" "$directory/store"
# Pods of any user pass through these.
chmod 755 "$state"
if [ ! -e "$state/kept" ]; then
  echo "$instance" > "$state/instance"
  mkdir -- "$state/pki"
  { make_certificates && make_node_certificates; } || explain 'openssl made no certificates' openssl
  tr -d - < /proc/sys/kernel/random/uuid > "$state/machine-id"
fi
rm -f -- "$state/kept" "$state/complete"
echo "$bin" > "$state/bin"
prepare_machine
kubectl() { KUBECACHEDIR=$state/kubectl-cache "$bin/kubectl" --kubeconfig "$state/pki/admin.kubeconfig" "$@"; }
start_node
await 120 'the API' kube-apiserver ask /readyz
await 30 'the namespace kube-system' kube-apiserver ask /api/v1/namespaces/kube-system
say "[$(since "$began") s] the API is ready"
sed "s|@dns@|$dns_address|" "$here/node/cluster.yaml" | kubectl apply --server-side --force-conflicts --filename - > "$state/log/cluster.log" 2>&1 ||
  explain 'the objects of the cluster were not made' cluster
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
join_nodes "$nodes"
printf 'kubeconfig: %s\n' "$kubeconfig"
printf 'ready in %s s\n' "$(since "$began")"
