import {
  controllerOf,
  Deployment,
  HorizontalPodAutoscaler,
  type Kind,
  type KubeObject,
  keyOf,
  type ManagedFieldsEntry,
  type ObjectRef,
  type StoredObject,
  type Watched,
} from '@openstack-operator/kube';
import { fieldManager, services, withoutReplicas } from '@openstack-operator/openstack';
import type { ComposeContext } from './context.ts';

/**
 * Replicas of a Deployment that a HorizontalPodAutoscaler targets are the autoscaler's. StatefulSets are databases and
 * brokers, whose members have to be added with care: an autoscaler that targets one is ignored.
 */

/** Index of autoscalers by the key of the Deployment that they target. */
const byTarget = 'scale-target';

/** Concerned by an autoscaler: who has the Deployment that it targets, or targeted before. What it measures concerns nobody. */
export function autoscalerWatch(kind: Kind): Watched {
  return {
    kind: HorizontalPodAutoscaler,
    transform: slimAutoscaler,
    facts: targetOf,
    indexes: { [byTarget]: targetOf },
    map: (autoscaler, cache): ObjectRef[] =>
      targetOf(autoscaler).flatMap((key) => {
        const deployment = cache.get(Deployment, key);
        const owner = deployment && controllerOf(deployment);
        const { namespace = '' } = autoscaler.metadata;
        return owner?.kind === kind.kind ? [{ namespace, name: owner.name }] : [];
      }),
  };
}

/** Whether an autoscaler says how many pods of a stated workload run. */
export function isAutoscaled({ cache, object: resource }: ComposeContext, workload: KubeObject): boolean {
  if (workload.kind !== Deployment.kind) return false;
  const component = workload.metadata.labels?.['app.kubernetes.io/component'] ?? '';
  const service = services.find(({ kind }) => kind.kind === resource.kind);
  const single = service?.single?.(resource.spec ?? {}) ?? [];
  const isSingle = single.some((name) => `${component}-`.startsWith(`${name}-`));
  return !isSingle && cache.byIndex(HorizontalPodAutoscaler, byTarget, keyOf(workload)).length > 0;
}

/**
 * The statement that leaves the live replicas as they are. The API server resets a field to its default when its only
 * owner states it no more: replicas are left out when somebody else owns them too, otherwise the live number is stated,
 * and nothing is written if the object has been changed since it was read.
 */
export async function leavingReplicas(context: ComposeContext, workload: KubeObject): Promise<KubeObject> {
  const { namespace = '', name = '' } = workload.metadata;
  // The cache holds no field managers.
  const live = await context.client.get(Deployment, { namespace, name }, { signal: context.signal });
  const rest = withoutReplicas(workload);
  if ((live.metadata.managedFields ?? []).some(isOthersClaim)) return rest;
  const metadata = { ...rest.metadata, resourceVersion: live.metadata.resourceVersion };
  return { ...rest, metadata, spec: { ...(rest['spec'] as object), replicas: live.spec?.replicas ?? 1 } };
}

/** Whether an entry of the managed fields says that somebody else than our own statement owns `spec.replicas`. */
function isOthersClaim({ manager, operation, fieldsV1 }: ManagedFieldsEntry): boolean {
  const spec = fieldsV1?.['f:spec'] as Record<string, unknown> | undefined;
  return spec?.['f:replicas'] !== undefined && !(manager === fieldManager && operation === 'Apply');
}

/** What is read of an autoscaler: what it targets. */
function slimAutoscaler({ apiVersion, kind, metadata, spec }: StoredObject): StoredObject {
  const { scaleTargetRef } = (spec ?? {}) as { scaleTargetRef?: unknown };
  return { apiVersion, kind, metadata, spec: { scaleTargetRef } };
}

/** Key of the Deployment that an autoscaler targets; none when it targets something else. */
function targetOf({ metadata: { namespace = '' }, spec }: StoredObject): string[] {
  const {
    apiVersion = '',
    kind,
    name,
  } = (spec as { scaleTargetRef?: Partial<Target> } | undefined)?.scaleTargetRef ?? {};
  const isDeployment = apiVersion.split('/', 1)[0] === Deployment.group && kind === Deployment.kind;
  return isDeployment && name !== undefined ? [keyOf({ metadata: { namespace, name } })] : [];
}

interface Target {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}
