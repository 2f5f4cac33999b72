import { serviceHost } from '../../engine/names/names.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { nodeClaims } from '../../engine/vocabulary/node-groups.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { dataClaim } from '../data-claim.ts';
import { nodeCleaner } from '../node-cleaning.ts';
import { type OvnAddress, ovnAddress } from './address.ts';
import { chassisComponents } from './chassis.ts';
import { chassisFields } from './chassis-groups.ts';
import { OVNNetwork } from './kind.ts';
import { inactivityProbe } from './ovs-settings.ts';

/**
 * OVN (phase 1 plan, task 16): the two databases, northd, and the agents of every claimed node.
 *
 * Each database is a Raft cluster of one on its pod's full name from the first day: a standalone database could not
 * become a member of a cluster later (production rule 28).
 */
export const ovn = defineService<OVNNetwork>({
  kind: OVNNetwork,
  offers: { ovnRef: { address: ovnAddress, external: (external: OvnAddress) => external, ofServices: true } },
  child: {
    field: 'ovnNetwork',
    suffix: 'ovn',
    phase: 'Infrastructure',
    description: 'The virtual network, with networkBackend ovn.',
    fields: chassisFields,
  },
  nodeGroups: ({ nodeGroups = [] }) => ({ groups: nodeGroups, compute: false }),
  name: 'ovn',
  user: 'openvswitch',
  dependsOn: {},
  claims: ({ resource, spec, release }) => {
    const cleaner = nodeCleaner(resource, { service: 'ovn', spec, release });
    return nodeClaims(resource, spec.nodeGroups ?? [], { compute: false, cleaner });
  },
  usesNodes: true,
  groups: ({ spec }) => spec.nodeGroups ?? [],
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
      script: startDatabase(schema, { port, socket }),
      arguments: [
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
    memberPorts: ['ovsdb'],
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
    // The southbound database holds the flows of all networks, and a copy for each client that it is telling them.
    resources: { cpu: '25m', memory: schema === 'sb' ? '256Mi' : '128Mi' },
  };
}

/**
 * Servers and northd have the patience of `inactivityProbe`, as chassis and Neutron have, instead of five seconds: one
 * that is busy for longer would be made busier by all who come back. To a server a remote is its name: the row is about
 * the one that ovn-ctl gives it, which serves from the first moment.
 */
function startDatabase(schema: 'nb' | 'sb', { port, socket }: { port: number; socket: string }): string {
  const northd = schema === 'nb' ? ` -- set nb_global . options:northd_probe_interval=${inactivityProbe}` : '';
  return `# One of OVN's databases, and how long its clients may be silent.
until [ -S ${socket} ] && ovn-${schema}ctl --timeout=10 --no-leader-only --db=unix:${socket} \\
  --inactivity-probe=${inactivityProbe} set-connection ptcp:${port}:0.0.0.0${northd}; do sleep 1; done &
exec /usr/share/ovn/scripts/ovn-ctl "$@"
`;
}

/** Whether northd has both databases: the commands succeed whatever they say. */
const isConnected = ['nb', 'sb']
  .map((database) => `[ "$(ovn-appctl -t /run/ovn/ovn-northd.ctl ${database}-connection-status)" = connected ]`)
  .join(' && ');

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
    health: {
      exec: ['bash', '-c', isConnected],
      alive: ['ovn-appctl', '-t', '/run/ovn/ovn-northd.ctl', 'status'],
      periodSeconds: 10,
    },
    mounts: [{ path: '/run/ovn', scratch: true }],
    resources: { cpu: '25m', memory: '256Mi' },
  };
}
