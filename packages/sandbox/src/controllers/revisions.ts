import { controllerReference, keyOf } from '@openstack-operator/kube';
import type { IPodTemplateSpec } from 'kubernetes-models/v1';
import { ControllerRevision, type Stored } from '../cluster/kinds.ts';
import { cloneJson, deepEqual } from '../resources/json.ts';
import { type LabelSelector, selectorMatches } from '../resources/metadata.ts';
import { claim } from './claim.ts';
import type { ControllerContext } from './controller.ts';
import type { OwnerIndex } from './owner-index.ts';
import { templateHash } from './template-hash.ts';

export const REVISION_LABEL = 'controller-revision-hash';

/** A StatefulSet or DaemonSet, as far as its revisions go. */
export type Revisioned = Stored & {
  spec: { selector: LabelSelector; template: IPodTemplateSpec; revisionHistoryLimit?: number };
};

/**
 * The ControllerRevision of the present template: made when it is new, raised to the newest when it was there before
 * (a roll back, or one that an orphaning deletion left behind).
 */
export function ensureRevision(
  owner: Revisioned,
  index: OwnerIndex<ControllerRevision>,
  hashLabel: string,
  context: ControllerContext,
): Stored<ControllerRevision> {
  const { cluster } = context;
  const data = { spec: { template: { ...cloneJson(owner.spec.template), $patch: 'replace' } } };
  const history = byRevision([
    ...claim(ControllerRevision, owner, owner.spec.selector, index, context),
    // Being deleted, it adopts none, but knows them.
    ...index
      .orphans(owner.metadata.namespace ?? '')
      .filter(({ metadata }) => selectorMatches(owner.spec.selector, metadata.labels ?? {})),
  ]);
  const newest = history.at(-1);
  const next = (newest?.revision ?? 0) + 1;
  const equal = history.findLast((revision) => deepEqual(revision.data, data));
  if (equal) {
    if (equal === newest) return equal;
    const raised = cluster.update(ControllerRevision, keyOf(equal), (draft) => {
      draft.revision = next;
    });
    return raised ?? equal;
  }
  const hash = templateHash(data);
  const { namespace } = owner.metadata;
  return cluster.create(ControllerRevision, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${owner.metadata.name}-${hash}`,
      ...(namespace && { namespace }),
      labels: { ...owner.spec.template.metadata?.labels, [hashLabel]: hash },
      ownerReferences: [controllerReference(owner)],
    },
    data,
    revision: next,
  });
}

/** The template that a revision holds. */
export function templateOf(revision: Stored<ControllerRevision>): IPodTemplateSpec {
  const data: { spec?: { template?: IPodTemplateSpec & { $patch?: string } } } | undefined = revision.data;
  const { $patch: _, ...template } = data?.spec?.template ?? {};
  return template;
}

/** Removes the oldest revisions beyond `revisionHistoryLimit`, but none that is in use. */
export function trimRevisions(
  owner: Revisioned,
  index: OwnerIndex<ControllerRevision>,
  inUse: ReadonlySet<string>,
  { cluster }: ControllerContext,
): void {
  const idle = byRevision(index.owned(owner)).filter(({ metadata }) => !inUse.has(metadata.name));
  const surplus = idle.length - (owner.spec.revisionHistoryLimit ?? 10);
  for (const revision of idle.slice(0, Math.max(0, surplus))) cluster.delete(ControllerRevision, revision);
}

function byRevision(revisions: Stored<ControllerRevision>[]): Stored<ControllerRevision>[] {
  return revisions.toSorted((a, b) => a.revision - b.revision || (a.metadata.name < b.metadata.name ? -1 : 1));
}
