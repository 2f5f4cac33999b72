import { OVNNetwork } from '../api/ovn-network.ts';
import type { Context } from '../engine/context.ts';
import { serviceHost } from '../engine/names.ts';
import { nodeClaims } from '../engine/node-groups.ts';
import { type Component, defineService } from '../engine/service.ts';
import { chassisComponents } from './chassis.ts';
import { dataClaim } from './data-claim.ts';

/**
 * OVN (phase 1 plan, task 16): the two databases, northd, and the agents of every claimed node.
 *
 * Each database is a Raft cluster of one on its pod's full name from the first day: a standalone database could not
 * become a member of a cluster later (production rule 28).
 */
export const ovn = defineService<OVNNetwork>({
  kind: OVNNetwork,
  name: 'ovn',
  user: 'openvswitch',
  references: [],
  claims: ({ resource, spec }) => nodeClaims(resource, spec.nodeGroups ?? [], { compute: false }),
  components: (context) => ({
    'nb-db': database(context, { schema: 'nb', port: 6641, raftPort: 6643, reachable: 'cloud' }),
    // ovn-controller has the address of its node.
    'sb-db': database(context, { schema: 'sb', port: 6642, raftPort: 6644, reachable: ['ovsdb'] }),
    northd: northd(context),
    ...chassisComponents(context),
  }),
  status: ({ named, namespace }) => ({
    northboundDBEndpoint: `tcp:${serviceHost(named('nb-db'), namespace)}:6641`,
    southboundDBEndpoint: `tcp:${serviceHost(named('sb-db'), namespace)}:6642`,
  }),
});

/**
 * One database. `ovn-ctl run_*_ovsdb` creates the cluster on an empty volume, converts the schema after an update, and
 * waits for the server, to which it passes no signal on. Every path is said: distributions differ in theirs.
 */
function database(
  { spec, host, surroundings }: Context<OVNNetwork>,
  options: {
    schema: 'nb' | 'sb';
    port: number;
    raftPort: number;
    reachable: NonNullable<Component['reachable']>;
  },
): Component {
  const { schema, port, raftPort, reachable } = options;
  const name = `${schema}-db`;
  const socket = `/run/ovn/ovn${schema}_db.sock`;
  return {
    workload: 'StatefulSet',
    image: `ovn-${schema}-db-server`,
    runs: {
      command: [
        '/usr/share/ovn/scripts/ovn-ctl',
        `--db-${schema}-addr=0.0.0.0`,
        `--db-${schema}-port=${port}`,
        `--db-${schema}-create-insecure-remote=yes`,
        `--db-${schema}-cluster-local-addr=$(POD_NAME).${host(name)}.${surroundings.clusterDomain}`,
        `--db-${schema}-cluster-local-port=${raftPort}`,
        `--db-${schema}-file=/var/lib/ovn/data/ovn${schema}_db.db`,
        `--db-${schema}-sock=${socket}`,
        `--db-${schema}-pidfile=/run/ovn/ovn${schema}_db.pid`,
        `--ovn-${schema}-log=-vconsole:info -vfile:off -vsyslog:off`,
        `run_${schema}_ovsdb`,
      ],
      signals: 'group',
    },
    replicas: (schema === 'nb' ? spec.northboundDBReplicas : spec.southboundDBReplicas) ?? 1,
    ports: { ovsdb: port, raft: raftPort },
    service: 'headless',
    reachable,
    health: { tcp: 'ovsdb' },
    env: {
      POD_NAME: { field: 'metadata.name' },
      OVN_DBDIR: '/var/lib/ovn/data',
      OVN_RUNDIR: '/run/ovn',
      OVN_LOGDIR: '/var/log/ovn',
    },
    mounts: [
      { path: '/var/lib/ovn', claim: 'data' },
      { path: '/run/ovn', scratch: true },
      { path: '/var/log/ovn', scratch: true },
      { path: '/etc/ovn', scratch: true },
    ],
    claims: [dataClaim(spec.dbStorage, '1Gi')],
    resources: { cpu: '25m', memory: '128Mi' },
  };
}

/** northd translates one database into the other; several of them hold one lock, so only one works. */
function northd({ spec, named, namespace, surroundings }: Context<OVNNetwork>): Component {
  const at = (name: string) => `${serviceHost(named(name), namespace)}.${surroundings.clusterDomain}`;
  return {
    workload: 'Deployment',
    image: 'ovn-northd',
    replicas: spec.northdReplicas ?? 1,
    runs: {
      command: [
        'ovn-northd',
        '-vconsole:info',
        '-vfile:off',
        '-vsyslog:off',
        `--ovnnb-db=tcp:${at('nb-db')}:6641`,
        `--ovnsb-db=tcp:${at('sb-db')}:6642`,
        '--pidfile=/run/ovn/ovn-northd.pid',
        '--unixctl=/run/ovn/ovn-northd.ctl',
      ],
    },
    health: { exec: ['ovn-appctl', '-t', '/run/ovn/ovn-northd.ctl', 'status'], periodSeconds: 10 },
    mounts: [{ path: '/run/ovn', scratch: true }],
    resources: { cpu: '25m', memory: '128Mi' },
  };
}
