import {
  certificateFiles,
  certificateMount,
  clientFiles,
  clientMount,
  mutualCertificates,
} from '../../engine/vocabulary/certificate.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { nodeClaims } from '../../engine/vocabulary/node-groups.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { authorityKey } from '../../engine/vocabulary/trust.ts';
import { dataClaim } from '../data-claim.ts';
import { nodeCleaner } from '../node-cleaning.ts';
import { externalOvn, ovnAddress } from './address.ts';
import { chassisComponents } from './chassis.ts';
import { chassisFields } from './chassis-groups.ts';
import { type Database, databases } from './databases.ts';
import { OVNNetwork } from './kind.ts';
import { inactivityProbe } from './ovs-settings.ts';
import {
  endpointOf,
  lastingClusters,
  member,
  prepareMember,
  rememberedClusters,
  remotesOf,
  shrinking,
} from './raft.ts';

const certificateField = 'spec.tls of the OVNNetwork, or certificateSecretName of an external one';

/** Options of clients that follow from where the databases are. */
const ownedOptions = Object.fromEntries(
  ['nb', 'sb'].flatMap((side) => [
    [`ovn_${side}_connection`, 'spec.ovnRef'],
    ...['ca_cert', 'certificate', 'private_key'].map((option) => [`ovn_${side}_${option}`, certificateField]),
  ]),
);

/**
 * OVN (phase 1 plan, task 16): the two databases, northd, and the agents of every claimed node.
 *
 * Each database is a Raft cluster of one on its pod's full name from the first day, which others join as it runs (raft.ts).
 */
export const ovn = defineService<OVNNetwork>({
  kind: OVNNetwork,
  offers: {
    ovnRef: {
      capability: 'virtualNetwork',
      address: ovnAddress,
      external: externalOvn,
      ofServices: true,
      clientOptions: [{ section: 'ovn', fields: ownedOptions }],
    },
  },
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
  problems: shrinking,
  secrets: (context) => mutualCertificates(context, ['nb-db', 'sb-db']),
  lasting: lastingClusters,
  remembers: rememberedClusters,
  components: (context) => ({
    'nb-db': server(context, databases.northbound),
    'sb-db': server(context, databases.southbound),
    northd: northd(context),
    ...chassisComponents(context),
  }),
  status: (context) => ({
    northboundDBEndpoint: endpointOf(context, databases.northbound),
    southboundDBEndpoint: endpointOf(context, databases.southbound),
  }),
});

/**
 * One database. `ovn-ctl run_*_ovsdb` creates the cluster on an empty volume, converts the schema after an update, and
 * waits for the server, to which it passes no signal on. Every path is said: distributions differ in theirs.
 */
function server(context: Context<OVNNetwork>, database: Database): Component {
  const { spec, host, surroundings } = context;
  const { side, port, tlsPort, raftPort } = database;
  const name = `${side}-db`;
  const socket = `/run/ovn/ovn${side}_db.sock`;
  const { env, ...ofMember } = member(context, database);
  return {
    workload: 'StatefulSet',
    image: `ovn-${side}-db-server`,
    runs: {
      script: startDatabase(database, { socket, prepare: env === undefined ? '' : prepareMember(database) }),
      arguments: [
        `--db-${side}-addr=0.0.0.0`,
        `--db-${side}-port=${port}`,
        `--db-${side}-create-insecure-remote=yes`,
        `--db-${side}-cluster-local-addr=$(POD_NAME).${host(name)}.${surroundings.clusterDomain}`,
        `--db-${side}-cluster-local-port=${raftPort}`,
        `--db-${side}-file=/var/lib/ovn/data/ovn${side}_db.db`,
        `--db-${side}-sock=${socket}`,
        `--db-${side}-pidfile=/run/ovn/ovn${side}_db.pid`,
        `--ovn-${side}-db-ssl-key=${certificateFiles.key}`,
        `--ovn-${side}-db-ssl-cert=${certificateFiles.certificate}`,
        `--ovn-${side}-db-ssl-ca-cert=${certificateFiles.authority}`,
        `--ovn-${side}-log=-vconsole:info -vfile:off -vsyslog:off`,
        `run_${side}_ovsdb`,
      ],
      signals: 'group',
    },
    ports: { ovsdb: port, 'ovsdb-tls': tlsPort, raft: raftPort },
    service: 'headless',
    memberPorts: ['ovsdb', 'ovsdb-tls'],
    // ovn-controller has the address of its node.
    reachable: side === 'nb' ? 'cloud' : ['ovsdb', 'ovsdb-tls'],
    health: { tcp: 'ovsdb' },
    env: {
      POD_NAME: { field: 'metadata.name' },
      OVN_DBDIR: '/var/lib/ovn/data',
      OVN_RUNDIR: '/run/ovn',
      OVN_LOGDIR: '/var/log/ovn',
      ...env,
    },
    mounts: [
      { path: '/var/lib/ovn', claim: 'data' },
      { path: '/run/ovn', scratch: true },
      { path: '/var/log/ovn', scratch: true },
      { path: '/etc/ovn', scratch: true },
      certificateMount(context, { more: [authorityKey] }),
    ],
    claims: [dataClaim(spec.dbStorage, '1Gi')],
    // The southbound database holds the flows of all networks, and a copy for each client that it is telling them.
    resources: { cpu: '25m', memory: side === 'sb' ? '256Mi' : '128Mi' },
    ...ofMember,
  };
}

/**
 * Servers and northd have the patience of `inactivityProbe`, as chassis and Neutron have, instead of five seconds: one
 * that is busy for longer would be made busier by all who come back. To a server a remote is its name: the row is about
 * the one that ovn-ctl gives it, which serves from the first moment.
 */
function startDatabase(
  { side, port, tlsPort }: Database,
  { socket, prepare }: { readonly socket: string; readonly prepare: string },
): string {
  const northd = side === 'nb' ? ` -- set nb_global . options:northd_probe_interval=${inactivityProbe}` : '';
  return `# One of OVN's databases, and how long its clients may be silent.
${prepare}until [ -S ${socket} ] && ovn-${side}ctl --timeout=10 --no-leader-only --db=unix:${socket} \\
  --inactivity-probe=${inactivityProbe} set-connection ptcp:${port}:0.0.0.0 \\
  pssl:${tlsPort}:0.0.0.0${northd}; do sleep 1; done &
exec /usr/share/ovn/scripts/ovn-ctl "$@"
`;
}

/** Whether northd has both databases: the commands succeed whatever they say. */
const isConnected = ['nb', 'sb']
  .map((database) => `[ "$(ovn-appctl -t /run/ovn/ovn-northd.ctl ${database}-connection-status)" = connected ]`)
  .join(' && ');

/** northd translates one database into the other; several of them hold one lock, so only one works. */
function northd(context: Context<OVNNetwork>): Component {
  const files = clientFiles(context);
  return {
    workload: 'Deployment',
    image: 'ovn-northd',
    replicas: context.spec.northdReplicas ?? 1,
    runs: {
      command: [
        'ovn-northd',
        '-vconsole:info',
        '-vfile:off',
        '-vsyslog:off',
        `--ovnnb-db=${remotesOf(context, databases.northbound)}`,
        `--ovnsb-db=${remotesOf(context, databases.southbound)}`,
        `--private-key=${files.key}`,
        `--certificate=${files.certificate}`,
        `--ca-cert=${files.authority}`,
        '--pidfile=/run/ovn/ovn-northd.pid',
        '--unixctl=/run/ovn/ovn-northd.ctl',
      ],
    },
    health: {
      exec: ['bash', '-c', isConnected],
      alive: ['ovn-appctl', '-t', '/run/ovn/ovn-northd.ctl', 'status'],
      periodSeconds: 10,
    },
    mounts: [{ path: '/run/ovn', scratch: true }, clientMount(context)],
    resources: { cpu: '25m', memory: '256Mi' },
  };
}
