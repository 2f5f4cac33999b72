/**
 * Makes what a cluster lacks, and leaves what is there: a pool, a filesystem, a user, rights of a user. Nothing is taken
 * away. Arguments: the user that makes it; the Secret with its keyring; what to do where a user has another key in the
 * cluster; the id of the cluster that is expected, or nothing; its monitors. Then `pool`, its name, copies or nothing;
 * `filesystem`, its name; `user`, its name, its capabilities for mon, osd (or nothing) and mgr. The last line, which a
 * condition shows, is what could not be made.
 *
 * No key stands in an argument or in what is written: `ceph auth add` reads that of a user from its keyring. Ceph 18.2 was
 * asked for the words and exit codes: 2 and ENOENT is what does not exist, 13 what a user may not do.
 */
export const makeMissing = `newline='
'
failures=
fail() { failures="\${failures:+$failures; }$1"; }
ask() {
  code=0
  said=$(timeout 60 "$@" 2>&1) || code=$?
}
ask_ceph() { ask ceph --id "$admin" "$@"; }
cannot() {
  said=\${said##*"$newline"}
  rights=
  [ "$code" != 13 ] || rights=" (it needs mon 'allow *', osd 'allow *', mgr 'allow *')"
  fail "client.$admin cannot $1: \${said:-no answer within 60 seconds}$rights"
}
pool() {
  ask_ceph osd pool application get "$1"
  case $code:$said in
    2:*ENOENT*)
      set -- "$1" \${2:+"--size=$2"}
      ask_ceph osd pool create "$@"
      if [ "$code" != 0 ]; then
        cannot "make pool $1"
        return 0
      fi
      echo "pool $1 was made"
      ;;
    0:*'"rbd"'*) return 0 ;;
    0:*'"'*)
      fail "pool $1 is of another application than rbd: name another pool, or say that it is meant: ceph osd pool application enable $1 rbd --yes-i-really-mean-it"
      return 0
      ;;
    0:*) ;;
    *)
      cannot "look at pool $1"
      return 0
      ;;
  esac
  ask rbd --id "$admin" pool init "$1"
  [ "$code" = 0 ] || cannot "make pool $1 one of block devices"
}
filesystem() {
  ask_ceph fs get "$1"
  case $code:$said in
    0:*) ;;
    2:*ENOENT*)
      ask_ceph fs volume create "$1"
      if [ "$code" = 0 ]; then echo "filesystem $1 was made"; else cannot "make filesystem $1"; fi
      ;;
    *) cannot "look at filesystem $1" ;;
  esac
}
# Whether one of the capabilities $1 gives the right $2: itself, for all pools, or more than reading.
covers() {
  have=$1
  case $2 in
    'profile rbd-read-only pool='*) more="profile rbd pool=\${2#*=}" ;;
    *) more=$2 ;;
  esac
  while [ -n "$have" ]; do
    one=\${have%%[,;]*}
    case $have in
      *[,\\;]*) have=\${have#*[,;]} ;;
      *) have= ;;
    esac
    one=\${one#"\${one%%[! ]*}"}
    one=\${one%"\${one##*[! ]}"}
    case $one in
      'allow *' | "$2" | "\${2% pool=*}" | "$more" | "\${more% pool=*}") return 0 ;;
    esac
  done
  return 1
}
# The capabilities $1, and those of $2 that they do not give.
widened() {
  wide=$1
  rest=$2
  while [ -n "$rest" ]; do
    right=\${rest%%, *}
    rest=\${rest#"$right"}
    rest=\${rest#, }
    covers "$1" "$right" || wide="\${wide:+$wide, }$right"
  done
}
user() {
  name=$1 mon=$2 osd=$3 mgr=$4 keyring="/etc/ceph/ceph.client.$1.keyring"
  ask_ceph auth get "client.$name"
  case $code:$said in
    0:*) ;;
    2:*ENOENT*)
      set -- mon "$mon" mgr "$mgr"
      [ -z "$osd" ] || set -- "$@" osd "$osd"
      ask_ceph auth add "client.$name" "$@" -i "$keyring"
      if [ "$code" = 0 ]; then echo "client.$name was made"; else cannot "make client.$name"; fi
      return 0
      ;;
    *)
      cannot "look at client.$name"
      return 0
      ;;
  esac
  key= own= changed=
  while read -r word _ value; do
    [ "$word" != key ] || own=$value
  done < "$keyring"
  set --
  # Capabilities are set as a whole: those for other daemons are stated as they were.
  while read -r word kind value capabilities; do
    case $word in
      key) key=$value ;;
      caps)
        capabilities=\${capabilities#\\"}
        capabilities=\${capabilities%\\"}
        case $kind in
          mon) asked=$mon mon= ;;
          osd) asked=$osd osd= ;;
          mgr) asked=$mgr mgr= ;;
          *) asked= ;;
        esac
        widened "$capabilities" "$asked"
        [ "$wide" = "$capabilities" ] || changed=yes
        set -- "$@" "$kind" "$wide"
        ;;
    esac
  done << END
$said
END
  if [ "$key" != "$own" ]; then
    fail "client.$name has another key in the cluster than here: $way"
    return 0
  fi
  [ -z "$mon" ] || set -- "$@" mon "$mon"
  [ -z "$osd" ] || set -- "$@" osd "$osd"
  [ -z "$mgr" ] || set -- "$@" mgr "$mgr"
  [ -n "$changed$mon$osd$mgr" ] || return 0
  ask_ceph auth caps "client.$name" "$@"
  if [ "$code" = 0 ]; then echo "client.$name may do more now"; else cannot "give rights to client.$name"; fi
}
admin=$1 secret=$2 way=$3 expected=$4 monitors=$5
shift 5
ask_ceph fsid
said=\${said##*"$newline"}
if [ "$code" != 0 ]; then
  echo "client.$admin cannot ask the monitors at $monitors: \${said:-no answer within 60 seconds} (Secret $secret has its keyring, under ceph.client.$admin.keyring): nothing was made" >&2
  exit 1
elif [ -n "$expected" ] && [ "$said" != "$expected" ]; then
  echo "cluster $expected was expected, and $said has answered at $monitors: nothing was made; name its monitors in spec.external.monitorHosts" >&2
  exit 1
fi
while [ $# -gt 0 ]; do
  case $1 in
    pool)
      pool "$2" "$3"
      shift 3
      ;;
    filesystem)
      filesystem "$2"
      shift 2
      ;;
    user)
      user "$2" "$3" "$4" "$5"
      shift 5
      ;;
  esac
done
if [ -n "$failures" ]; then
  echo "$failures" >&2
  exit 1
fi
`;
