/** Of a pool without an application the cluster would warn. Names that begin with a dot are the gateways'. */
const serve = `serve() {
  as ceph --id "$user" osd pool create "$name" --yes-i-really-mean-it || return
  # Each time that it is enabled is a change of the cluster's map.
  case $(as ceph --id "$user" osd pool application get "$name") in
    *'"rgw"'*) ;;
    *) as ceph --id "$user" osd pool application enable "$name" rgw || return ;;
  esac
  make_and_remove in_pool
}
`;

const tryingServe = `    serve) try=serve where="serve objects from pool $name" rights="mon 'allow rw', osd 'allow rwx'" ;;
`;

/**
 * Does in each pool and filesystem what its users do. Arguments: the name of what it makes and removes; the id of the
 * cluster that is expected, or nothing; its monitors; then user, name and `write`, `read`, `share` or `serve`. The last line, which a
 * condition shows, is what they cannot do, or that the monitors do not answer: then nothing is tried. When all can, it
 * leaves which cluster has answered. In both cases it leaves how the cluster is, and, as lines of JSON (`usageTold` reads
 * them), what room there is in all, in these pools, and in those where these filesystems keep data, as the message of its end.
 *
 * What it makes has the same name in each run: what a slow Ceph has made after its answer was awaited no more is removed by
 * the run itself, or by the next one, which finds it there.
 *
 * `named`: where the addresses of the monitors are stated. `gateway`: whether `serve` is among what is tried: a pool is made as
 * object gateways make it, or was before, and written to.
 */
export const tryAll = (named: string, gateway: boolean) => `newline='
'
failures=
as() { timeout 15 "$@" 2>&1; }
fail() {
  said=\${said##*"$newline"}
  failures="\${failures:+$failures; }$1: \${said:-no answer within 15 seconds}\${2:+ (it needs $2)}"
}
in_pool() { as rados --id "$user" --pool "$name" "$1" "$probe"; }
in_filesystem() { as ceph --id "$user" fs subvolumegroup "$1" "$name" "$probe"; }
make_and_remove() {
  status=0
  made=$("$1" create) || status=$?
  case $status:$made in
    0:* | *'(17) File exists') status=0 ;;
    124:*)
      "$1" rm > /dev/null || true
      return 124
      ;;
    *)
      echo "$made"
      return "$status"
      ;;
  esac
  "$1" rm || status=$?
  return "$status"
}
write() { make_and_remove in_pool; }
read_only() { as rbd --id "$user" ls "$name"; }
share() { make_and_remove in_filesystem; }
${gateway ? serve : ''}# Of \`ceph df\`, whose table is another one from version to version: the first totals are those of all devices. The message
# of an end has 4096 bytes: further pools are left out.
figures() {
  total= free= taken= pool= stored= used= length=0
  while read -r key value; do
    value=\${value%,}
    case $key in
      '"total_bytes":') total=\${total:-$value} ;;
      '"total_avail_bytes":') free=\${free:-$value} ;;
      '"total_used_raw_bytes":') taken=\${taken:-$value} ;;
      '"name":')
        pool=\${value#\\"}
        pool=\${pool%\\"}
        ;;
      '"stored":') stored=$value ;;
      '"bytes_used":') used=$value ;;
      '"max_avail":')
        case "$pools " in
          *" $pool "*) ;;
          *) continue ;;
        esac
        line="{\\"pool\\":\\"$pool\\",\\"stored\\":$stored,\\"used\\":$used,\\"available\\":$value}"
        length=$((length + \${#line}))
        [ "$length" -gt 2500 ] || echo "$line"
        ;;
    esac
  done
  [ -z "$total" ] || echo "{\\"total\\":$total,\\"used\\":$taken,\\"available\\":$free}"
}
# Of \`ceph fs ls\`: each of these filesystems with its data pools.
data_pools() {
  while read -r _ fs _ _ _ _ _ held; do
    case "$filesystems " in
      *" \${fs%,} "*) ;;
      *) continue ;;
    esac
    held=\${held#'['}
    echo "\${fs%,} \${held%' ]'}"
  done
}
# Pools and filesystems that are tried, of the arguments.
collect() {
  while [ $# -gt 0 ]; do
    case $3 in
      write) pools="$pools $2" ;;
      share)
        sharer=$1
        filesystems="$filesystems $2"
        ;;
    esac
    shift 3
  done
}
# The first details alone: there may be one for each placement group.
health_of() {
  said= details=0
  while read -r line; do
    case $line in
      '['*) continue ;;
      HEALTH_*) ;;
      # Words of the client come before.
      *) [ -n "$said" ] || continue ;;
    esac
    [ "$details" -gt 5 ] || said="\${said:+$said; }$line"
    details=$((details + 1))
  done
  printf '%s' "$said"
}
probe=$1
expected=$2
monitors=$3
shift 3
first=$1
pools= filesystems= sharer=
code=0
said=$(as ceph --id "$first" fsid) || code=$?
fsid=\${said##*"$newline"}
if [ "$code" = 124 ]; then
  echo "the monitors\${monitors:+ at $monitors} give client.$first no answer within 15 seconds: nothing was tried" >&2
  exit 1
elif [ "$code" != 0 ]; then
  fsid=
  [ -z "$expected" ] || fail "client.$first cannot ask the monitors"
elif [ -n "$expected" ] && [ "$fsid" != "$expected" ]; then
  echo "cluster $expected was expected, and $fsid has answered at $monitors: nothing was tried, and services keep the monitors that they had; name those of cluster $expected in ${named}" >&2
  exit 1
fi
collect "$@"
health=$(as ceph --id "$first" health detail | health_of) || health=
said=
[ -z "$sharer" ] || said=$(as ceph --id "$sharer" fs ls | data_pools) || said=
kept=
while read -r name held; do
  [ -n "$name" ] || continue
  pools="$pools $held"
  kept="$kept{\\"fileSystem\\":\\"$name\\",\\"pools\\":\\"$held\\"}$newline"
done << END
$said
END
room=$(as ceph --id "$first" df --format json-pretty | figures) || room=
hung=0
while [ $# -gt 0 ]; do
  user=$1
  name=$2
  what=$3
  shift 3
  case $what in
    write) try=write where="write in pool $name" rights="mon 'profile rbd', osd 'profile rbd pool=$name'" ;;
    read) try=read_only where="read in pool $name" rights="mon 'profile rbd', osd 'profile rbd-read-only pool=$name'" ;;
${gateway ? tryingServe : ''}    *) try=share where="keep shares in filesystem $name" rights="mon 'allow r', mgr 'allow rw'" ;;
  esac
  code=0
  said=$("$try") || code=$?
  [ "$code" = 0 ] || fail "client.$user cannot $where" "$rights"
  [ "$code" != 124 ] || hung=$((hung + 1))
  # Each takes half a minute: whoever runs this has to be told before its time is over.
  if [ "$hung" = 5 ] && [ $# -gt 0 ]; then
    failures="$failures; nothing else was tried"
    break
  fi
done
last="\${fsid:+cluster $fsid at $monitors}"
[ -z "$failures" ] || last="$failures\${health:+; the cluster says $health}"
printf '%s' "$kept$room$newline$health$newline$last" > /dev/termination-log
[ -z "$failures" ] || {
  echo "$last" >&2
  exit 1
}
`;
