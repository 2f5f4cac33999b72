import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { heldMembers, quorumSize, wantedServers } from '../quorum-size.ts';
import type { RabbitMQ } from './kind.ts';
import { firstStart, prepare } from './start.ts';

/**
 * How many members run; undefined for one broker without a cluster. A single broker has the name of a first member from the
 * beginning, and others join it as it runs.
 */
export function clusterSize(context: Context<RabbitMQ>): number | undefined {
  return quorumSize(wantedServers(context), heldMembers(context));
}

/** Ports at which members meet: Erlang's names, Erlang's distribution, and what a disk holds. */
const memberPorts = { epmd: 4369, distribution: 25_672, state: 4370 };

/** Is there until the queues have a replica on a member that has joined. */
const growing = '/var/lib/rabbitmq/growing';

/** Settings that the start script writes for a member that joins. */
const joining = '/run/rabbitmq/cluster.conf';

/** What a member has beyond a single broker. */
export function member(
  context: Context<RabbitMQ>,
  size: number,
  { ports, env }: Pick<Component, 'ports' | 'env'>,
): Partial<Component> {
  const { name, host } = context;
  const pods = Array.from({ length: Math.max(size, heldMembers(context) ?? 0) }, (_, ordinal) => `${name}-${ordinal}`);
  return {
    quorum: { size, ports: Object.keys(memberPorts) },
    runs: { script: startMember },
    ports: { ...ports, ...memberPorts },
    env: { ...env, MEMBERS: pods.join(' '), MEMBERS_DOMAIN: host(''), RABBITMQ_CONFIG_FILES: joining },
    health: {
      // A member without a majority closes the port (pause_minority). To ask it by rabbitmq-diagnostics costs seconds of a processor.
      exec: ['bash', '-c', `[ ! -e ${firstStart} ] && [ ! -e ${growing} ] && : < /dev/tcp/127.0.0.1/5672`],
      // A restart does not bring a majority, but helps one that cannot join.
      alive: ['bash', '-c', `[ ! -e ${firstStart} ] && : < /dev/tcp/127.0.0.1/25672`],
    },
  };
}

const startMember = `# Starts one member. One with an empty disk joins those that hold the queues, and begins a cluster only where no disk holds any.
${prepare}growing=${growing}
joins=
say() { echo "cluster: $*" >&2; }
# The first process of a container is not ended by a signal that it does not handle: who waits goes when it is told to.
trap 'exit 143' TERM
rm -f ${joining}
if [ -e "$first" ] || [ ! -e "$RABBITMQ_MNESIA_BASE" ]; then
  touch "$first"
  rm -rf "\${RABBITMQ_MNESIA_BASE:?}"
fi
socat TCP-LISTEN:${memberPorts.state},reuseaddr,fork "SYSTEM:if [ -e $first ]; then echo empty; else echo data; fi" &
if [ -e "$first" ]; then
  # Others may count this member as one of theirs still, and have paused without it: where Erlang answers under its name,
  # they go on, and can forget it.
  erl -noinput -name "$RABBITMQ_NODENAME" -kernel inet_dist_listen_min ${memberPorts.distribution} inet_dist_listen_max ${memberPorts.distribution} &
  erlang=$!
  told=
  while :; do
    holding= unknown=
    for member in $MEMBERS; do
      if [ "$member" = "$POD_NAME" ]; then continue; fi
      case $(socat -u "TCP:$member.$MEMBERS_DOMAIN:${memberPorts.state},connect-timeout=1" - 2> /dev/null || true) in
        data) holding="$holding $member" ;;
        empty) ;;
        # A single broker, which becomes a member after others have joined it.
        *) if socat -u OPEN:/dev/null "TCP:$member.$MEMBERS_DOMAIN:5672,connect-timeout=1" 2> /dev/null; then holding="$holding $member"; else unknown="$unknown $member"; fi ;;
      esac
    done
    words=
    for member in $holding; do
      # It takes long where queues have no majority, and cannot be told so.
      if words=$(timeout 120 rabbitmqctl -q -n "rabbit@$member.$MEMBERS_DOMAIN" forget_cluster_node "$RABBITMQ_NODENAME" 2>&1) ||
        echo "$words" | grep -q 'not in the cluster'; then
        joins=$member
        break
      fi
    done
    if [ -n "$joins" ]; then break; fi
    if [ -n "$holding" ]; then
      words="waits until one of$holding runs"
    elif [ -n "$unknown" ]; then
      words="waits until$unknown tell whether their disks hold queues"
    elif [ "$POD_NAME" = "\${MEMBERS%% *}" ]; then
      break
    else
      words="waits until \${MEMBERS%% *} has begun a cluster"
    fi
    if [ "$words" != "$told" ]; then
      say "$words"
      told=$words
    fi
    sleep 1
  done
  kill -KILL "$erlang"
  wait "$erlang" || true
  if [ -n "$joins" ]; then
    say "joins $joins"
    touch "$growing"
    cat > ${joining} <<END
cluster_formation.peer_discovery_backend = classic_config
cluster_formation.classic_config.nodes.1 = rabbit@$joins.$MEMBERS_DOMAIN
cluster_formation.classic_config.nodes.2 = $RABBITMQ_NODENAME
# It never begins a cluster of its own instead.
cluster_formation.discovery_retry_limit = 1000000
END
  else
    say 'begins a cluster'
    rm -f "$growing"
  fi
  {
    until rabbitmqctl -q await_startup > /dev/null 2>&1; do sleep 1; done
    # Of two nodes RabbitMQ chooses the older one by their clocks, which may be wrong.
    if [ -n "$joins" ] && ! grep -q "$joins" "$RABBITMQ_MNESIA_BASE/$RABBITMQ_NODENAME/cluster_nodes.config"; then
      say "has not joined $joins, and begins anew"
      kill 1
    else
      rm "$first"
    fi
  } &
fi
# What was there before a member is on the others alone: without this, it would be lost with them.
if [ -e "$growing" ]; then
  {
    left=20
    until [ ! -e "$first" ] && words=$(rabbitmq-queues -q --errors-only grow "$RABBITMQ_NODENAME" all 2>&1) && ! echo "$words" | grep -q error:; do
      if [ ! -e "$first" ]; then left=$((left - 1)); fi
      if [ "$left" = 0 ]; then
        say "some queues have no replica on this member: $words"
        break
      fi
      sleep 3
    done
    rm "$growing"
  } &
fi
exec /usr/lib/rabbitmq/bin/rabbitmq-server
`;
