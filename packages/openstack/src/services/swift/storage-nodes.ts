import type { Component, Mount, Sidecar } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { daemonsOf, kinds, ringFolder, rsyncPort, servers } from './configuration.ts';
import { type HostPath, pathOf, volumeSize } from './groups.ts';
import { defaults, type Swift } from './kind.ts';
import { checkMounts, findUnmounted, keepOff, watchMounts } from './mount-scripts.ts';
import { isInRings, type NodeGroup, nodesOf } from './nodes.ts';
import { policyRings } from './policies.ts';
import { checkDevices, runDaemons } from './scripts.ts';

/** Servers read rings anew when they change. */
export const mounts = ({ named }: Context<Swift>): readonly Mount[] => [
  { path: ringFolder, secrets: [named('rings'), named('rings-policies')] },
  { path: '/var/cache/swift', scratch: true },
];

/** Those of each group, and no two groups at once: replicas of a partition may lie in each. */
export function storageNodes(context: Context<Swift>): Readonly<Record<string, Component>> {
  const { groups } = nodesOf(context);
  return Object.fromEntries(
    groups.map((group, index) => {
      const before = stepsOf(groups.slice(0, index)).filter((step) => step !== group.step);
      return [
        group.component,
        {
          ...storageNode(context, group),
          ...(group.component !== 'storage' && { variantOf: 'storage', needs: before }),
        },
      ];
    }),
  );
}

/** Steps of groups of which something is wanted: what leaves may never have come up, or be lost. */
export const stepsOf = (groups: readonly NodeGroup[]): string[] => [
  ...new Set(groups.flatMap(({ wanted, step }) => (wanted > 0 ? [step] : []))),
];

/** Comes up before rings name it: nobody is sent to a device that is not there. */
function storageNode(context: Context<Swift>, group: NodeGroup): Component {
  const { running: replicas, step, scheduling, host } = group;
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
    replicas,
    step,
    ...(scheduling && { scheduling }),
    ...server('object'),
    sidecars: [
      ...(host === undefined ? [] : [watch(context, host)]),
      { name: 'container', ports: ['container'], ...server('container') },
      { name: 'account', ports: ['account'], ...server('account') },
      {
        name: 'daemons',
        runs: {
          script: runDaemons(host === undefined ? '' : keepOff),
          arguments: [rings.join(' '), ...daemons],
          signals: 'group',
        },
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
    graceSeconds: 60,
    ...(host === undefined ? onVolumes(context, group) : onMounts(context, group, host)),
  };
}

/** Devices that are volumes of its own. */
function onVolumes(context: Context<Swift>, { devices, storage }: NodeGroup): Partial<Component> {
  const { checkDevices: isChecked = true } = context.spec;
  const { size = volumeSize, ...more } = storage;
  return {
    config: 'storage',
    ...(isChecked && { init: [{ name: 'check', runs: { script: checkDevices, arguments: devices } }] }),
    mounts: [...mounts(context), ...devices.map((name) => ({ path: `${folder}/${name}`, claim: name }))],
    claims: devices.map((name) => ({ name, size, ...more })),
  };
}

/**
 * Devices that are mount points of its node. The directory above them is mounted, and not they themselves: so a device that is not
 * mounted is seen to be none, and one that is mounted later is found. What has come up once holds up nothing any more: a node
 * or disk that fails is told, and the others go on.
 */
function onMounts(
  context: Context<Swift>,
  { wanted }: NodeGroup,
  host: NonNullable<NodeGroup['host']>,
): Partial<Component> {
  return {
    config: 'mounts',
    inTurn: true,
    ...(wanted === 0
      ? { mostAway: Number.POSITIVE_INFINITY }
      : isInRings(context, host) && { mostAway: mostAway(context) }),
    init: [{ name: 'check', runs: { script: checkMounts, arguments: wordsOf(context, host) } }],
    env: nodeName,
    mounts: [...mounts(context), { path: folder, host: 'Directory', from: pathOf(host), follows: true }],
  };
}

/** By which scripts name the node. */
const nodeName = { NODE: { field: 'spec.nodeName' } } as const;

/** So many storage nodes on disks may be away that one copy of everything is elsewhere, and most copies have a place. */
function mostAway(context: Context<Swift>): number {
  const { spec } = context;
  const { replicaCount } = { ...defaults, ...spec.storagePolicy };
  const all = nodesOf(context).groups.reduce((sum, { wanted }) => sum + wanted, 0);
  const copies = [replicaCount, ...policyRings(spec).map(({ replicas }) => replicas)];
  return Math.min(...copies.map((count) => Math.min(count - 1, all - Math.floor(count / 2) - 1)));
}

/** What is said to programs that look at devices. */
const wordsOf = ({ spec: { checkDevices = true } }: Context<Swift>, host: HostPath): readonly string[] => [
  checkDevices ? 'check' : 'accept',
  pathOf(host),
  ...host.devices,
];

/** Ends while something is wrong with a device, as conditions tell what a container has said last: servers leave the device out, and go on. */
const watch = (context: Context<Swift>, host: HostPath): Sidecar => ({
  name: 'devices',
  runs: { script: watchMounts, arguments: wordsOf(context, host) },
  health: {
    exec: ['bash', '-c', findUnmounted, 'devices', ...host.devices],
    alive: ['true'],
    periodSeconds: 30,
  },
  resources: { cpu: '5m', memory: '32Mi' },
});

/** Where servers look for devices. */
const folder = '/srv/node';
