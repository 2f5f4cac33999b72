# shellcheck shell=bash disable=SC2154 # up sets directory, port, controllers, scheduler and bin
# up --api-only: etcd, kube-apiserver and perhaps kube-controller-manager and kube-scheduler as plain processes.

umask 077

# --- the directory: ours, locked, and empty unless a cluster runs in it ---

take_directory

kubeconfig=$directory/kubeconfig
ask() { # path: what the running API server answers
  curl --silent --fail --noproxy '*' --max-time 5 --cacert "$directory/ca.crt" \
    --cert "$directory/admin.crt" --key "$directory/admin.key" "https://127.0.0.1:$port$1"
}

all_run() {
  local pid name executable
  while read -r pid name executable; do
    if ! is_ours "$directory" "$pid" "$executable"; then
      tail -n 5 "$directory/$name.log" | cut -c 1-400 >&2
      say "$name ended in $directory; its last words are above. Starting anew."
      return 1
    fi
  done < "$directory/pids"
}

if [ -e "$kubeconfig" ] && all_run; then
  runs_at=$(sed -n 's/^ *server: https:\/\/127.0.0.1:\([0-9]*\)$/\1/p' "$kubeconfig")
  runs_controllers='' runs_scheduler=''
  if grep -q ' kube-controller-manager ' "$directory/pids"; then runs_controllers=yes; fi
  if grep -q ' kube-scheduler ' "$directory/pids"; then runs_scheduler=yes; fi
  if [ "$controllers/$scheduler/${port:-$runs_at}" != "$runs_controllers/$runs_scheduler/$runs_at" ]; then
    fail "a cluster runs in $directory already, at port $runs_at, --controllers: ${runs_controllers:-no}, --scheduler: ${runs_scheduler:-no}" \
      'End it with tools/kubernetes/down, or choose another directory with --dir.'
  fi
  port=$runs_at
  ask /readyz > /dev/null || fail "the cluster in $directory runs but is not ready" "See $directory/kube-apiserver.log, and end it with tools/kubernetes/down."
  printf 'kubeconfig: %s\n' "$kubeconfig"
  say 'it runs already'
  exit 0
fi
stop_processes "$directory"
find "$directory" -mindepth 1 -delete
touch "$directory/$marker"

started=()
give_up() {
  kill -KILL "${started[@]}" 2> /dev/null || true # one that has not become our program yet too
  stop_processes "$directory"
  rm -rf -- "$directory"
  say 'interrupted'
  exit 130
}
trap give_up INT TERM HUP

# --- certificates ---

# One process a certificate, at the same time.
make_certificates() (
  cd -- "$directory" || exit
  write_openssl_configuration \
    'DNS:localhost, DNS:kubernetes, DNS:kubernetes.default, DNS:kubernetes.default.svc, IP:127.0.0.1, IP:10.96.0.1'
  signed=(-CA ca.crt -CAkey ca.key)
  certificate ca /CN=kubernetes-ca ca
  certificate kube-apiserver /CN=kube-apiserver server "${signed[@]}" &
  certificate admin /O=system:masters/CN=kubernetes-admin client "${signed[@]}" &
  certificate kube-controller-manager /CN=system:kube-controller-manager client "${signed[@]}" &
  certificate kube-scheduler /CN=system:kube-scheduler client "${signed[@]}" &
  service_account_key &
  all_made
) 2>> "$directory/openssl.log"

# --- programs ---

# Each runs in a session of its own, so that it outlives the terminal and no pipe of the caller stays open.
# Sets `pid`.
start() { # program, arguments
  (cd -- "$directory" && exec setsid "$bin/$1" "${@:2}" < /dev/null > "$directory/$1.log" 2>&1 9<&-) &
  pid=$!
  started+=("$pid")
  disown "$pid" # or else bash tells of its end
  printf '%s %s %s\n' "$pid" "$1" "$bin/kk" >> "$directory/pids"
}

explain() { # program: its last words, the remedy
  tail -n 15 "$directory/$1.log" | cut -c 1-400 >&2 || true
  stop_processes "$directory"
  fail "$1 did not start" "Above are its last words; all of them: $directory/$1.log"
}

# Neither in the range of outgoing connections (32768 and up on Linux) nor of NodePorts (30000-32767).
free_port() {
  local candidate
  for _ in {1..100}; do
    candidate=$((20000 + RANDOM % 10000))
    if ! in_use "$candidate"; then echo "$candidate"; return; fi
  done
  fail 'no port from 20000 to 29999 is free on 127.0.0.1' 'Choose one with --port.'
}
in_use() { (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; }

admission=()
if [ -z "$controllers" ]; then admission=(--disable-admission-plugins=ServiceAccount); fi
start_api_server() {
  start kube-apiserver \
    --etcd-servers=unix://etcd:0 \
    --bind-address=127.0.0.1 --advertise-address=127.0.0.1 --secure-port="$port" --endpoint-reconciler-type=none \
    --cert-dir="$directory" --tls-cert-file="$directory/kube-apiserver.crt" --tls-private-key-file="$directory/kube-apiserver.key" \
    --client-ca-file="$directory/ca.crt" \
    --service-account-issuer=https://kubernetes.default.svc \
    --service-account-signing-key-file="$directory/service-account.key" --service-account-key-file="$directory/service-account.key" \
    --service-cluster-ip-range=10.96.0.0/16 \
    --authorization-mode=RBAC \
    --allow-privileged=true \
    "${admission[@]}"
  api_server=$pid
}

runs() { kill -0 "$1" 2> /dev/null; }

began=$(now)
if [ -n "$port" ] && in_use "$port"; then
  fail "port $port of 127.0.0.1 is in use" 'Choose another one with --port, or leave it out.'
fi
fixed_port=$port
port=${fixed_port:-$(free_port)}

# Sockets instead of ports: nothing to collide with, and no other user reaches them. (etcd wants a port
# in every address and makes it part of the file's name.)
start etcd --data-dir="$directory/etcd" --unsafe-no-fsync --log-level=warn \
  --listen-client-urls=unix://etcd:0 --advertise-client-urls=unix://etcd:0 \
  --listen-peer-urls=unix://etcd-peer:0 --initial-advertise-peer-urls=unix://etcd-peer:0 \
  --initial-cluster=default=unix://etcd-peer:0
etcd=$pid
make_certificates || { say "$(tail -n 5 "$directory/openssl.log")"; stop_processes "$directory"; fail 'openssl made no certificates' 'Its last words are above.'; }

start_api_server

# Ready is not enough: the namespace `default` is made a moment later.
until ask /readyz > /dev/null && ask /api/v1/namespaces/default > /dev/null; do
  runs "$etcd" || explain etcd
  if ! runs "$api_server"; then
    # Somebody took the free port between our look and the server's start.
    if [ -z "$fixed_port" ] && grep -q 'address already in use' "$directory/kube-apiserver.log"; then
      sed -i "/^$api_server /d" "$directory/pids"
      port=$(free_port)
      start_api_server
    else
      explain kube-apiserver
    fi
  fi
  [ $(($(now) - began)) -lt 120000000 ] || explain kube-apiserver
  sleep 0.05
done

if [ -n "$controllers" ]; then
  # The default of 20 requests a second makes each controller wait for its own credentials: 5 s instead of one.
  write_kubeconfig "$directory/kube-controller-manager.kubeconfig" "https://127.0.0.1:$port" system:kube-controller-manager "$directory/kube-controller-manager"
  start kube-controller-manager \
    --kubeconfig="$directory/kube-controller-manager.kubeconfig" --secure-port=0 --leader-elect=false \
    --kube-api-qps=1000 --kube-api-burst=1000 \
    --use-service-account-credentials=true --service-account-private-key-file="$directory/service-account.key" \
    --root-ca-file="$directory/ca.crt" \
    --cluster-signing-cert-file="$directory/ca.crt" --cluster-signing-key-file="$directory/ca.key"
  controller_manager=$pid
  until ask /api/v1/namespaces/default/serviceaccounts/default > /dev/null; do
    runs "$controller_manager" || explain kube-controller-manager
    [ $(($(now) - began)) -lt 120000000 ] || explain kube-controller-manager
    sleep 0.05
  done
fi

if [ -n "$scheduler" ]; then
  write_kubeconfig "$directory/kube-scheduler.kubeconfig" "https://127.0.0.1:$port" system:kube-scheduler "$directory/kube-scheduler"
  start kube-scheduler --kubeconfig="$directory/kube-scheduler.kubeconfig" --secure-port=0 --leader-elect=false \
    --kube-api-qps=1000 --kube-api-burst=1000
fi

# Last, whole at once: its presence says that the cluster was ready.
write_kubeconfig "$directory/kubeconfig.new" "https://127.0.0.1:$port" kubernetes-admin "$directory/admin"
mv -- "$directory/kubeconfig.new" "$kubeconfig"
printf 'kubeconfig: %s\n' "$kubeconfig"
printf 'ready in %s s\n' "$(since "$began")"
