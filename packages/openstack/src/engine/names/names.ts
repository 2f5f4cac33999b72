import { controllerOf, type KubeObject } from '@openstack-operator/kube';
import { digest } from './digest.ts';
import { isRoot, rootOf } from './roots.ts';
import { type WellKnownNames, wellKnownAnnotations, wellKnownFinalizers, wellKnownLabels } from './well-known.ts';

/** The field manager of all that compose states. */
export const fieldManager = 'openstack-operator';

/** Names of annotations, by their keys in code; what each does stands in well-known.ts. */
export const annotations = namesOf(wellKnownAnnotations);

/** Names of finalizers, by their keys in code. */
export const finalizers = namesOf(wellKnownFinalizers);

export const cleaningLabel = wellKnownLabels.cleanedFor.name;
export const cloudLabel = wellKnownLabels.cloud.name;
export const computeLabel = wellKnownLabels.compute.name;
export const monitoringLabel = wellKnownLabels.monitoring.name;
export const nodeGroupLabel = wellKnownLabels.nodeGroup.name;
export const retainedForLabel = wellKnownLabels.retainedFor.name;

/** What follows the resource's name in the name of its audit (a CronJob), and the component of its pods. */
export const auditSuffix = 'records-audit';

/** The same of the Job that takes records back. */
export const deregistrationSuffix = 'deregister';

/** Components of the Jobs that keep records outside of Kubernetes. */
export const recordsJobs: readonly string[] = ['db-create', 'mq-create', 'endpoint-create', 'member-create'];

/** Labels of every object: who it belongs to. `component` is absent on what all components share. */
export function labelsOf(service: string, instance: string, component?: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': service,
    'app.kubernetes.io/instance': instance,
    ...(component === undefined ? {} : { 'app.kubernetes.io/component': component }),
    'app.kubernetes.io/part-of': 'openstack',
    'app.kubernetes.io/managed-by': fieldManager,
  };
}

/** Selector labels: for ever the same, so that pods of Jobs never become backends. */
export function selectorOf(service: string, instance: string, component: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': service,
    'app.kubernetes.io/instance': instance,
    'app.kubernetes.io/component': component,
  };
}

/** The value of the retained-for label. */
export function retainedFor(owner: KubeObject): string {
  return `${owner.kind}.${owner.metadata.name ?? ''}`;
}

/** What follows a resource's name in the name of the Job that counts what holds it; also the Job's component label. */
export const resourceCount = 'resource-count';

/** The same of the ConfigMap that remembers what its data are found by. */
export const lastingSuffix = 'lasting';

/** What follows the name of a Secret in that of the one that keeps the password before, while pods still use it. */
export const previousSuffix = 'previous';

/** In-cluster name of a Service, valid whatever the cluster's domain is (phase 1 plan: `<service>.<namespace>.svc`). */
export function serviceHost(service: string, namespace: string): string {
  return `${service}.${namespace}.svc`;
}

/** The value of the label `cleaned-for` for a resource that claims nodes. */
export function claimantOf({ kind, metadata: { namespace = 'default', name = '' } }: KubeObject): string {
  return labelValue(`${kind}.${namespace}.${name}`);
}

/**
 * The cloud that a resource belongs to, as the value of the label `cloud`: `<namespace>.<control plane>`, for resources
 * without a control plane `<namespace>.standalone`. It stays the one that it was of first, which the status says and
 * nobody but the operator writes: its agents would leave all of their nodes otherwise, whether it lost its owner
 * (`kubectl delete --cascade=orphan`) or got one. Before that the control plane above it says it, or the labels that this
 * gave it. A status that names a cloud of another namespace came with a copy, such as a backup that was restored under
 * another name: it says nothing.
 */
export function cloudOf(resource: KubeObject): string {
  if (isRoot(resource)) return cloudNamed(resource, resource.metadata.name);
  return recordedCloud(resource) ?? statedCloud(resource);
}

/**
 * The cloud that owner or labels move a resource to, while its nodes and agents are of another one: anybody who may
 * edit it can set them. Undefined when they do not.
 */
export function movedTo(resource: KubeObject): string | undefined {
  const stated = isRoot(resource) ? cloudOf(resource) : statedCloud(resource);
  const controller = controllerOf(resource);
  // Earlier versions named the cloud after the controller of a resource, whatever that was.
  const formerly = controller === undefined ? stated : cloudNamed(resource, controller.name);
  return [stated, formerly].includes(cloudOf(resource)) ? undefined : stated;
}

function recordedCloud({ metadata: { namespace = 'default' }, status }: KubeObject & { status?: unknown }) {
  const { cloud } = (status ?? {}) as { cloud?: string };
  return cloud?.startsWith(`${namespace}.`.slice(0, keptLength)) === true ? cloud : undefined;
}

function statedCloud(resource: KubeObject): string {
  const root = rootOf(resource);
  return root === undefined ? labelledCloud(resource) : cloudNamed(resource, root.name);
}

function cloudNamed({ metadata: { namespace = 'default' } }: KubeObject, name = 'standalone'): string {
  return labelValue(`${namespace}.${name}`);
}

function labelledCloud(resource: KubeObject): string {
  const { labels = {} } = resource.metadata;
  const orphaned = labels['app.kubernetes.io/managed-by'] === fieldManager;
  return cloudNamed(resource, orphaned ? labels['app.kubernetes.io/instance'] : undefined);
}

/** Characters of a text too long for a label that stand before its digest. */
const keptLength = 52;

/** A text too long for a label ends in a digest. */
function labelValue(text: string): string {
  return text.length <= 63 ? text : `${text.slice(0, keptLength)}-${digest(text)}`;
}

function namesOf<T extends WellKnownNames>(table: T): { readonly [K in keyof T]: T[K]['name'] } {
  const names = Object.entries(table).map(([key, { name }]) => [key, name]);
  return Object.fromEntries(names) as { readonly [K in keyof T]: T[K]['name'] };
}
