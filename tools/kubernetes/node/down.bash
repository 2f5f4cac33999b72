# shellcheck shell=bash disable=SC2154 # node.bash sets directory, down and up the rest
# The end of nodes: of those that run, of those that were killed, of those that never became Ready.

# Killing PID 1 ends all processes, and with the last of them go mounts, network and iptables. Nothing is asked to end
# gracefully: etcd and the pods lose no more than at a power cut.
take_down() { # keep: the state, for the next up
  local pid each
  if [ -e "$directory/state/instance" ]; then
    use_instance "$(< "$directory/state/instance")"
    for each in $(nodes_of); do
      use_node "$each"
      if node_runs; then
        pid=$(< "$node_state/pid")
        kill -KILL "$pid"
        while is_alive "$pid"; do sleep 0.01; done
      fi
      remove_cgroups
      rm -f -- "$node_state"/{pid,go}
    done
    restore_controllers
    disconnect_nodes
    restore_machine
    # What kubectl remembers of this API server; the next one at the same address is another.
    rm -rf -- "$HOME/.kube/cache/discovery/${node_address}_6443"
  fi
  rm -f -- "$directory/kubeconfig"
  if [ "${1-}" = keep ] && [ -e "$directory/state/complete" ]; then
    rm -f -- "$directory"/state/{sysctls,modules,controllers}
    touch "$directory/state/kept"
  else
    rm -rf --one-file-system -- "$directory/state"
  fi
}
