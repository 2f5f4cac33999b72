import type { Connected } from './component.ts';

/** Where the script of `connectedProbe` is mounted. */
export const connectedPath = '/etc/openstack/connected.sh';

/**
 * The command of a probe. `ready`: the program runs, and each of its workers holds a connection to each peer. `alive`:
 * the same, but a peer at which nobody answers is passed over, because a restart would not bring it back.
 */
export function connectedProbe({ connected, to }: Connected, question: 'ready' | 'alive'): readonly string[] {
  return ['bash', connectedPath, question, connected, ...to];
}

/**
 * `tcp:host:port,ssl:[::1]:port` of OVSDB as a peer of `Connected`. Programs connect to one of a cluster's members.
 */
export function ovsdbPeer(remote: string): string {
  return remote
    .split(',')
    .map((one) => one.replace(/^(tcp|ssl):/, ''))
    .join(',');
}

/**
 * Looks at /proc alone, so that it costs little and needs no password. A program that hangs answers no heartbeat: the
 * peer ends the connection, which then is no longer established (state 01) although the program still holds it.
 *
 * The processes of probes, and shells of `kubectl exec`, have no parent in the container. A parent that has forked
 * workers talks to nobody itself: only processes without such children count.
 */
export const connectedScript = `# Whether a program serves: bash connected.sh ready|alive PROGRAM HOST:PORT[,HOST:PORT...]...
question=$1
program=$2
shift 2

pids=''
parents=' '
# In brackets the first letter matches itself, and not this command's own line.
pattern="[\${program%"\${program#?}"}]\${program#?}"
for file in $(grep -al -e "$pattern" /proc/[0-9]*/cmdline 2>/dev/null); do
  # Other probes.
  if grep -aq -e connected.sh "$file" 2>/dev/null; then continue; fi
  directory=\${file%/cmdline}
  pid=\${directory#/proc/}
  # pid (name) state parent ...
  stat=$(cat "$directory/stat" 2>/dev/null) || continue
  stat=\${stat##*) }
  state=\${stat%% *}
  stat=\${stat#* }
  parent=\${stat%% *}
  if [ "$pid" = 1 ] || [ "$parent" = 0 ]; then continue; fi
  case $state in
    T | t | Z | X) echo "$program: process $pid does not run: its state is $state"; exit 1 ;;
  esac
  pids="$pids $pid"
  parents="$parents$parent "
done
if [ -z "$pids" ]; then echo "$program does not run"; exit 1; fi

# Whether somebody answers at one of the peer's addresses.
answers() {
  for address in $addresses; do
    host=\${address%:*}
    host=\${host#[}
    if timeout 2 bash -c ": < '/dev/tcp/\${host%]}/\${address##*:}'" 2>/dev/null; then return 0; fi
  done
  return 1
}

for peer in "$@"; do
  addresses=$(echo "$peer" | tr ',' ' ')
  ports=''
  for address in $addresses; do ports="$ports|$(printf '%04X' "\${address##*:}")"; done
  connections=$(grep -hE "^ *[0-9]+: [0-9A-F]+:[0-9A-F]+ [0-9A-F]+:(\${ports#|}) 01 " /proc/net/tcp /proc/net/tcp6 2>/dev/null)
  for pid in $pids; do
    case $parents in *" $pid "*) continue ;; esac
    held=$(readlink /proc/"$pid"/fd/* 2>/dev/null)
    connected=no
    while read -r _ _ _ _ _ _ _ _ _ inode _; do
      case $held in *"socket:[$inode]"*) connected=yes ;; esac
    done <<END
$connections
END
    if [ "$connected" = no ]; then
      # It may have gone, as short-lived children do.
      if [ ! -d "/proc/$pid" ]; then continue; fi
      if [ "$question" = alive ] && ! answers; then
        echo "$program: process $pid waits for $peer, where nobody answers"
        break
      fi
      echo "$program: process $pid has no connection to $peer"
      exit 1
    fi
  done
done
exit 0
`;
