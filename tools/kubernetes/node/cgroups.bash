# shellcheck shell=bash disable=SC2154 # node.bash sets cgroup
# All processes of a node live below one cgroup, which is the root of what they see: down removes that cgroup, and
# whatever pods made of cgroups is below it. Both versions of cgroups, and the mixed form.

cgroup_controllers=(cpu cpuset memory pids)

# One line a hierarchy: MOUNT-POINT TYPE OPTIONS
cgroup_hierarchies() {
  awk '($3 == "cgroup" || $3 == "cgroup2") && $2 ~ "^/sys/fs/cgroup" {
    gsub(/(^|,)(rw|ro|relatime|nosuid|nodev|noexec|seclabel|xattr|nsdelegate|memory_recursiveprot|memory_hugetlb_accounting|release_agent=[^,]*)/, "", $4)
    sub(/^,/, "", $4)
    if ($4 ~ /^name=/) $4 = "none," $4
    print $2, $3, ($4 == "" ? "-" : $4)
  }' /proc/self/mounts
}

cgroup_version() { if [ "$(stat -fc %T /sys/fs/cgroup)" = cgroup2fs ]; then echo 2; else echo 1; fi; }

require_cgroups() {
  local has controller
  if [ "$(cgroup_version)" = 2 ]; then
    has=" $(< /sys/fs/cgroup/cgroup.controllers) "
  else
    has=" $(cgroup_hierarchies | awk '{ n = split($3, options, ","); for (i = 1; i <= n; i++) printf "%s ", options[i] }') "
  fi
  for controller in "${cgroup_controllers[@]}"; do
    [[ $has == *" $controller "* ]] ||
      fail "the cgroup controller $controller is missing (mounted: ${has% })" \
        "Mount it (mount -t cgroup -o $controller cgroup /sys/fs/cgroup/$controller), or boot with cgroup_enable=$controller."
  done
}

make_cgroups() {
  local at type file controller
  while read -r at type _; do
    mkdir -p -- "$at/$cgroup"
    for file in cpuset.cpus cpuset.mems; do # empty in a new one of version 1, and then nothing may run in it
      if [ "$type" = cgroup ] && [ -e "$at/$file" ]; then cat "$at/$file" > "$at/$cgroup/$file"; fi
    done
  done < <(cgroup_hierarchies)
  [ "$(cgroup_version)" = 2 ] || return 0
  for controller in "${cgroup_controllers[@]}"; do
    grep -qw "$controller" /sys/fs/cgroup/cgroup.subtree_control && continue
    echo "+$controller" > /sys/fs/cgroup/cgroup.subtree_control ||
      fail "the controller $controller cannot be handed down from /sys/fs/cgroup" 'In a container, give it a cgroup namespace of its own and a writable /sys/fs/cgroup.'
    echo "$controller" >> "$directory/state/controllers"
  done
}

join_cgroups() { # of the calling process
  local at
  while read -r at _; do echo "$BASHPID" > "$at/$cgroup/cgroup.procs"; done < <(cgroup_hierarchies)
}

# Version 2 hands controllers down only from cgroups without processes: the node's own move into a leaf.
delegate_cgroups() {
  local top=/sys/fs/cgroup/$cgroup pid controller pids
  [ "$(cgroup_version)" = 2 ] || return 0
  mkdir -p "$top/init"
  mapfile -t pids < "$top/cgroup.procs"
  for pid in "${pids[@]}"; do echo "$pid" > "$top/init/cgroup.procs"; done
  for controller in "${cgroup_controllers[@]}"; do echo "+$controller" > "$top/cgroup.subtree_control"; done
}

remove_cgroups() {
  local at pid deadline=$((SECONDS + 10))
  while read -r at _; do
    while [ -d "$at/$cgroup" ]; do
      find "$at/$cgroup" -depth -type d -exec rmdir {} + 2> /dev/null && break
      [ "$SECONDS" -lt "$deadline" ] || fail "$at/$cgroup cannot be removed" "See which processes hold it: cat $at/$cgroup/cgroup.procs"
      while read -r pid; do kill -KILL "$pid" 2> /dev/null || true; done < <(find "$at/$cgroup" -name cgroup.procs -exec cat {} + 2> /dev/null)
      sleep 0.02
    done
  done < <(cgroup_hierarchies)
}

# What make_cgroups changed on the machine itself.
restore_controllers() {
  local controller
  [ -e "$directory/state/controllers" ] || return 0
  while read -r controller; do
    echo "-$controller" > /sys/fs/cgroup/cgroup.subtree_control 2> /dev/null || true # somebody else uses it by now
  done < "$directory/state/controllers"
}

# In the node: the same hierarchies at the same places, but from the node's cgroup down.
mount_cgroups() { # what cgroup_hierarchies said, before; links, as NAME TARGET
  local at type options name target
  if grep -q '^/sys/fs/cgroup cgroup2' <<< "$1"; then
    mount -t cgroup2 cgroup2 /sys/fs/cgroup
    return
  fi
  mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
  while read -r at type options; do
    mkdir -p "$at"
    if [ "$options" = - ]; then mount -t "$type" cgroup "$at"; else mount -t "$type" -o "$options" cgroup "$at"; fi
  done <<< "$1"
  while read -r name target; do
    if [ -n "$name" ]; then ln -s "$target" "/sys/fs/cgroup/$name"; fi
  done <<< "$2"
}
