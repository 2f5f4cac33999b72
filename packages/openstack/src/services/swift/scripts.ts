import { servers } from './configuration.ts';

const ports = Object.entries(servers).map(([kind, { port }]) => `${kind}:${port}`);

/**
 * Adds the devices that the builders do not have, and lets each partition move one replica at most. Arguments: folder,
 * partition power, replicas, hours between moves, then each device as `host/device`.
 */
export const buildRings = `folder=$1 power=$2 replicas=$3 hours=$4
shift 4
for server in ${ports.join(' ')}; do
  builder="$folder/\${server%:*}.builder"
  # It would begin anew where there is one already.
  [ -e "$builder" ] || swift-ring-builder "$builder" create "$power" "$replicas" "$hours"
  swift-ring-builder "$builder" set_min_part_hours "$hours"
  for device in "$@"; do
    where="--ip \${device%/*} --port \${server#*:} --device \${device#*/}"
    swift-ring-builder "$builder" search $where > /dev/null ||
      swift-ring-builder "$builder" add --region 1 --zone 1 $where --weight 100
  done
  if ! swift-ring-builder "$builder" | grep -q "^$((1 << power)) partitions, $replicas\\.0* replicas, .* $# devices, "; then
    swift-ring-builder "$builder"
    echo "\${server%:*}.builder is of another cluster than spec.storagePolicy, spec.storageNodes and spec.devicesPerNode ask for: state what it was, its data are still there; devices cannot be taken out yet, and the rest cannot be changed"
    exit 1
  fi
  # Status 1: nothing is to be moved, or not all of it may be moved yet.
  swift-ring-builder "$builder" rebalance || [ $? -eq 1 ]
done
`;

/** All daemons of a storage node in one container, which ends when one of them does. Arguments: their names. */
export const runDaemons = `# They end without rings, which are there once a Job has made them.
until [ -e /etc/swift/rings/object.ring.gz ]; do sleep 2; done
for daemon in "$@"; do
  "swift-$daemon" "/etc/swift/\${daemon%%-*}-server.conf" -v &
done
wait -n || true
echo "a daemon has ended: all of them are started anew"
exit 1
`;
