import { takesMetadata } from './scripts.ts';

/** What names are hashed with, which says whose a device is. */
const mark = `mark=$(grep '^swift_hash_path' /etc/swift/swift.conf | sha256sum)
`;

/**
 * Looks at `$device` of the directory `$path` of a node, and says what is wrong with it. Status 1: it is of no use, and others go on
 * without it. Status 2: it is another Swift's. A new one has to have room for metadata (`$mode` is `check`), and is marked then.
 */
const look = `${mark}${takesMetadata.value}look() {
  folder=/srv/node/$device where="device $device of node $NODE ($path/$device)"
  if ! mountpoint -q "$folder"; then
    echo "$where is not mounted: it is left out until it is"
    return 1
  fi
  if ! ls "$folder" > /dev/null; then
    echo "$where cannot be read: it is left out"
    return 1
  fi
  if [ ! -w "$folder" ]; then
    echo "$where cannot be written to by the user of Swift, and is left out: on the node, chown $(id -u):$(id -g) $path/$device, or mount it anew if it is mounted to be read only"
    return 1
  fi
  if [ -s "$folder/.swift" ]; then
    if ! held=$(cat "$folder/.swift"); then
      echo "$where cannot be read: it is left out"
      return 1
    fi
    [ "$held" != "$mark" ] || return 0
    echo "$where has objects of another Swift, or this one has lost what names are hashed with: restore its Secret from a backup; to use the device for this Swift, make a file system there anew"
    return 2
  fi
  used=
  for one in "$folder"/accounts "$folder"/containers "$folder"/objects*; do
    [ ! -e "$one" ] || used=$one
  done
  if [ -z "$used" ] && [ "$mode" = check ]; then
${takesMetadata.attempt}      echo "$where, of $type, takes no metadata of 8 KiB ($said), and is not used: make a file system of xfs there, or set spec.checkDevices: false, with which objects are refused that have more metadata than it takes"
      return 1
    }
    rm "$folder/.check"
  fi
  # A node that loses its power leaves no half of it.
  if ! { echo "$mark" > "$folder/.swift.new" && sync "$folder/.swift.new" && mv "$folder/.swift.new" "$folder/.swift" && sync "$folder"; }; then
    echo "$where cannot be written to: it is left out"
    return 1
  fi
}
`;

const taken = `mode=$1 path=$2
shift 2
${look}`;

/**
 * Looks at the devices of a node before servers use them. Ends where one is another Swift's: what else is wrong is told by what goes
 * on looking. Arguments: `check` or `accept`, directory of the node, names of devices.
 */
export const checkMounts = `${taken}for device in "$@"; do
  look || [ $? -eq 1 ] || exit 1
done
`;

/** Goes on looking until something is wrong with a device: one may be mounted later. Arguments: those of `checkMounts`. */
export const watchMounts = `${taken}while true; do
  for device in "$@"; do
    look || exit 1
  done
  sleep 20
done
`;

/** Fails, and names it, where a device is not mounted, or nobody has looked at it yet. Arguments: names of devices. */
export const findUnmounted =
  'for device in "$@"; do mountpoint -q "/srv/node/$device" && [ -s "/srv/node/$device/.swift" ] || { echo "device $device of node $NODE is of no use now"; exit 1; }; done';

/** Keeps daemons, which go through all that is mounted, off what is another Swift's: they end where such a device appears. */
export const keepOff = `${mark}isForeign() {
  for folder in /srv/node/*; do
    mountpoint -q "$folder" && [ -s "$folder/.swift" ] || continue
    # A disk that cannot be read is told by what looks at devices.
    held=$(cat "$folder/.swift" 2> /dev/null) && [ "$held" != "$mark" ] || continue
    echo "device \${folder##*/} of node $NODE has objects of another Swift: unmount it"
    return 0
  done
  return 1
}
! isForeign || exit 1
while ! isForeign; do sleep 20; done &
`;

/** Says which nodes the rings have. Argument: the words. */
export const tellNodes = `printf '%s' "$1" > /dev/termination-log
`;
