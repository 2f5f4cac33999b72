# shellcheck shell=bash
# What all commands share: words, the directory of a cluster, its lock, and which processes are its own.
#
# DIR/.openstack-operator-kubernetes   says that DIR is ours, and may be emptied
# DIR/pids                             one line a process: PID NAME EXECUTABLE

export LC_ALL=C
marker=.openstack-operator-kubernetes

say() { printf '%s\n' "$*" >&2; }
fail() { # what is wrong, what to do
  say "tools/kubernetes/${0##*/}: $1"
  say "  $2"
  exit 1
}

value() { # the option, what follows it
  [ -n "${2-}" ] || fail "$1 needs a value" "See tools/kubernetes/${0##*/} --help."
  printf '%s' "$2"
}

needed() { command -v "$1" > /dev/null || fail "$1 is not on PATH" "Install it (Debian: apt-get install $2)."; }

now() { printf '%s' "${EPOCHREALTIME/[.,]/}"; } # microseconds
since() { # an earlier now(): seconds, with two decimals
  local took=$((($(now) - $1) / 10000))
  printf '%d.%02d' $((took / 100)) $((took % 100))
}

free_gib() { # directory, or one that is to be made
  local at=$1
  until [ -d "$at" ]; do at=$(dirname -- "$at"); done
  df -Pk -- "$at" | awk 'NR == 2 { print int($4 / 1048576) }'
}

default_directory() { printf '%s' "${TMPDIR:-/tmp}/openstack-operator-kubernetes"; }
default_node_directory() { printf '%s' "${XDG_CACHE_HOME:-$HOME/.cache}/openstack-operator/node"; }

# A directory with somebody else's files in it is never emptied, whatever was typed after --dir.
require_ours() {
  [ -O "$1" ] || fail "$1 belongs to another user" 'Choose another directory with --dir.'
  if [ ! -e "$1/$marker" ] && [ -n "$(ls -A -- "$1")" ]; then
    fail "$1 holds files that are not of a cluster" 'Choose another directory with --dir, or empty it.'
  fi
}

# Holds fd 9 until the script ends. The directory itself is the lock, so that nothing stays behind; a directory that
# was removed and made again while we waited is another one.
lock() {
  exec 9< "$1"
  flock 9
  [ "$1" -ef /proc/self/fd/9 ]
}

# Makes `directory` where it is not there, and locks it. Sets it to its path without symbolic links.
take_directory() {
  until
    mkdir -p -- "$directory" || fail "$directory cannot be made" 'Choose another directory with --dir.'
    directory=$(cd -P -- "$directory" && pwd)
    require_ours "$directory"
    lock "$directory"
  do :; done
}

# A process is ours when it still runs the executable that was noted, with this directory among its arguments: a pid
# of a dead process is given to a stranger sooner or later.
is_ours() { # directory, pid, executable
  local runs
  runs=$(readlink -- "/proc/$2/exe" 2> /dev/null) || return 1 # gone, or a zombie
  [ "${runs% (deleted)}" = "$3" ] && grep -qzF -- "$1/" "/proc/$2/cmdline" 2> /dev/null
}

# A zombie has let go of its files and ports; when it vanishes is up to its parent.
is_alive() { # pid
  local state
  state=$(sed -n 's/^State:[[:space:]]*//p' "/proc/$1/status" 2> /dev/null) || return 1
  [ -n "$state" ] && [ "${state:0:1}" != Z ]
}

# Its state is worth nothing after this, so nothing is asked to end gracefully.
# Sets `stopped` to their number.
stop_processes() { # directory
  local pid executable
  local -a killed=()
  stopped=0
  [ -e "$1/pids" ] || return 0
  while read -r pid _ executable; do
    is_ours "$1" "$pid" "$executable" || continue
    kill -KILL "$pid" 2> /dev/null || true
    killed+=("$pid")
  done < "$1/pids"
  # shellcheck disable=SC2034 # down reads it
  stopped=${#killed[@]}
  for pid in "${killed[@]}"; do
    while is_alive "$pid"; do sleep 0.01; done
  done
}
