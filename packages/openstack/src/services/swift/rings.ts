import { hourly, nightly } from '../../engine/objects/schedule.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Job } from '../../engine/vocabulary/service.ts';
import { kinds, ringFolder, servers } from './configuration.ts';
import { defaults, type Swift } from './kind.ts';
import { tellNodes } from './mount-scripts.ts';
import { leftWords, type NodeGroup, nodesInRings, nodesOf, nodesThatLeft, ringWords } from './nodes.ts';
import { policyRings } from './policies.ts';
import { awaitRemoval, buildRings, comparePolicies, groupRings, moveRings } from './scripts.ts';
import { stepsOf } from './storage-nodes.ts';

/** The volume claim that every Swift has. */
export const firstDevice = ({ named }: Context<Swift>): string => `d1-${named('storage')}-0`;

/** Where Jobs make rings. */
const folder = '/var/lib/swift/rings';

/** The program of Jobs that make rings, which are `name:port:replicas`. */
function building(context: Context<Swift>, rings: readonly string[]): Job['runs'][number] {
  const { partitionPower, minPartHours } = { ...defaults, ...context.spec.storagePolicy };
  const { groups, lost, haveMoved } = nodesOf(context);
  const isGrouped = lost.length > 0 || groups.some(({ component }) => component !== 'storage');
  const gone = lost
    .flatMap((group) => targets(context, { ...group, running: 1 }, 'leaving'))
    .map((one) => `${one}=lost`);
  const leaving =
    haveMoved || isGrouped
      ? [[...groups.flatMap((group) => targets(context, group, 'leaving')), ...gone].join(' ')]
      : [];
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
export function removal(context: Context<Swift>): Job[] {
  const { named, spec } = context;
  const { groups, lost, areLeaving } = nodesOf(context);
  if (!areLeaving) return [];
  const leaving = [...groups, ...lost.map((group) => ({ ...group, running: 1 }))].flatMap((group) =>
    targets(context, group, 'leaving'),
  );
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
export function rings(context: Context<Swift>): Job {
  const { replicaCount } = { ...defaults, ...context.spec.storagePolicy };
  const hasHosts = nodesOf(context).groups.some(({ host }) => host !== undefined);
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
      ...(hasHosts ? [{ name: 'tell', script: tellNodes, arguments: [ringWords(context)] }] : []),
    ],
    ...(hasHosts && { finds: nodesInRings }),
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
export function policies(context: Context<Swift>): Job {
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
