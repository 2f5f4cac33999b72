import { keyOf } from '@openstack-operator/kube';
import { type Deployment, type Pod, ReplicaSet, type Stored } from '../cluster/kinds.ts';
import type { ControllerContext } from './controller.ts';
import { boundsOf } from './deployment-bounds.ts';
import { DESIRED, ensureCurrent, type History, scaleAnnotations } from './deployment-history.ts';

/** Moves a rolling update on by as much as its bounds allow now. Gives the present ReplicaSet. */
export function rollingUpdate(
  deployment: Stored<Deployment>,
  history: History,
  context: ControllerContext,
): Stored<ReplicaSet> | undefined {
  const { surge, unavailable } = boundsOf(deployment);
  const wanted = deployment.spec.replicas ?? 1;
  const oldCount = sum(history.old);
  const room = Math.max(0, wanted + surge - oldCount - (history.current?.spec.replicas ?? 0));
  const target = Math.min(wanted, (history.current?.spec.replicas ?? 0) + room);
  const current = ensureCurrent(deployment, history, target, context);
  if (!current) return undefined;
  const grown = (current.spec.replicas ?? 0) > wanted ? wanted : Math.max(current.spec.replicas ?? 0, target);
  const scaled = scaleTo(deployment, current, grown, context);
  const missing = (scaled.spec.replicas ?? 0) - (scaled.status?.availableReplicas ?? 0);
  let removable = oldCount + (scaled.spec.replicas ?? 0) - (wanted - unavailable) - missing;
  const remaining: Stored<ReplicaSet>[] = [];
  for (const replicaSet of history.old) {
    const unhealthy = (replicaSet.spec.replicas ?? 0) - (replicaSet.status?.availableReplicas ?? 0);
    const cut = Math.max(0, Math.min(removable, unhealthy));
    removable -= cut;
    remaining.push(scaleTo(deployment, replicaSet, (replicaSet.spec.replicas ?? 0) - cut, context));
  }
  // What is healthy may only go as far as enough others are available.
  const available = [...remaining, scaled].reduce((total, { status }) => total + (status?.availableReplicas ?? 0), 0);
  let spare = Math.min(removable, available - (wanted - unavailable));
  for (const replicaSet of remaining) {
    const cut = Math.max(0, Math.min(spare, replicaSet.spec.replicas ?? 0));
    spare -= cut;
    scaleTo(deployment, replicaSet, (replicaSet.spec.replicas ?? 0) - cut, context);
  }
  return scaled;
}

/** Stops all old pods, and starts new ones when none is left. */
export function recreate(
  deployment: Stored<Deployment>,
  history: History,
  pods: readonly Stored<Pod>[],
  context: ControllerContext,
): Stored<ReplicaSet> | undefined {
  for (const replicaSet of history.old) scaleTo(deployment, replicaSet, 0, context);
  const ours = history.current?.metadata.uid;
  const oldRuns = pods.some(
    ({ metadata, status }) =>
      !metadata.ownerReferences?.some(({ uid }) => uid === ours) &&
      status?.phase !== 'Failed' &&
      status?.phase !== 'Succeeded',
  );
  if (oldRuns) return history.current;
  const wanted = deployment.spec.replicas ?? 1;
  const current = ensureCurrent(deployment, history, wanted, context);
  return current && scaleTo(deployment, current, wanted, context);
}

/**
 * Scales without rolling: a paused Deployment, or one whose `replicas` changed amid a rollout. The newest ReplicaSet
 * that runs takes the change when it is alone, else each takes its share.
 */
export function scaleOnly(deployment: Stored<Deployment>, history: History, context: ControllerContext): void {
  const all = [...history.old, ...(history.current ? [history.current] : [])];
  const running = all.filter(({ spec }) => (spec.replicas ?? 0) > 0);
  const wanted = deployment.spec.replicas ?? 1;
  if (running.length <= 1) {
    const [only = history.current ?? history.old.at(-1)] = running;
    if (only) scaleTo(deployment, only, wanted, context);
    return;
  }
  if ((history.current?.spec.replicas ?? 0) === wanted && history.current?.status?.availableReplicas === wanted) {
    for (const replicaSet of history.old) scaleTo(deployment, replicaSet, 0, context);
    return;
  }
  const { surge } = boundsOf(deployment);
  const allowed = wanted > 0 ? wanted + surge : 0;
  const total = sum(running);
  let left = allowed - total;
  const ordered = running.toSorted((a, b) => (b.spec.replicas ?? 0) - (a.spec.replicas ?? 0));
  const sizes = ordered.map((replicaSet) => {
    const size = replicaSet.spec.replicas ?? 0;
    const before = Number(replicaSet.metadata.annotations?.[DESIRED] ?? wanted) + surge || total;
    const share = Math.round((size * allowed) / before) - size;
    const part = left > 0 ? Math.min(Math.max(0, share), left) : Math.max(Math.min(0, share), left);
    left -= part;
    return size + part;
  });
  if (sizes[0] !== undefined) sizes[0] = Math.max(0, sizes[0] + left);
  for (const [position, replicaSet] of ordered.entries())
    scaleTo(deployment, replicaSet, sizes[position] ?? 0, context);
}

/** Whether `replicas` has changed since the running ReplicaSets were scaled. */
export function isScaling(deployment: Stored<Deployment>, { current, old }: History): boolean {
  return [...old, ...(current ? [current] : [])].some(({ spec, metadata }) => {
    const desired = metadata.annotations?.[DESIRED];
    return (spec.replicas ?? 0) > 0 && desired !== undefined && desired !== String(deployment.spec.replicas ?? 1);
  });
}

function scaleTo(
  deployment: Stored<Deployment>,
  replicaSet: Stored<ReplicaSet>,
  replicas: number,
  { cluster, recorder }: ControllerContext,
): Stored<ReplicaSet> {
  const before = replicaSet.spec.replicas ?? 0;
  const annotations = scaleAnnotations(deployment);
  const noted = Object.entries(annotations).every(([name, value]) => replicaSet.metadata.annotations?.[name] === value);
  if (before === replicas && (noted || replicas === 0)) return replicaSet;
  const scaled = cluster.update(ReplicaSet, keyOf(replicaSet), (draft) => {
    draft.spec.replicas = replicas;
    draft.metadata.annotations = { ...draft.metadata.annotations, ...annotations };
  });
  if (before !== replicas) {
    const direction = replicas > before ? 'up' : 'down';
    const message = `Scaled ${direction} replica set ${replicaSet.metadata.name} from ${before} to ${replicas}`;
    recorder.record(deployment, 'ScalingReplicaSet', message);
  }
  return scaled ?? replicaSet;
}

function sum(replicaSets: readonly Stored<ReplicaSet>[]): number {
  return replicaSets.reduce((total, { spec }) => total + (spec.replicas ?? 0), 0);
}
