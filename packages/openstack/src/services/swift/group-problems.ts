import { schedulingMistakes } from '../../engine/compose/spec-mistakes.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { fixedOf } from './groups.ts';
import { defaults, mostRingBytes, type Swift } from './kind.ts';
import { heldGroups, nodesOf } from './nodes.ts';
import { policyRings } from './policies.ts';

const pathOf = (name: string): string => `spec.storageGroups[name=${name}]`;

/** What of groups Kubernetes would refuse. */
export const groupFindings = ({ spec: { storageGroups = [] } }: Context<Swift>) => ({
  mistakes: storageGroups.flatMap((group) => schedulingMistakes(group, pathOf(group.name))),
});

/** What a Swift with groups asks for and cannot have: without groups the API server refuses it. */
export function groupProblems(context: Context<Swift>): string[] {
  return context.spec.storageGroups === undefined ? [] : [...sizeProblems(context), ...changeProblems(context)];
}

function sizeProblems(context: Context<Swift>): string[] {
  const { spec } = context;
  const { replicaCount, partitionPower } = { ...defaults, ...spec.storagePolicy };
  const policies = policyRings(spec);
  const devices = nodesOf(context).groups.reduce((sum, group) => sum + group.running * group.devices.length, 0);
  const widest = Math.max(0, ...policies.map(({ replicas }) => replicas));
  const rings = [
    { field: 'spec.storagePolicy', count: 3, replicas: replicaCount },
    { field: 'spec.storagePolicies', count: policies.length, replicas: widest },
  ];
  return rings.flatMap(({ field, count, replicas }) => {
    const bytes = count * (2 ** partitionPower * (5 * replicas + 3) + 400 * devices);
    return [
      ...(replicas > devices
        ? [
            `spec.storageGroups: expected a device for each of the ${replicas} copies or fragments of ${field}, and there are ${devices} with those of spec.storageNodes: raise storageNodes`,
          ]
        : []),
      ...(bytes > mostRingBytes
        ? [
            `spec.storageGroups: the rings of ${field} would not fit into a Secret (1 MiB) with ${devices} devices: state fewer, and larger ones`,
          ]
        : []),
    ];
  });
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
