# shellcheck shell=bash disable=SC2154 # init sets what is not set here
# Daemons of the first node alone: etcd, the API server, the controllers, the scheduler, the provisioner of volumes.

run_api() {
  # Sockets, as in up --api-only; etcd wants a port in every address and makes it part of the file's name.
  run etcd env --chdir=/run/etcd "$bin/etcd" --data-dir=/var/lib/etcd --unsafe-no-fsync --log-level=warn \
    --listen-client-urls=unix://etcd:0 --advertise-client-urls=unix://etcd:0 \
    --listen-peer-urls=unix://etcd-peer:0 --initial-advertise-peer-urls=unix://etcd-peer:0 \
    --initial-cluster=default=unix://etcd-peer:0

  run kube-apiserver env --chdir=/run/etcd "$bin/kube-apiserver" \
    --etcd-servers=unix://etcd:0 \
    --bind-address=0.0.0.0 --advertise-address="$node_address" --secure-port=6443 \
    --tls-cert-file="$pki/kube-apiserver.crt" --tls-private-key-file="$pki/kube-apiserver.key" --client-ca-file="$pki/ca.crt" \
    --kubelet-certificate-authority="$pki/ca.crt" --kubelet-preferred-address-types=InternalIP \
    --kubelet-client-certificate="$pki/admin.crt" --kubelet-client-key="$pki/admin.key" \
    --requestheader-client-ca-file="$pki/front-proxy-ca.crt" --requestheader-allowed-names=front-proxy-client \
    --requestheader-extra-headers-prefix=X-Remote-Extra- --requestheader-group-headers=X-Remote-Group \
    --requestheader-username-headers=X-Remote-User \
    --proxy-client-cert-file="$pki/front-proxy-client.crt" --proxy-client-key-file="$pki/front-proxy-client.key" \
    --service-account-issuer=https://kubernetes.default.svc.cluster.local \
    --service-account-signing-key-file="$pki/service-account.key" --service-account-key-file="$pki/service-account.key" \
    --service-cluster-ip-range="$service_network" \
    --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged=true
}

run_controllers() {
  control() { # program, arguments
    local program=$1
    shift
    run "kube-$program" "$bin/kube-$program" --kubeconfig="$pki/$program.kubeconfig" \
      --authentication-kubeconfig="$pki/$program.kubeconfig" --authorization-kubeconfig="$pki/$program.kubeconfig" --leader-elect=false "$@"
  }
  # The default of 20 requests a second makes each controller wait for its own credentials.
  control controller-manager --kube-api-qps=1000 --kube-api-burst=1000 \
    --use-service-account-credentials=true --service-account-private-key-file="$pki/service-account.key" --root-ca-file="$pki/ca.crt" \
    --cluster-signing-cert-file="$pki/ca.crt" --cluster-signing-key-file="$pki/ca.key" \
    --client-ca-file="$pki/ca.crt" --requestheader-client-ca-file="$pki/front-proxy-ca.crt" \
    --allocate-node-cidrs --cluster-cidr="$pod_network" --service-cluster-ip-range="$service_network"
  control scheduler --kube-api-qps=1000 --kube-api-burst=1000
  run provisioner "$bin/addons" provisioner "$pki/admin.kubeconfig" /var/lib/volumes
}
