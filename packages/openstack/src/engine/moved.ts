import type { Context } from './context.ts';
import { fieldManager, movedTo } from './names.ts';
import { rootOf } from './roots.ts';
import type { Problem } from './step.ts';

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
          `Put the labels back: ${fieldManager} and the name of the owner that it lost, or neither if it never had one`,
        ]
      : [
          `the owner of ${kind} ${metadata.name}, ${root.kind} ${root.name}, says`,
          `Take metadata.ownerReferences out, and let the control plane do without it; or delete it, and what carries servers on ` +
            'its nodes with it, when there are none, and it is made anew',
        ];
  const message = `${says} that it is of cloud ${other}, and its nodes are of ${cloud} (status.cloud): nothing of nodes and agents is changed. ${way}`;
  return { reason: 'CloudDiffers', message };
}
