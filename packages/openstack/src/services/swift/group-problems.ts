import { schedulingMistakes } from '../../engine/compose/spec-mistakes.ts';
import { rootOf } from '../../engine/names/roots.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Problem } from '../../engine/vocabulary/step.ts';
import { refusedBy } from '../backends.ts';
import { fixedOf } from './groups.ts';
import { idOf, labelWords } from './host-nodes.ts';
import { defaults, mostRingBytes, type Swift } from './kind.ts';
import { heldGroups, isOffRings, nodesOf } from './nodes.ts';
import { policyRings } from './policies.ts';

const pathOf = (name: string): string => `spec.storageGroups[name=${name}]`;

/** What of groups Kubernetes would refuse. */
export const groupFindings = (context: Context<Swift>) => ({
  mistakes: (context.spec.storageGroups ?? []).flatMap((group) => schedulingMistakes(group, pathOf(group.name))),
  remarks: keptWords(context),
});

const keptWords = (context: Context<Swift>): string[] =>
  labelWords(context, context.spec.storageGroups ?? [], heldGroups(context), (node) => isOffRings(context, node));

/** What a Swift with groups asks for and cannot have, by step: without groups the API server refuses it. */
export function groupProblems(context: Context<Swift>): Readonly<Record<string, Problem>> {
  const { storageGroups } = context.spec;
  if (storageGroups === undefined) return {};
  const { few, large } = sizeProblems(context);
  // How many nodes there are is not said by the spec.
  const mayGrow = few.length > 0 && storageGroups.some(({ hostPath }) => hostPath !== undefined);
  const problems = refusedBy([...hostProblems(context), ...(mayGrow ? [] : few), ...large, ...changeProblems(context)]);
  return {
    ...problems,
    ...(mayGrow && { RingsReady: { reason: 'NoNodes', message: [...few, ...keptWords(context)].join('; ') } }),
  };
}

/** What keeps nodes from being storage nodes. */
function hostProblems(context: Context<Swift>): string[] {
  const [first] = (context.spec.storageGroups ?? []).filter(({ hostPath }) => hostPath !== undefined);
  if (first === undefined) return [];
  if (rootOf(context.resource) === undefined)
    return [
      `${pathOf(first.name)}.hostPath: control planes claim nodes, and this Swift is of none: state it below one (spec.swift), or take volumes (storage)`,
    ];
  const hosts = nodesOf(context).groups.flatMap(({ host }) => host ?? []);
  return hosts.flatMap(({ node }, index) => {
    const same = hosts.slice(0, index).find((other) => idOf(other.node) === idOf(node));
    return same === undefined
      ? []
      : [
          `spec.storageGroups: nodes ${same.node} and ${node} would have the same name in rings: take the label of one away`,
        ];
  });
}

/** Devices that are too few, and rings that are too large. */
function sizeProblems(context: Context<Swift>): Readonly<Record<'few' | 'large', readonly string[]>> {
  const { spec } = context;
  const { replicaCount, partitionPower } = { ...defaults, ...spec.storagePolicy };
  const policies = policyRings(spec);
  // Nodes that leave are no place for what others lack.
  const devices = nodesOf(context).groups.reduce(
    (sum, { host, wanted, running, devices }) => sum + (host === undefined ? running : wanted) * devices.length,
    0,
  );
  const widest = Math.max(0, ...policies.map(({ replicas }) => replicas));
  const rings = [
    { field: 'spec.storagePolicy', count: 3, replicas: replicaCount },
    { field: 'spec.storagePolicies', count: policies.length, replicas: widest },
  ];
  const bytesOf = (count: number, replicas: number) =>
    count * (2 ** partitionPower * (5 * replicas + 3) + 400 * devices);
  return {
    few: rings
      .filter(({ replicas }) => replicas > devices)
      .map(
        ({ field, replicas }) =>
          `spec.storageGroups: expected a device for each of the ${replicas} copies or fragments of ${field}, and there are ${devices} with those of spec.storageNodes: raise storageNodes, or label more nodes as nodeSelector says`,
      ),
    large: rings
      .filter(({ count, replicas }) => bytesOf(count, replicas) > mostRingBytes)
      .map(
        ({ field }) =>
          `spec.storageGroups: the rings of ${field} would not fit into a Secret (1 MiB) with ${devices} devices: state fewer, and larger ones`,
      ),
  };
}

/** What cannot change of a group that is stated again before all has moved away from it: the API server knows nothing of it. */
function changeProblems(context: Context<Swift>): string[] {
  const held = heldGroups(context);
  return (context.spec.storageGroups ?? []).flatMap((group) => {
    const before = held.find(({ name }) => name === group.name);
    if (before === undefined) return [];
    const was = Object.values(fixedOf(before));
    return Object.entries(fixedOf(group)).flatMap(([field, is], index) =>
      is === was[index]
        ? []
        : [
            `${pathOf(group.name)}.${field}: it is ${is}, and was ${was[index]}, by which replicas lie there: state that, or a group of another name`,
          ],
    );
  });
}
