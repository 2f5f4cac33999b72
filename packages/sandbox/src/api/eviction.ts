import { type KubeObject, type Status, type StoredObject, timestamp } from '@openstack-operator/kube';
import { isObject } from '../resources/json.ts';
import { type LabelSelector, selectorMatches } from '../resources/metadata.ts';
import type { Core, WriteRequest } from './core.ts';
import { type DeleteRequest, deleteObject } from './delete.ts';
import { badRequest, internalError, StatusError, tooManyRequests } from './status.ts';
import { patchObject } from './write.ts';

interface Budget extends StoredObject {
  readonly spec?: { readonly selector?: LabelSelector; readonly unhealthyPodEvictionPolicy?: string };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
    readonly disruptedPods?: Readonly<Record<string, string>>;
    readonly conditions?: readonly { readonly type: string }[];
  };
}

interface PodStatus {
  readonly phase?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/**
 * Deletes a pod if its disruption budget lets it go (pkg/registry/core/pod/storage/eviction.go).
 * @throws StatusError 429 when the budget is used up
 */
export function evict(core: Core, write: WriteRequest, pod: StoredObject, eviction: unknown): Status {
  if (!isObject(eviction)) throw badRequest('the body is no Eviction');
  const { metadata, deleteOptions = {} } = eviction as {
    metadata?: KubeObject['metadata'];
    deleteOptions?: DeleteRequest;
  };
  if (metadata?.name !== write.name) throw badRequest('name in URL does not match name in Eviction object');
  const status = (pod['status'] ?? {}) as PodStatus;
  const free = ['Succeeded', 'Failed', 'Pending'].includes(status.phase ?? '') || pod.metadata.deletionTimestamp;
  if (!free) takeFromBudget(core, write, pod, status);
  const dryRun = write.dryRun || 'dryRun' in deleteOptions;
  if (!dryRun) {
    patchObject(core, { ...write, subresource: 'status' }, (live) => ({ ...live, status: targeted(core, live) }));
  }
  deleteObject(core, { ...write, subresource: '', dryRun }, deleteOptions);
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}

function targeted(core: Core, pod: KubeObject): unknown {
  const status = (pod['status'] ?? {}) as PodStatus;
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastTransitionTime: timestamp(core.clock),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  return {
    ...status,
    conditions: [...(status.conditions ?? []).filter(({ type }) => type !== condition.type), condition],
  };
}

function takeFromBudget(core: Core, write: WriteRequest, pod: StoredObject, podStatus: PodStatus): void {
  const all = core.store.list('poddisruptionbudgets.policy', pod.metadata.namespace) as Budget[];
  const budgets = all.filter(({ spec }) => selectorMatches(spec?.selector, pod.metadata.labels ?? {}));
  if (budgets.length > 1) {
    const message = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    throw new StatusError(500, '', message);
  }
  const [budget] = budgets;
  if (!budget) return;
  const { name } = budget.metadata;
  const status = budget.status ?? {};
  const { disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0 } = status;
  const ready = podStatus.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
  if (!ready) {
    if (budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return;
    if (currentHealthy >= desiredHealthy && desiredHealthy > 0) return;
  }
  const refuse = (message: string, after: number) =>
    tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", after, {
      causes: [{ reason: 'DisruptionBudget', message }],
    });
  if ((status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) {
    throw refuse(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  if (disruptionsAllowed <= 0) {
    const words =
      currentHealthy <= desiredHealthy
        ? `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
        : 'does not allow evicting pods currently';
    throw refuse(`The disruption budget ${name} ${words}`, 0);
  }
  if (write.dryRun) return;
  const [served] = core.registry.versionsOf('poddisruptionbudgets.policy');
  if (!served) throw internalError('poddisruptionbudgets are not served');
  const disruptedPods = { ...status.disruptedPods, [pod.metadata.name]: timestamp(core.clock) };
  const taken = { ...status, disruptionsAllowed: disruptionsAllowed - 1, disruptedPods };
  if (disruptionsAllowed === 1) Object.assign(taken, { conditions: usedUp(core, budget) });
  const namespace = pod.metadata.namespace ?? '';
  const update = { ...write, served, namespace, name, subresource: 'status', manager: 'kube-apiserver' };
  patchObject(core, update, (live) => ({ ...live, status: taken }));
}

/** The budget's condition once nothing more may go. */
function usedUp(core: Core, { metadata, status }: Budget): unknown[] {
  const others = (status?.conditions ?? []).filter(({ type }) => type !== 'DisruptionAllowed');
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration: metadata.generation,
    lastTransitionTime: timestamp(core.clock),
    reason: 'InsufficientPods',
    message: '',
  };
  return [...others, condition];
}
