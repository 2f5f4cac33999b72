import { trustByVariable } from '../../engine/configuration/sections.ts';
import { lastingSuffix } from '../../engine/names/names.ts';
import { hourly, nightly } from '../../engine/objects/schedule.ts';
import { publishing } from '../../engine/vocabulary/access.ts';
import type { Component, Mount } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService, type GeneratedSecret, type Job } from '../../engine/vocabulary/service.ts';
import type { Problem } from '../../engine/vocabulary/step.ts';
import { clusterProblems } from '../../infrastructure/ceph/address.ts';
import { refusedBy } from '../backends.ts';
import { configSets, daemonsOf, kinds, resellerAdmin, ringFolder, rsyncPort, servers } from './configuration.ts';
import { gateway, gatewaySets, isGateway } from './gateway.ts';
import { groupFindings, groupProblems } from './group-problems.ts';
import { volumeSize } from './groups.ts';
import { defaults, Swift } from './kind.ts';
import {
  lastingNodes,
  leftWords,
  type NodeGroup,
  nodesField,
  nodesOf,
  nodesThatLeft,
  rememberedNodes,
} from './nodes.ts';
import { policyRings } from './policies.ts';
import {
  awaitRemoval,
  buildRings,
  checkDevices,
  comparePolicies,
  groupRings,
  moveRings,
  runDaemons,
} from './scripts.ts';

/**
 * Object storage on volumes of the cluster: proxies, and storage nodes with all three servers and their daemons. Or in Ceph, whose
 * gateway has the place of the proxies.
 */
export const swift = defineService<Swift>({
  kind: Swift,
  offers: { swiftRef: {} },
  child: { field: 'swift', phase: 'CoreServices', description: 'Object storage.', optional: true },
  name: 'swift',
  user: 'swift',
  dependsOn: {
    cacheRef: 'steps',
    keystoneRef: 'start',
    cephStorageRef: { stated: isGateway, start: true, onlyUsed: true, asks: () => ({ objectGateway: true }) },
  },
  identity: {
    users: [{ name: 'swift', roles: ['service'] }],
    roles: [resellerAdmin],
    catalogue: [
      {
        type: 'object-store',
        name: 'swift',
        description: 'OpenStack Object Storage',
        component: 'proxy',
        port: 'proxy',
        path: (spec) => `${isGateway(spec) ? '/swift' : ''}/v1/AUTH_%(project_id)s`,
      },
    ],
  },
  retainedSecrets: ['hash', 'rings', 'rings-policies'],
  secrets: (context) => (isGateway(context.spec) ? [] : [ends(context)]),
  config: (context) => (isGateway(context.spec) ? gatewaySets(context, resellerAdmin) : configSets(context)),
  components: (context) =>
    isGateway(context.spec)
      ? { proxy: proxies(context, gateway(context)) }
      : { proxy: proxies(context, proxy(context)), ...storageNodes(context) },
  jobs: (context) => (isGateway(context.spec) ? [] : [rings(context), policies(context), ...removal(context)]),
  lasting(context) {
    if (wasOther(context)) return {};
    return isGateway(context.spec) ? { [modeField]: 'ceph-rgw' } : lastingNodes();
  },
  remembers: (context) => (isGateway(context.spec) || wasOther(context) ? {} : rememberedNodes(context)),
  access: { rings: [publishing('rings')], policies: [publishing('rings-policies', 'rings')] },
  needs: { DeploymentReady: ['PolicyRingsReady'] },
  findings: groupFindings,
  problems,
});

/** Told before it misses Secrets of the other mode. */
function problems(context: Context<Swift>): Readonly<Record<string, Problem>> {
  const isInCeph = isGateway(context.spec);
  if (!wasOther(context)) return refusedBy(isInCeph ? clusterProblems(context, 'spec.mode') : groupProblems(context));
  const message = `spec.mode: it was ${isInCeph ? 'native' : 'ceph-rgw'} before (ConfigMap ${context.named(lastingSuffix)}), and objects are out of reach; state that again, or, to do without them, delete the Swift and this ConfigMap`;
  return { CredentialsReady: { reason: 'ConfigRefused', message } };
}

/** Whether objects are kept in the other way: what was first is remembered. */
const wasOther = ({ spec, surroundings }: Context<Swift>): boolean =>
  surroundings.lasting[isGateway(spec) ? nodesField : modeField] !== undefined;

const modeField = 'spec.mode';

/** What the names of objects are hashed with, at both ends. */
const ends = (context: Context<Swift>): GeneratedSecret => ({
  suffix: 'hash',
  values: { prefix: { type: 'password', length: 32 }, suffix: { type: 'password', length: 32 } },
  secretClass: 'keyMaterial',
  guards: { kind: 'PersistentVolumeClaim', name: firstDevice(context), data: 'all objects' },
});

const proxy = (context: Context<Swift>): Component => ({
  workload: 'Deployment',
  image: 'swift-proxy-server',
  config: 'proxy',
  runs: { command: ['swift-proxy-server', '/etc/swift/proxy-server.conf', '-v'] },
  ports: { proxy: 8080 },
  health: { get: '/healthcheck', port: 'proxy' },
  exposed: 'proxy',
  reachable: 'anyone',
  mounts: mounts(context),
  // The middleware that Keystone's keys of S3 pass has no option for it.
  env: trustByVariable(context),
  resources: { cpu: '50m', memory: '256Mi' },
});

/** As many as `proxyReplicas` says, where nothing says `replicas`. */
const proxies = ({ spec: { proxyReplicas } }: Context<Swift>, component: Component): Component => ({
  ...component,
  ...(proxyReplicas === undefined ? {} : { replicas: proxyReplicas }),
});

/** The volume claim that every Swift has. */
const firstDevice = ({ named }: Context<Swift>): string => `d1-${named('storage')}-0`;

/** Servers read rings anew when they change. */
const mounts = ({ named }: Context<Swift>): readonly Mount[] => [
  { path: ringFolder, secrets: [named('rings'), named('rings-policies')] },
  { path: '/var/cache/swift', scratch: true },
];

/** Those of each group, and no two groups at once: replicas of a partition may lie in each. */
function storageNodes(context: Context<Swift>): Readonly<Record<string, Component>> {
  const { groups } = nodesOf(context);
  return Object.fromEntries(
    groups.map((group, index) => {
      const before = stepsOf(groups.slice(0, index));
      return [
        group.component,
        { ...storageNode(context, group), ...(index > 0 && { variantOf: 'storage', needs: before }) },
      ];
    }),
  );
}

/** Steps of groups of which something is wanted: what leaves may never have come up, or be lost. */
const stepsOf = (groups: readonly NodeGroup[]): string[] =>
  groups.flatMap(({ wanted, step }) => (wanted > 0 ? [step] : []));

/** Comes up before rings name it: nobody is sent to a device that is not there. */
function storageNode(context: Context<Swift>, group: NodeGroup): Component {
  const { checkDevices: isChecked = true } = context.spec;
  const { size = volumeSize, ...storage } = group.storage;
  const { running: replicas, step, devices, scheduling } = group;
  const server = (kind: keyof typeof servers) => ({
    runs: { command: [`swift-${kind}-server`, `/etc/swift/${kind}-server.conf`, '-v'] },
    health: { get: '/healthcheck', port: kind },
    resources: { cpu: '25m', memory: '96Mi' },
  });
  const daemons = kinds.flatMap((kind) => daemonsOf(context, kind).map((name) => `${kind}-${name}`));
  const rings = [...kinds, ...policyRings(context.spec).map(({ name }) => name)];
  const ports = Object.entries(servers).map(([kind, { port }]) => [kind, port]);
  return {
    workload: 'StatefulSet',
    image: 'swift-object',
    config: 'storage',
    replicas,
    step,
    ...(scheduling && { scheduling }),
    ...(isChecked && { init: [{ name: 'check', runs: { script: checkDevices, arguments: devices } }] }),
    ...server('object'),
    sidecars: [
      { name: 'container', ports: ['container'], ...server('container') },
      { name: 'account', ports: ['account'], ...server('account') },
      {
        name: 'daemons',
        runs: { script: runDaemons, arguments: [rings.join(' '), ...daemons], signals: 'group' },
        health: { connected: 'daemons.sh', to: [] },
        resources: { cpu: '50m', memory: '512Mi' },
      },
      {
        name: 'rsync',
        ports: ['rsync'],
        runs: {
          command: [
            'rsync',
            '--daemon',
            '--no-detach',
            `--port=${rsyncPort}`,
            '--log-file=/dev/stdout',
            '--config=/etc/swift/rsyncd.conf',
          ],
        },
        health: { tcp: 'rsync' },
        resources: { cpu: '10m', memory: '32Mi' },
      },
    ],
    ports: { ...Object.fromEntries(ports), rsync: rsyncPort },
    service: 'headless',
    clients: 'own',
    mounts: [...mounts(context), ...devices.map((name) => ({ path: `/srv/node/${name}`, claim: name }))],
    claims: devices.map((name) => ({ name, size, ...storage })),
    graceSeconds: 60,
  };
}

/** Where Jobs make rings. */
const folder = '/var/lib/swift/rings';

/** The program of Jobs that make rings, which are `name:port:replicas`. */
function building(context: Context<Swift>, rings: readonly string[]): Job['runs'][number] {
  const { partitionPower, minPartHours } = { ...defaults, ...context.spec.storagePolicy };
  const { groups, haveMoved } = nodesOf(context);
  const isGrouped = groups.length > 1;
  const leaving =
    haveMoved || isGrouped ? [groups.flatMap((group) => targets(context, group, 'leaving')).join(' ')] : [];
  const staying = groups.flatMap((group) => {
    const place = isGrouped ? `=${group.zone}=${group.weight.toFixed(2)}` : '';
    return targets(context, group, 'wanted').map((target) => `${target}${place}`);
  });
  return {
    name: 'build',
    script: isGrouped ? groupRings : haveMoved ? moveRings : buildRings,
    arguments: [folder, String(partitionPower), String(minPartHours), rings.join(' '), ...leaving, ...staying],
  };
}

/** The devices of storage nodes that are wanted, or of those that leave, as rings name them. */
function targets({ named, host }: Context<Swift>, group: NodeGroup, which: 'wanted' | 'leaving'): readonly string[] {
  const { component, devices, wanted, running } = group;
  const [from, to] = which === 'wanted' ? [0, wanted] : [wanted, running];
  return Array.from({ length: to - from }, (_, index) => from + index).flatMap((index) =>
    devices.map((device) => `${named(component)}-${index}.${host(component)}/${device}`),
  );
}

/** Waits until the rings have nothing of storage nodes that leave: then these end. */
function removal(context: Context<Swift>): Job[] {
  const { named, spec } = context;
  const { groups, areLeaving } = nodesOf(context);
  if (!areLeaving) return [];
  const leaving = groups.flatMap((group) => targets(context, group, 'leaving'));
  const names = [...kinds, ...policyRings(spec).map(({ name }) => name)];
  return [
    {
      suffix: 'removed-nodes',
      step: 'RemovedNodesEmpty',
      needs: ['PolicyRingsReady'],
      image: 'swift-object',
      config: 'none',
      runs: [
        {
          name: 'look',
          script: awaitRemoval,
          arguments: [folder, ringFolder, names.join(' '), leftWords(context), ...leaving],
        },
      ],
      mounts: [
        { path: folder, scratch: true },
        { path: ringFolder, secrets: [named('rings'), named('rings-policies')] },
      ],
      finds: nodesThatLeft,
    },
  ];
}

const filesOf = (rings: readonly string[]) =>
  rings.flatMap((name) => [`${folder}/${name}.builder`, `${folder}/${name}.ring.gz`]);

const again = (context: Context<Swift>, suffix: string) => {
  const cron = nodesOf(context).areLeaving ? hourly(context, suffix) : nightly(context, suffix);
  return { cron, suspend: false, deadlineSeconds: 3600 } as const;
};

/** The rings of all three servers, from builders that are kept beside them. */
function rings(context: Context<Swift>): Job {
  const { replicaCount } = { ...defaults, ...context.spec.storagePolicy };
  return {
    suffix: 'rings',
    step: 'RingsReady',
    needs: stepsOf(nodesOf(context).groups),
    image: 'swift-object',
    config: 'none',
    runs: [
      building(
        context,
        kinds.map((kind) => `${kind}:${servers[kind].port}:${replicaCount}`),
      ),
    ],
    mounts: [{ path: folder, scratch: true }],
    makes: {
      suffix: 'rings',
      files: filesOf(kinds),
      data: 'where all objects lie',
      volume: firstDevice(context),
      from: folder,
    },
    again: again(context, 'rings'),
  };
}

/**
 * The rings of further policies. Their Secret is their own: an operator that knows no policies never touches it, and
 * what it says of each policy outlives the resource as its rings do.
 */
function policies(context: Context<Swift>): Job {
  const { named, spec } = context;
  const own = policyRings(spec);
  return {
    suffix: 'policies',
    step: 'PolicyRingsReady',
    // Those have found out that all devices are stated which are in use.
    needs: ['RingsReady'],
    image: 'swift-object',
    config: 'none',
    runs: [
      { name: 'compare', script: comparePolicies, arguments: [folder, ringFolder, ...own.map(({ made }) => made)] },
      building(
        context,
        own.map(({ name, replicas }) => `${name}:${servers.object.port}:${replicas}`),
      ),
    ],
    mounts: [
      { path: folder, scratch: true },
      { path: ringFolder, secret: named('rings'), follows: true },
    ],
    makes: {
      suffix: 'rings-policies',
      files: [`${folder}/policies`],
      later: filesOf(own.map(({ name }) => name)),
      data: 'where objects of further storage policies lie',
      from: folder,
      supersedes: 'rings',
    },
    ...(own.length === 0 ? {} : { again: again(context, 'policies') }),
  };
}
