import { controllerReference, keyOf, parseTimestamp } from '@openstack-operator/kube';
import { refusedWith } from '../cluster/cluster.ts';
import { Deployment, ReplicaSet, type Stored } from '../cluster/kinds.ts';
import { cloneJson, deepEqual } from '../resources/json.ts';
import type { ControllerContext } from './controller.ts';
import { boundsOf } from './deployment-bounds.ts';
import { templateHash } from './template-hash.ts';

export const HASH_LABEL = 'pod-template-hash';
export const REVISION = 'deployment.kubernetes.io/revision';
const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
export const DESIRED = 'deployment.kubernetes.io/desired-replicas';
const MAX = 'deployment.kubernetes.io/max-replicas';

/** Annotations of a Deployment that its ReplicaSets do not inherit. */
const NOT_INHERITED = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  REVISION_HISTORY,
  DESIRED,
  MAX,
  'deprecated.deployment.rollback.to',
]);

/** A Deployment's ReplicaSets, oldest first: the one with the present template, and all others. */
export interface History {
  readonly current: Stored<ReplicaSet> | undefined;
  readonly old: Stored<ReplicaSet>[];
}

/** Tells the ReplicaSet that has the Deployment's template from the others; of several the oldest. */
export function historyOf(deployment: Stored<Deployment>, owned: readonly Stored<ReplicaSet>[]): History {
  const sorted = owned.toSorted(byAge);
  const current = sorted.find((replicaSet) => sameTemplate(replicaSet, deployment));
  return { current, old: sorted.filter((replicaSet) => replicaSet !== current) };
}

function byAge(a: Stored<ReplicaSet>, b: Stored<ReplicaSet>): number {
  const age = parseTimestamp(a.metadata.creationTimestamp ?? '') - parseTimestamp(b.metadata.creationTimestamp ?? '');
  return age || (a.metadata.name < b.metadata.name ? -1 : 1);
}

function sameTemplate(replicaSet: Stored<ReplicaSet>, deployment: Stored<Deployment>): boolean {
  const { [HASH_LABEL]: _, ...labels } = replicaSet.spec.template?.metadata?.labels ?? {};
  const template = { ...replicaSet.spec.template, metadata: { ...replicaSet.spec.template?.metadata, labels } };
  const { metadata, ...rest } = deployment.spec.template;
  return deepEqual(template, { ...rest, metadata: { ...metadata, labels: metadata?.labels ?? {} } });
}

/**
 * Makes sure that there is a ReplicaSet of the present template, with `replicas` when it is new, and that it carries the
 * next revision. Undefined when the name is taken by somebody else: the next sync tries another.
 * @throws StatusError when the API server refuses
 */
export function ensureCurrent(
  deployment: Stored<Deployment>,
  { current, old }: History,
  replicas: number,
  context: ControllerContext,
): Stored<ReplicaSet> | undefined {
  const { cluster, recorder } = context;
  const revision = String(Math.max(0, ...old.map(revisionOf)) + 1);
  if (current) {
    const updated = cluster.update(ReplicaSet, keyOf(current), (draft) => {
      const annotations = inherited(deployment, draft.metadata.annotations);
      const previous = annotations[REVISION];
      if (previous === undefined || Number(previous) < Number(revision)) {
        annotations[REVISION] = revision;
        if (previous !== undefined) {
          annotations[REVISION_HISTORY] = [annotations[REVISION_HISTORY], previous].filter(Boolean).join(',');
        }
      }
      draft.metadata.annotations = annotations;
      const { minReadySeconds } = deployment.spec;
      if (minReadySeconds !== undefined) draft.spec.minReadySeconds = minReadySeconds;
    });
    stampRevision(deployment, updated ?? current, context);
    return updated;
  }
  const hash = templateHash(deployment.spec.template, deployment.status?.collisionCount);
  const template = cloneJson(deployment.spec.template);
  template.metadata = { ...template.metadata, labels: { ...template.metadata?.labels, [HASH_LABEL]: hash } };
  const name = `${deployment.metadata.name}-${hash}`;
  const { namespace } = deployment.metadata;
  try {
    const created = cluster.create(ReplicaSet, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name,
        ...(namespace && { namespace }),
        labels: { ...template.metadata.labels },
        annotations: { ...inherited(deployment, {}), ...scaleAnnotations(deployment), [REVISION]: revision },
        ownerReferences: [controllerReference(deployment)],
      },
      spec: {
        replicas,
        ...(deployment.spec.minReadySeconds !== undefined && { minReadySeconds: deployment.spec.minReadySeconds }),
        selector: {
          ...deployment.spec.selector,
          matchLabels: { ...deployment.spec.selector.matchLabels, [HASH_LABEL]: hash },
        },
        template,
      },
    });
    if (replicas > 0) {
      recorder.record(deployment, 'ScalingReplicaSet', `Scaled up replica set ${name} from 0 to ${replicas}`);
    }
    stampRevision(deployment, created, context);
    return created;
  } catch (error) {
    if (!refusedWith(error, 409)) throw error;
    cluster.updateStatus(Deployment, keyOf(deployment), {
      ...deployment.status,
      collisionCount: (deployment.status?.collisionCount ?? 0) + 1,
    });
    return undefined;
  }
}

/** Removes ReplicaSets beyond `revisionHistoryLimit`, oldest revision first. */
export function trimHistory(
  deployment: Stored<Deployment>,
  old: readonly Stored<ReplicaSet>[],
  { cluster }: ControllerContext,
): void {
  const limit = deployment.spec.revisionHistoryLimit ?? 10;
  const idle = old.filter(
    ({ spec, status, metadata }) =>
      spec.replicas === 0 &&
      (status?.replicas ?? 0) === 0 &&
      !metadata.deletionTimestamp &&
      (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0),
  );
  const alive = old.filter(({ metadata }) => !metadata.deletionTimestamp).length;
  const surplus = idle.toSorted((a, b) => revisionOf(a) - revisionOf(b)).slice(0, Math.max(0, alive - limit));
  for (const replicaSet of surplus) cluster.delete(ReplicaSet, replicaSet, { propagationPolicy: 'Background' });
}

/** The annotations that tell proportional scaling what a ReplicaSet was scaled for. */
export function scaleAnnotations(deployment: Stored<Deployment>): Record<string, string> {
  const { replicas = 1 } = deployment.spec;
  return { [DESIRED]: String(replicas), [MAX]: String(replicas + boundsOf(deployment).surge) };
}

export function revisionOf({ metadata }: Stored): number {
  return Number(metadata.annotations?.[REVISION] ?? 0);
}

function inherited(
  deployment: Stored<Deployment>,
  own: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  const given = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !NOT_INHERITED.has(name));
  return { ...own, ...Object.fromEntries(given) };
}

function stampRevision(
  deployment: Stored<Deployment>,
  current: Stored<ReplicaSet>,
  { cluster }: ControllerContext,
): void {
  const revision = current.metadata.annotations?.[REVISION];
  if (revision === undefined || deployment.metadata.annotations?.[REVISION] === revision) return;
  // As kube-controller-manager does it: through the status endpoint, so that the generation stays.
  cluster.update(
    Deployment,
    keyOf(deployment),
    ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, [REVISION]: revision };
    },
    'status',
  );
}
