# shellcheck shell=bash
# What a node takes from Debian: package, and a file by which we know that it is there.

packages=(
  'containerd containerd'
  'runc runc'
  'containernetworking-plugins /usr/lib/cni/bridge'
  'iptables iptables'
  'conntrack conntrack'
  'ipset ipset'
  'socat socat'
  'ethtool ethtool'
  'iproute2 ip'
)

missing_packages() {
  local package file
  for package in "${packages[@]}"; do
    read -r package file <<< "$package"
    command -v "$file" > /dev/null || echo "$package"
  done
}

install_packages() { # packages
  local log
  [ $# -gt 0 ] || return 0
  command -v apt-get > /dev/null ||
    fail "missing: $*; and this machine has no apt-get" 'Install what these Debian packages hold by hand.'
  log=$(mktemp)
  say "installing $*"
  export DEBIAN_FRONTEND=noninteractive
  try() { apt-get --option Acquire::Retries=2 --option DPkg::Lock::Timeout=120 install --yes --quiet --no-install-recommends "$@"; }
  if ! try "$@" > "$log" 2>&1; then
    # The lists may be of old, or there are none yet.
    if ! { apt-get update --quiet && try "$@"; } > "$log" 2>&1; then
      tail -n 10 "$log" >&2
      rm -f -- "$log"
      fail "these packages cannot be installed: $*" \
        'If the mirror cannot be reached: see /etc/apt/sources.list and the proxy (apt-config dump Acquire). Or install them by hand.'
    fi
  fi
  rm -f -- "$log"
}
