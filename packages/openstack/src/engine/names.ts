import { controllerOf, type KubeObject } from '@openstack-operator/kube';
import { digest } from './digest.ts';
import { isRoot, rootOf } from './roots.ts';

/** The field manager of all that compose states. */
export const fieldManager = 'openstack-operator';

/** Prefix of our annotations and labels. */
export const prefix = 'openstack.k8s.io';

/** Annotations that objects or resources carry. */
export const annotations = {
  /** On Jobs: digest of everything that makes a run different. */
  inputs: `${prefix}/inputs`,
  /** On applied objects: digest of what was stated last. */
  applied: `${prefix}/applied`,
  /** On pod templates: digest of the credentials that the pods take from the environment. */
  credentials: `${prefix}/credentials`,
  /** On workloads: the digest, by the present key, that the one in the pod template counts as. */
  adoptedCredentials: `${prefix}/adopted-credentials`,
  /** On key Secrets: when the keys were rotated last (RFC 3339). */
  rotatedAt: `${prefix}/rotated-at`,
  /** On resources: the operator that manages it, by its namespace. Users change it to hand the resource over. */
  operator: `${prefix}/operator`,
  /** By users: the class of operators that the resource is for. */
  operatorClass: `${prefix}/operator-class`,
  /** By users: nothing is written while it is `true`. */
  paused: `${prefix}/paused`,
  /** By users: while it is `true`, node agents of an older revision are replaced, one after the other. */
  rollNodeAgents: `${prefix}/roll-node-agents`,
  /** On DaemonSets of node agents: pods with other variables are replaced without being asked for. */
  replacedUnasked: `${prefix}/replaced-unasked`,
  /** By users: any new value runs the Jobs again. */
  reconcileAt: `${prefix}/reconcile-at`,
  /** By users: an object of that name that nobody controls may be taken over. */
  adopt: `${prefix}/adopt`,
  /** By users, on a control plane: delete although servers exist. */
  deleteWithServers: `${prefix}/delete-with-servers`,
  /** On Jobs that count servers: when they were created, by the operator's clock (RFC 3339). */
  askedAt: `${prefix}/asked-at`,
  /** On nodes: who has let them go (plan/claims.ts). They are cleaned before another claims them. */
  releasedFrom: `${prefix}/released-from`,
} as const;

/** What follows the resource's name in the name of its audit (a CronJob), and the component of its pods. */
export const auditSuffix = 'records-audit';

/** The same of the Job that takes records back. */
export const deregistrationSuffix = 'deregister';

/** Components of the Jobs that keep records outside of Kubernetes. */
export const recordsJobs: readonly string[] = ['db-create', 'mq-create', 'endpoint-create'];

/** Label on what outlives its resource: `<Kind>.<name>`, the only sign of whose it is once the owner is gone. */
export const retainedForLabel = `${prefix}/retained-for`;

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

/** What follows a resource's name in the name of the Job that counts its servers; also the Job's component label. */
export const serverCount = 'server-count';

/** In-cluster name of a Service, valid whatever the cluster's domain is (phase 1 plan: `<service>.<namespace>.svc`). */
export function serviceHost(service: string, namespace: string): string {
  return `${service}.${namespace}.svc`;
}

/** Label of the nodes that a cloud has claimed (production rule 9): the claim itself, taken by one writer at a time. */
export const cloudLabel = `${prefix}/cloud`;

/** Label of namespaces, set by administrators to `true`: their pods may read the ports for monitoring. */
export const monitoringLabel = `${prefix}/monitoring`;

/** Label of a claimed node: the node group that it was claimed for. */
export const nodeGroupLabel = `${prefix}/node-group`;

/** Label of a claimed node that runs guests; a claimed node without it is a mere chassis, such as a gateway. */
export const computeLabel = `${prefix}/compute`;

/**
 * Label of a node that is being cleaned of what another cloud has left: which claimant cleans it. No other one takes it
 * meanwhile.
 */
export const cleaningLabel = `${prefix}/cleaned-for`;

/** The value of `cleaningLabel` for a resource that claims nodes. */
export function claimantOf({ kind, metadata: { namespace = 'default', name = '' } }: KubeObject): string {
  return labelValue(`${kind}.${namespace}.${name}`);
}

/**
 * The cloud that a resource belongs to, as the value of `cloudLabel`: `<namespace>.<control plane>`, for resources
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
