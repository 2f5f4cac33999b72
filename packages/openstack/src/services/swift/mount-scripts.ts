import { takesMetadata } from './scripts.ts';

/**
 * Looks at the devices of a node before servers use them: one that is not mounted, or that cannot be read, is left out, as the
 * others have to go on. Refuses one that is another user's or another Swift's, and a new one that has no room for metadata
 * (`check`). What names are hashed with says whose a device is. Arguments: `check` or `accept`, directory of the node, names of devices.
 */
export const checkMounts = `mode=$1 path=$2
shift 2
mark=$(grep '^swift_hash_path' /etc/swift/swift.conf | sha256sum)
${takesMetadata.value}for device in "$@"; do
  folder=/srv/node/$device where="device $device of node $NODE ($path/$device)"
  if ! mountpoint -q "$folder"; then
    echo "$where is not mounted: it is left out until it is"
    continue
  fi
  if ! ls "$folder" > /dev/null; then
    echo "$where cannot be read: it is left out"
    continue
  fi
  if [ ! -w "$folder" ]; then
    echo "$where does not belong to the user of Swift: on the node, chown $(id -u):$(id -g) $path/$device"
    exit 1
  fi
  if [ -e "$folder/.swift" ]; then
    [ "$(cat "$folder/.swift")" = "$mark" ] && continue
    echo "$where has objects of another Swift, or this one has lost what names are hashed with: restore its Secret from a backup; to use the device for this Swift, make a file system there anew"
    exit 1
  fi
  used=
  for one in "$folder"/accounts "$folder"/containers "$folder"/objects*; do
    [ ! -e "$one" ] || used=$one
  done
  if [ -z "$used" ] && [ "$mode" = check ]; then
${takesMetadata.attempt}      echo "$where, of $type, takes no metadata of 8 KiB ($said), and is not used: make a file system of xfs there, or set spec.checkDevices: false, with which objects are refused that have more metadata than it takes"
      exit 1
    }
    rm "$folder/.check"
  fi
  echo "$mark" > "$folder/.swift"
done
`;

/** Fails, and names it, where a device is not mounted. Arguments: names of devices. */
export const findUnmounted =
  'for device in "$@"; do mountpoint -q "/srv/node/$device" || { echo "device $device of node $NODE is not mounted"; exit 1; }; done';

/** Goes on until a device is not mounted. Arguments: names of devices. */
export const watchMounts = `while true; do
  ${findUnmounted}
  sleep 20
done
`;

/** Says which nodes the rings have. Argument: the words. */
export const tellNodes = `printf '%s' "$1" > /dev/termination-log
`;
