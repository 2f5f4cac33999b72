/**
 * Adds the devices that the builders do not have, and lets each partition move one replica at most. Arguments: folder,
 * partition power, hours between moves, the rings as `name:port:replicas`, separated by blanks, then each device as
 * `host/device`.
 */
export const buildRings = `folder=$1 power=$2 hours=$3 rings=$4
shift 4
for builder in "$folder"/*.builder; do
  name=\${builder##*/}
  name=\${name%.builder}
  case " $rings" in *" $name:"*) continue;; esac
  [ -e "$builder" ] || continue
  echo "$name.builder is of a storage policy that spec.storagePolicies does not have: state it as it was, its objects are still there"
  exit 1
done
for ring in $rings; do
  name=\${ring%%:*} replicas=\${ring##*:} port=\${ring#*:}
  port=\${port%:*}
  builder="$folder/$name.builder"
  if [ ! -e "$builder" ] && [ -e "$folder/$name.ring.gz" ]; then
    echo "$name.builder is gone, and its ring is there: restore the Secret of the rings from a backup; a new one would not find what is stored"
    exit 1
  fi
  # It would begin anew where there is one already.
  [ -e "$builder" ] || swift-ring-builder "$builder" create "$power" "$replicas" "$hours"
  swift-ring-builder "$builder" set_min_part_hours "$hours"
  for device in "$@"; do
    where="--ip \${device%/*} --port $port --device \${device#*/}"
    swift-ring-builder "$builder" search $where > /dev/null ||
      swift-ring-builder "$builder" add --region 1 --zone 1 $where --weight 100
  done
  # Without -q: the builder would say at length that nobody listens to it any more.
  if ! swift-ring-builder "$builder" | grep "^$((1 << power)) partitions, $replicas\\.0* replicas, .* $# devices, " > /dev/null; then
    swift-ring-builder "$builder"
    echo "$name.builder is of another cluster than spec.storagePolicy, spec.storagePolicies, spec.storageNodes and spec.devicesPerNode ask for: state what it was, its data are still there; devices cannot be taken out yet, and the rest cannot be changed"
    exit 1
  fi
  # Status 1: nothing is to be moved, or not all of it may be moved yet.
  swift-ring-builder "$builder" rebalance || [ $? -eq 1 ]
done
`;

/** All daemons of a storage node in one container, which ends when one of them does. Arguments: names of rings, separated by blanks, then theirs. */
export const runDaemons = `# They end without rings, which are there once a Job has made them.
for ring in $1; do
  until [ -e "/etc/swift/rings/$ring.ring.gz" ]; do sleep 2; done
done
shift
for daemon in "$@"; do
  "swift-$daemon" "/etc/swift/\${daemon%%-*}-server.conf" -v &
done
wait -n || true
echo "a daemon has ended: all of them are started anew"
exit 1
`;
