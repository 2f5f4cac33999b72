import { fieldManager, movedTo } from '../names/names.ts';
import { rootOf } from '../names/roots.ts';
import type { Context } from '../vocabulary/context.ts';
import type { Problem } from '../vocabulary/step.ts';

/** An owner or labels that say another cloud: nodes and agents stay as they are until these are put back. */
export function movedProblem({ resource, cloud }: Context): Problem | undefined {
  const other = movedTo(resource);
  if (other === undefined) return undefined;
  const { kind, metadata } = resource;
  const root = rootOf(resource);
  const [says, way] =
    root === undefined
      ? [
          `labels app.kubernetes.io/managed-by and app.kubernetes.io/instance of ${kind} ${metadata.name} say`,
          `Set the labels back, to ${fieldManager} and the name of its former owner; remove both if it never had one`,
        ]
      : [
          `the owner of ${kind} ${metadata.name}, ${root.kind} ${root.name}, says`,
          `Remove metadata.ownerReferences and disable it in the control plane; or, once it has no servers, delete it with what carries servers on ` +
            'its nodes, and the control plane creates it again',
        ];
  const message = `${says} that it belongs to cloud ${other}, but its nodes belong to ${cloud} (status.cloud); nodes and agents are not changed. ${way}`;
  return { reason: 'CloudDiffers', message };
}
