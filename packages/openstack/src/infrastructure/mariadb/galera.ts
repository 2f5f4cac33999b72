import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Layer } from '../../oslo/layers.ts';
import { heldMembers, quorumSize, wantedServers } from '../quorum-size.ts';
import type { MariaDB } from './kind.ts';
import { becomeServer, prepareServer } from './start.ts';

/**
 * How many members run; undefined for one server without a cluster. Where one server was, that becomes the first member
 * before others join it. What has been a cluster stays one: a server of its own writes what the other members' disks do not
 * tell from what they have.
 */
export function clusterSize(context: Context<MariaDB>): number | undefined {
  const held = heldMembers(context);
  const size = quorumSize(wantedServers(context), held);
  const wasSingle = held === undefined && context.surroundings.release.deployed !== undefined;
  return wasSingle && size !== undefined ? Math.min(size, 1) : size;
}

/** Ports at which members meet: state transfer, replication, incremental state transfer, and what a disk holds. */
const memberPorts = { sst: 4444, galera: 4567, ist: 4568, state: 4569 };

/** What a member has beyond a server. */
export function member(context: Context<MariaDB>, size: number): Partial<Component> {
  const { name, namespace, host, surroundings } = context;
  const pods = Array.from({ length: Math.max(size, heldMembers(context) ?? 0) }, (_, ordinal) => `${name}-${ordinal}`);
  return {
    quorum: {
      size,
      primary: surroundings.members.primary ?? `${name}-0`,
      ports: Object.keys(memberPorts),
    },
    runs: { script: startScript },
    ports: { mysql: 3306, ...memberPorts },
    env: {
      POD_NAME: { field: 'metadata.name' },
      POD_IP: { field: 'status.podIP' },
      MEMBERS: pods.join(' '),
      MEMBERS_DOMAIN: host('members'),
      CLUSTER_NAME: `${namespace}.${name}`,
    },
    health: {
      exec: [
        'bash',
        '-c',
        `mariadb --defaults-extra-file=/run/mysqld/probe.cnf -BNe "SHOW STATUS LIKE 'wsrep_ready'" | grep -q ON`,
      ],
      // Without a majority a member is not ready, and a restart does not bring one.
      alive: ['mariadb-admin', '--defaults-extra-file=/run/mysqld/probe.cnf', 'ping'],
      periodSeconds: 2,
    },
    // It waits for the disks of all members after a power cut, or copies the data of another one.
    startupSeconds: 86_400,
  };
}

/** Options of a member (mariadb.com/kb/en/configuring-mariadb-galera-cluster). */
export const memberOptions: Layer[string] = {
  'binlog-format': 'ROW',
  'default-storage-engine': 'InnoDB',
  'innodb-autoinc-lock-mode': 2,
  'wsrep-on': 'ON',
  'wsrep-sst-method': 'mariabackup',
  // The operating system's user of the server, by the Unix socket: there is no password.
  'wsrep-sst-auth': 'mysql:',
  'wsrep-slave-threads': 2,
  'wsrep-retry-autocommit': 3,
  'wsrep-provider-options':
    'gcache.size=128M;gcache.recover=yes;pc.recovery=true;gmcast.listen_addr=tcp://0.0.0.0:4567',
};

/** What users cannot set: a member that is told something else is in no cluster, or in another one. */
export const ownedOfMembers: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['on', 'provider', 'cluster-address', 'cluster-name', 'node-name', 'node-address', 'start-position', 'recover'].map(
      (option) => [`wsrep-${option}`, 'spec.replicas'],
    ),
  ),
  'wsrep-new-cluster': 'nothing: the members find out who begins',
  'wsrep-sst-method': 'nothing: the accounts of the members are for mariabackup',
  'wsrep-sst-auth': 'nothing: the accounts of the members are for mariabackup',
  'binlog-format': 'nothing: members replicate rows',
  'default-storage-engine': 'nothing: members replicate tables of InnoDB alone',
  'innodb-autoinc-lock-mode': 'nothing: members write side by side',
};

/** What only members have accounts for: mariadb-backup logs in as the operating system's user. */
const memberAccounts = `CREATE USER IF NOT EXISTS mysql@localhost IDENTIFIED VIA unix_socket;
GRANT RELOAD, PROCESS, LOCK TABLES, BINLOG MONITOR, REPLICA MONITOR ON *.* TO mysql@localhost;
`;

const startScript = `# Starts one member. Who begins a cluster is decided by what the disks of all members hold, never by an ordinal alone.
data=/var/lib/mysql/data
run=/run/mysqld
say() { echo "galera: $*" >&2; }
# The first process of a container is not ended by a signal that it does not handle: who waits goes when it is told to.
trap 'exit 143' TERM
# The first other member that runs.
running() {
  for member in $MEMBERS; do
    if [ "$member" != "$POD_NAME" ] && socat -u OPEN:/dev/null "TCP:$member.$MEMBERS_DOMAIN:4567,connect-timeout=1" 2>/dev/null; then
      echo "$member"
      return 0
    fi
  done
  return 1
}
for provider in /usr/lib/galera/libgalera_smm.so /usr/lib64/galera-4/libgalera_smm.so /usr/lib64/galera/libgalera_smm.so; do
  if [ -e "$provider" ]; then break; fi
done
# What this disk holds. A position that nobody knows is "broken": it must not lose to an empty disk.
kind=empty uuid=- seqno=-1 safe=0
if [ -d "$data/mysql" ]; then
  kind=standalone
  if [ -f "$data/grastate.dat" ]; then
    kind=member
    safe=$(grep '^safe_to_bootstrap:' "$data/grastate.dat" | tr -d -c 01)
    rm -f "$run/recover.log"
    if ! mariadbd --defaults-file=/etc/openstack/my.cnf --wsrep-recover --wsrep-provider="$provider" --wsrep-cluster-address=gcomm:// --skip-networking --log-error="$run/recover.log"; then
      cat "$run/recover.log" >&2
      exit 1
    fi
    position=$(grep -o 'Recovered position: .*' "$run/recover.log" | tail -n 1)
    position=\${position#*position: }
    uuid=\${position%%:*}
    seqno=\${position#*:}
    seqno=\${seqno%%,*}
    if [ -z "$uuid" ] || [ "$uuid" = 00000000-0000-0000-0000-000000000000 ]; then kind=broken; fi
  fi
elif [ -d "$data" ] && [ -n "$(ls -A "$data")" ]; then
  kind=broken
fi
if [ -e "$data/sst_in_progress" ]; then kind=broken; fi
echo "$POD_NAME $kind \${uuid:--} \${seqno:--1} \${safe:-0}" > "$run/state"
say "this disk: $(cat "$run/state")"
# Joins who runs. Else waits until all members have told what they hold, and the one that holds the most begins.
begins= told=
if ! peer=$(running); then
  socat TCP-LISTEN:4569,reuseaddr,fork "SYSTEM:cat $run/state" &
  server=$!
  while ! peer=$(running); do
    count=0 clusters= best= broken= first=
    : > "$run/states"
    for member in $MEMBERS; do
      count=$((count + 1))
      if [ "$member" = "$POD_NAME" ]; then cat "$run/state" >> "$run/states"; else
        socat -u "TCP:$member.$MEMBERS_DOMAIN:4569,connect-timeout=1" - >> "$run/states" 2>/dev/null || true
      fi
    done
    while read -r name its_kind its_uuid its_seqno its_safe; do
      count=$((count - 1))
      case $its_kind in
        member)
          rank=3
          case " $clusters " in *" $its_uuid "*) ;; *) clusters="$clusters $its_uuid" ;; esac
          ;;
        standalone) rank=2 ;;
        empty) rank=1 ;;
        *)
          broken="$broken $name"
          continue
          ;;
      esac
      if [ -z "$first" ] || [ "$rank" -gt "$best" ] || { [ "$rank" = "$best" ] && [ "$its_seqno" -gt "$best_seqno" ]; } ||
        { [ "$rank" = "$best" ] && [ "$its_seqno" = "$best_seqno" ] && [ "$its_safe" -gt "$best_safe" ]; }; then
        first=$name best=$rank best_seqno=$its_seqno best_safe=$its_safe
      fi
    done < "$run/states"
    words=
    if [ "$count" != 0 ]; then
      words="waits until the other members tell what their disks hold; so far: $(tr '\\n' ';' < "$run/states")"
    elif [ "$(echo $clusters | tr ' ' '\\n' | grep -c .)" -gt 1 ]; then
      words="members of different clusters, delete the PersistentVolumeClaim and the pod of those whose data do not count: $(tr '\\n' ';' < "$run/states")"
    elif [ -n "$broken" ] && [ -z "$clusters" ]; then
      words="nobody knows how far the data of$broken go; delete the PersistentVolumeClaim and the pod of those whose data do not count, or restore them"
    elif [ "$first" = "$POD_NAME" ]; then
      begins=yes
      break
    fi
    if [ -n "$words" ] && [ "$words" != "$told" ]; then
      say "$words"
      told=$words
    fi
    sleep 1
  done
  kill "$server" 2>/dev/null || true
fi
if [ -n "$begins" ]; then say "begins the cluster: $(tr '\\n' ';' < "$run/states")"; else
  say "joins $peer"
  if [ "$kind" = standalone ]; then
    say "this disk holds a server of its own, and other members run: delete its PersistentVolumeClaim and this pod, or theirs"
    sleep 10
    exit 1
  fi
  # The state transfer brings what counts. What is left of an earlier one is a part of the same, and takes room.
  if [ -e "$data/sst_in_progress" ]; then
    rm -rf "$data"
  elif [ "$kind" = broken ]; then
    rm -rf "$data.old"
    mv "$data" "$data.old"
  fi
  mkdir -p "$data"
fi
if [ -n "$begins" ]; then
${prepareServer}
  if [ -f "$data/grastate.dat" ]; then sed -i 's/^safe_to_bootstrap:.*/safe_to_bootstrap: 1/' "$data/grastate.dat"; fi
fi
addresses=
for member in $MEMBERS; do addresses="$addresses,$member.$MEMBERS_DOMAIN"; done
set -- "--wsrep-cluster-address=gcomm://\${addresses#,}" --wsrep-provider="$provider" --wsrep-cluster-name="$CLUSTER_NAME" --wsrep-node-name="$POD_NAME" --wsrep-node-address="$POD_IP"
# Without its position a member would believe that it has all that the others have.
if [ "$kind" = member ]; then set -- "$@" --wsrep-start-position="$uuid:$seqno"; fi
if [ -n "$begins" ]; then set -- "$@" --wsrep-new-cluster; fi
${becomeServer({ first: 'SET SESSION wsrep_on = OFF;\n', accounts: memberAccounts, more: ' "$@"' })}`;
