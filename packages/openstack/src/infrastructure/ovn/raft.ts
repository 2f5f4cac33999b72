import type { StoredObject } from '@openstack-operator/kube';
import { serviceHost } from '../../engine/names/names.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Problem } from '../../engine/vocabulary/step.ts';
import { quorumSize, tooFew } from '../quorum-size.ts';
import { memberRemote } from './address.ts';
import { type Database, databases, remoteAt } from './databases.ts';
import type { OVNNetwork } from './kind.ts';

/** How many members users want. */
function wanted({ spec }: Context<OVNNetwork>, { side, field }: Database): number {
  return spec.components?.[`${side}-db`]?.replicas ?? spec[field] ?? 1;
}

/** So many members hold the data, those of an earlier resource of this name among them; undefined where there was one only. */
function holding({ surroundings: { remembered } }: Context<OVNNetwork>, { field }: Database): number | undefined {
  return (remembered[field] as { readonly size?: number } | undefined)?.size;
}

/**
 * How many members run; undefined for one that was always alone. That is a cluster of one already, so that others join it as it
 * runs.
 */
function clusterSize(context: Context<OVNNetwork>, database: Database): number | undefined {
  return quorumSize(wanted(context, database), holding(context, database));
}

/** Members that have gone are missed for ever: the others would lose their majority. */
export function shrinking(context: Context<OVNNetwork>): Readonly<Record<string, Problem>> {
  const messages = Object.values(databases).flatMap((database) => {
    const said = { field: `spec.${database.field}`, data: 'the database' };
    return tooFew(said, wanted(context, database), holding(context, database)) ?? [];
  });
  return messages.length === 0 ? {} : { DeploymentReady: { reason: 'SpecRefused', message: messages.join('; ') } };
}

/** `status.lasting`: which databases have become clusters. */
export function lastingClusters(context: Context<OVNNetwork>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(rememberedClusters(context)).map((field) => [field, 'a Raft cluster']));
}

/** Of how many members each is. Who might hold data is counted before it has any. */
export function rememberedClusters(context: Context<OVNNetwork>): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.values(databases).flatMap((database) => {
      const size = Math.max(clusterSize(context, database) ?? 0, holding(context, database) ?? 0);
      return size === 0 ? [] : [[database.field, { size }] as const];
    }),
  );
}

/** Names of the pods of a database, each of which has a Service of its name. */
function membersOf(context: Context<OVNNetwork>, database: Database): string[] {
  const size = Math.max(1, clusterSize(context, database) ?? 1);
  return Array.from({ length: size }, (_, index) => `${context.named(`${database.side}-db`)}-${index}`);
}

/** Where a database is, by names that are found within the cluster. One that was always alone is found by its pod. */
export function endpointOf(context: Context<OVNNetwork>, database: Database): string {
  const { named, namespace, resource } = context;
  const names =
    clusterSize(context, database) === undefined ? [named(`${database.side}-db`)] : membersOf(context, database);
  return names.map((name) => remoteAt(resource, database, serviceHost(name, namespace))).join(',');
}

/**
 * Where OVN's programs find a database. Of a cluster they get the addresses of the members that have one: who is refused by
 * one goes to the next, and comes back to a name when what DNS said of it has expired, so that it might never connect (OVS,
 * lib/dns-resolve.c). Until there is any, it is found by its pods.
 */
export function remotesOf(context: Context<OVNNetwork>, database: Database): string {
  const { resource, named, namespace, surroundings } = context;
  const { address, clusterDomain } = surroundings;
  const known =
    clusterSize(context, database) === undefined
      ? []
      : membersOf(context, database)
          .map((member) => memberRemote(resource as StoredObject, { address, member, database }))
          .filter((remote) => remote !== undefined);
  return known.length > 0
    ? known.join(',')
    : remoteAt(resource, database, `${serviceHost(named(`${database.side}-db`), namespace)}.${clusterDomain}`);
}

/** Where the control socket of a database's server is. */
const controlOf = ({ side }: Database) => `/run/ovn/ovn${side}_db.ctl`;

/** A member that waits for others has this file, and no server yet. */
const waits = '/run/ovn/waits';

/** What a member has beyond a database that is alone; nothing for that. */
export function member(context: Context<OVNNetwork>, database: Database): Partial<Component> {
  const size = clusterSize(context, database);
  if (size === undefined) return {};
  const { named, host, surroundings } = context;
  const name = named(`${database.side}-db`);
  const control = controlOf(database);
  const held = Math.max(size, holding(context, database) ?? 0);
  return {
    quorum: { size, ports: ['raft'] },
    env: {
      MEMBERS: Array.from({ length: held }, (_, ordinal) => `${name}-${ordinal}`).join(' '),
      MEMBERS_DOMAIN: `${host(`${database.side}-db`)}.${surroundings.clusterDomain}`,
    },
    health: {
      // Without a majority the port stays open, and nobody leads.
      exec: ['bash', '-c', `ovn-appctl -T 5 -t ${control} cluster/status ${database.schema} | ${isMember}`],
      // No restart brings those that a member waits for.
      alive: ['bash', '-c', `[ -e ${waits} ] || ovn-appctl -T 5 -t ${control} version`],
    },
  };
}

/** Shell: whether what `cluster/status` prints is said by a member that has a leader. */
const isMember = `grep -E '^(Status: cluster member|Leader: (self|[0-9a-f]+))$' | grep -c . | grep -qx 2`;

/** Shell, before a member's server is started: who has no data yet founds the cluster, or joins it. */
export function prepareMember(database: Database): string {
  const { side, schema, port, raftPort } = database;
  const control = controlOf(database);
  const query = JSON.stringify([
    '_Server',
    { op: 'select', table: 'Database', where: [['name', '==', schema]], columns: ['cid'] },
  ]);
  return `file=/var/lib/ovn/data/ovn${side}_db.db
say() { echo "raft: $*" >&2; }
# The first process of a container is not ended by a signal that it does not handle: who waits goes when it is told to.
trap 'exit 143' TERM
address=tcp:$POD_NAME.$MEMBERS_DOMAIN:${raftPort}
others= addresses=
for member in $MEMBERS; do
  if [ "$member" = "$POD_NAME" ]; then continue; fi
  others="$others $member"
  addresses="$addresses tcp:$member.$MEMBERS_DOMAIN:${raftPort}"
done
if [ ! -e "$file" ]; then
  # Whose disk is empty joins the others. Only the first member founds the cluster, and only when all others have told that
  # they are in none: one that says nothing may have the data.
  founds=
  if [ "$POD_NAME" = "\${MEMBERS%% *}" ]; then
    touch ${waits}
    told=
    while [ -z "$founds" ]; do
      unknown= joins=
      for member in $others; do
        said=$(ovsdb-client --timeout=3 query "tcp:$member.$MEMBERS_DOMAIN:${port}" '${query}' 2>/dev/null) || said=
        case $said in
          *'"uuid","00000000-'*) ;;
          *'"uuid"'*) joins=$member ;;
          *) unknown="$unknown $member" ;;
        esac
      done
      if [ -n "$joins" ]; then break; fi
      if [ -z "$unknown" ]; then
        founds=yes
      else
        if [ "$unknown" != "$told" ]; then
          say "this disk is empty, and waits until$unknown tell whether they have the database"
          told=$unknown
        fi
        sleep 1
      fi
    done
    rm -f ${waits}
  fi
  if [ -n "$founds" ]; then say "founds the cluster"; else
    say "joins$others"
    mkdir -p "\${file%/*}"
    rm -f "$file.new"
    ovsdb-tool join-cluster "$file.new" ${schema} "$address" $addresses
    mv "$file.new" "$file"
  fi
fi
# A server of this address with another identity has lost its disk: it counts as a member that fails until it is removed.
remove_lost() {
  until me=$(ovn-appctl -T 5 -t ${control} cluster/sid ${schema} 2>/dev/null) &&
    ovn-appctl -T 5 -t ${control} cluster/status ${schema} | ${isMember}; do sleep 2; done
  while true; do
    lost=
    ovn-appctl -T 5 -t ${control} cluster/status ${schema} > /run/ovn/status
    while read -r id of at where more; do
      case "$of $at $where" in
        "($id at $address)") case $me in "$id"*) ;; *) lost=$id ;; esac ;;
      esac
    done < /run/ovn/status
    if [ -z "$lost" ]; then break; fi
    say "removes $lost, whose disk was lost: $(ovn-appctl -T 5 -t ${control} cluster/kick ${schema} "$lost" 2>&1)"
    sleep 2
  done
}
{ remove_lost || say 'who has lost its disk is removed at the next start'; } &
`;
}
