import { rsyncPort } from './configuration.ts';

/** How a program goes through devices, and what each gets: text of a loop, and of arguments of the builder. */
interface Targets {
  readonly each: string;
  readonly zone: string;
  readonly weight: string;
  /** Reads the row of a device, `$3` being its zone. */
  readonly row: string;
  /** Corrects the weight of a device that was looked at. */
  readonly weigh: string;
  /** Tells whether one of those that leave is lost, `host/device=lost`. */
  readonly lost: string;
  /** Takes such a one off the ring at once. */
  readonly lose: string;
}

/** Devices as `host/device`, which are alike. */
const equal: Targets = {
  each: 'for device in "$@"; do',
  zone: '1',
  weight: '100',
  row: '',
  weigh: '[ "$weight" != 0.00 ] || swift-ring-builder "$builder" set_weight $where 100 --yes',
  lost: '',
  lose: '',
};

/** Devices as `host/device=zone=weight`. */
const grouped: Targets = {
  each: `for target in "$@"; do
    device=\${target%%=*} zone=\${target#*=} wanted=\${target##*=}
    zone=\${zone%=*}`,
  zone: '"$zone"',
  weight: '"$wanted"',
  row: '  at=$3\n',
  weigh: `if [ "$at" != "$zone" ]; then
      echo "$name.builder has device $device in zone $at, and spec.storageGroups say $zone: replicas lie there by it; state $at, and for another zone a group of another name"
      exit 1
    fi
    [ "$weight" = "$wanted" ] || swift-ring-builder "$builder" set_weight $where "$wanted" --yes`,
  lost: `    left=$device device=\${device%=lost}
`,
  lose: `    if [ "$left" != "$device" ]; then
      echo "device $device is lost, with a replica of $parts partitions of $name: they are made anew from others, where there are any"
      swift-ring-builder "$builder" remove $where --yes
      continue
    fi
`,
};

/** Opens or makes each builder, and adds the devices that it does not have. */
const opened = ({ each, zone, weight }: Targets) => `for ring in $rings; do
  name=\${ring%%:*} replicas=\${ring##*:} port=\${ring#*:}
  port=\${port%:*}
  builder="$folder/$name.builder"
  if [ ! -e "$builder" ] && [ -e "$folder/$name.ring.gz" ]; then
    echo "$name.builder is gone, and its ring is there: restore the Secret of the rings from a backup; a new one would not find what is stored"
    exit 1
  fi
  # It would begin anew where there is one already.
  if [ ! -e "$builder" ]; then
    policy=\${name#\${name%%-*}}
    held="\${name%"$policy"}s$policy"
    ${each}
      listing=$(rsync "rsync://\${device%/*}:${rsyncPort}/\${name%"$policy"}/\${device#*/}/")
      echo "$listing" | grep " $held$" > /dev/null || continue
      echo "$name.builder is gone, and device $device holds what it has placed ($held): restore the Secret of the rings from a backup; a new one would not find what is stored. To do without it, delete $held on all devices"
      exit 1
    done
    swift-ring-builder "$builder" create "$power" "$replicas" "$hours"
  fi
  swift-ring-builder "$builder" set_min_part_hours "$hours"
  ${each}
    where="--ip \${device%/*} --port $port --device \${device#*/}"
    swift-ring-builder "$builder" search $where > /dev/null ||
      swift-ring-builder "$builder" add --region 1 --zone ${zone} $where --weight ${weight}
  done
`;

/** Refuses a builder of another cluster, and lets each partition of the others move one replica at most. */
const balanced = (
  devices: string,
  more: string,
) => `  # Without -q: the builder would say at length that nobody listens to it any more.
  if ! swift-ring-builder "$builder" | grep "^$((1 << power)) partitions, $replicas\\.0* replicas, .* ${devices} devices, " > /dev/null; then
    swift-ring-builder "$builder"
    echo "$name.builder is of another cluster than spec.storagePolicy, spec.storagePolicies, spec.storageNodes, spec.devicesPerNode and spec.storageGroups ask for: state what it was, its data are still there${more}"
    exit 1
  fi
  # Status 1: nothing is to be moved, or not all of it may be moved yet.
  swift-ring-builder "$builder" rebalance || [ $? -eq 1 ]
done
`;

/**
 * Adds the devices that the builders do not have, and lets each partition move one replica at most. Arguments: folder,
 * partition power, hours between moves, the rings as `name:port:replicas`, separated by blanks, then each device as
 * `host/device`. Where there is no builder the devices are asked whether they hold what one has placed: none is made over it.
 */
export const buildRings = `folder=$1 power=$2 hours=$3 rings=$4
shift 4
${opened(equal)}${balanced('$#', '; of these, spec.storageNodes and spec.storageGroups alone can be changed')}`;

/**
 * The same where devices leave, or have left: these get no weight, so that their partitions move away in the same steps. One
 * that had neither weight nor partitions when the run began, as all servers know by the rings of the run before, and whose
 * folders of this ring are empty, is removed. It is looked at twice, because a proxy may know the rings of before for a minute.
 * One that stays, and was about to leave, gets its weight back. `leaving`, the fifth argument, has those that leave, separated by
 * blanks. Replicators of a device that is in no ring move nothing any more, and one without partitions is nobody's handoff
 * (swift/common/ring/ring.py, get_more_nodes): hence this order.
 */
const moving = (targets: Targets) => `folder=$1 power=$2 hours=$3 rings=$4 leaving=$5
shift 5
newline='
'
look() {
  where="--ip \${1%/*} --port $port --device \${1#*/}"
  row=$(swift-ring-builder "$builder" search $where) || return 1
  set -- \${row##*"$newline"}
${targets.row}  shift 8
  weight=$1 parts=$2
}
is_empty() {
  policy=\${name#\${name%%-*}}
  folders="\${name%"$policy"}s$policy"
  [ "\${name%"$policy"}" != object ] || folders="$folders async_pending$policy"
  url="rsync://\${1%/*}:${rsyncPort}/\${name%"$policy"}/\${1#*/}/"
  listing=$(rsync "$url") || return 1
  for one in $folders; do
    echo "$listing" | grep " $one$" > /dev/null || continue
    entries=$(rsync "$url$one/") || return 1
    case $entries in
      *"$newline"*)
        echo "$1 has no partition of $name any more, and $one is not empty yet"
        return 1
        ;;
    esac
  done
}
${opened(targets)}  ${targets.each}
    look "$device"
    ${targets.weigh}
  done
  count=$# empty=
  for device in $leaving; do
${targets.lost}    look "$device" || continue
    count=$((count + 1))
${targets.lose}    if [ "$weight" != 0.00 ]; then
      swift-ring-builder "$builder" set_weight $where 0 --yes
    elif [ "$parts" = 0 ] && is_empty "$device"; then
      empty="$empty $device"
    fi
  done
  [ -z "$empty" ] || sleep 120
  for device in $empty; do
    look "$device"
    ! is_empty "$device" || swift-ring-builder "$builder" remove $where --yes
  done
${balanced('$count', '; it has other devices than this Swift has had')}`;

/** Where all devices are alike. */
export const moveRings = moving(equal);

/** Where they are of groups: each device is `host/device=zone=weight`, those that leave excepted. */
export const groupRings = moving(grouped);

/**
 * Tells what the rings still have of devices that leave. Arguments: a folder to work in, a folder with the builders, names of
 * the rings, separated by blanks, what it says once there is nothing, then each device as `host/device`.
 */
export const awaitRemoval = `folder=$1 builders=$2 rings=$3 words=$4
shift 4
left=
for name in $rings; do
  # The builder wants to write beside it.
  cat "$builders/$name.builder" > "$folder/$name.builder"
  swift-ring-builder "$folder/$name.builder" | grep " partitions, " > /dev/null
  for device in "$@"; do
    row=$(swift-ring-builder "$folder/$name.builder" search --ip "\${device%/*}" --device "\${device#*/}") || continue
    parts=$(echo "$row" | while read -r _ _ _ _ _ _ _ _ _ parts _; do echo "$parts"; done)
    parts=\${parts##*[!0-9]}
    case $parts in
      0) has="is to be empty of what $name had there" ;;
      *) has="has $parts partitions of $name" ;;
    esac
    left="\${left:+$left; }\${device%%.*}/\${device#*/} $has"
  done
done
if [ -n "$left" ]; then
  echo "$left" >&2
  exit 1
fi
printf '%s' "$words" > /dev/termination-log
`;

/**
 * Compares the storage policies with those whose rings were made, and says beside the rings what they are. Arguments: folder
 * of the rings, a folder where an earlier operator may have published them, then each policy as a line of `field=value`. Once
 * they are published elsewhere, the file `superseded` says that those are old: they are taken for current no more.
 */
export const comparePolicies = `folder=$1 former=$2
shift 2
# They lay with the rings of the servers once: what is published there later is older than this.
if [ ! -e "$folder/policies" ] && [ ! -e "$former/superseded" ]; then
  for file in "$former"/object-*; do
    own=$folder/\${file##*/}
    # A copy by cp could not be written to: the mode of the mount is kept.
    [ ! -e "$file" ] || [ -e "$own" ] || cat "$file" > "$own"
  done
fi
for builder in "$folder"/object-*.builder; do
  [ -e "$builder" ] || continue
  index=\${builder##*-}
  index=index=\${index%.builder}
  was=$index
  if [ -e "$folder/policies" ]; then
    was=$(grep "^$index " "$folder/policies") || was=$index
  fi
  is=
  for policy in "$@"; do
    case "$policy" in "$index "*) is=$policy;; esac
  done
  if [ -z "$is" ]; then
    echo "spec.storagePolicies has no policy with $index, and its objects are still there: state it as it was ($was)"
    exit 1
  fi
  for field in $was; do
    case " $is " in *" $field "*) continue;; esac
    echo "spec.storagePolicies: the rings of a policy were made for $field ($was), and it says $is now: its objects would not be found; delete this Swift, whose volumes stay with deletionPolicy Retain, and state the policy as it was; add another one for what you want"
    exit 1
  done
done
echo "# The storage policies whose rings these are: none is made another one." > "$folder/policies"
for policy in "$@"; do
  echo "$policy" >> "$folder/policies"
done
`;

/** All daemons of a storage node in one container, which ends when one of them does. Arguments: names of rings, separated by blanks, then theirs. `first`: what goes before them. */
export const runDaemons = (
  first: string,
): string => `# They end without rings, which are there once a Job has made them.
for ring in $1; do
  until [ -e "/etc/swift/rings/$ring.ring.gz" ]; do sleep 2; done
done
shift
${first}for daemon in "$@"; do
  "swift-$daemon" "/etc/swift/\${daemon%%-*}-server.conf" -v &
done
wait -n || true
echo "a daemon has ended: all of them are started anew"
exit 1
`;

/** Whether a file system has room for the metadata of objects: text of scripts. */
export const takesMetadata = {
  /** Makes the value. */
  value: `value=0123456789abcdef
while [ \${#value} -lt 8192 ]; do value=$value$value; done
`,
  /** Sets it below `folder`; what follows says why that did not work: `said`, on a file system of `type`. */
  attempt: `  : > "$folder/.check"
  # The library by which Swift sets them is there, wherever Swift is.
  said=$(python3 -m xattr.tool -w user.swift.metadata "$value" "$folder/.check" 2>&1) || {
    rm "$folder/.check"
    type=$(df --output=fstype "$folder" | tail -n 1)
`,
};

/**
 * Refuses a device that nobody has used yet, and whose file system has no room for the metadata of objects. By Swift's limits an object
 * has some 7 KB of it (swift/common/constraints.py: 4096 bytes of the user's in 90 headers), in one extended attribute. Arguments: names of devices.
 */
export const checkDevices = `${takesMetadata.value}for device in "$@"; do
  folder=/srv/node/$device
  for used in "$folder"/accounts "$folder"/containers "$folder"/objects*; do
    [ ! -e "$used" ] || continue 2
  done
${takesMetadata.attempt}    echo "device $device, of $type, takes no metadata of 8 KiB ($said), and is not used: make this Swift anew with a StorageClass of xfs (spec.storage.storageClassName), or set spec.checkDevices: false, with which objects are refused that have more metadata than it takes"
    exit 1
  }
  rm "$folder/.check"
done
`;
