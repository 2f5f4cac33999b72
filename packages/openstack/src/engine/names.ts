import { controllerOf, type KubeObject } from '@openstack-operator/kube';
import { digest } from './digest.ts';

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
  /** On key Secrets: when the keys were rotated last (RFC 3339). */
  rotatedAt: `${prefix}/rotated-at`,
  /** By users: nothing is written while it is `true`. */
  paused: `${prefix}/paused`,
  /** By users: while it is `true`, node agents of an older revision are replaced, one after the other. */
  rollNodeAgents: `${prefix}/roll-node-agents`,
  /** By users: any new value runs the Jobs again. */
  reconcileAt: `${prefix}/reconcile-at`,
  /** By users: an object of that name that nobody controls may be taken over. */
  adopt: `${prefix}/adopt`,
  /** By users, on a control plane: delete although servers exist. */
  deleteWithServers: `${prefix}/delete-with-servers`,
} as const;

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

/** In-cluster name of a Service, valid whatever the cluster's domain is (phase 1 plan: `<service>.<namespace>.svc`). */
export function serviceHost(service: string, namespace: string): string {
  return `${service}.${namespace}.svc`;
}

/** Label of the nodes that a cloud has claimed (production rule 9): the claim itself, taken by one writer at a time. */
export const cloudLabel = `${prefix}/cloud`;

/** Label of a claimed node: the node group that it was claimed for. */
export const nodeGroupLabel = `${prefix}/node-group`;

/** Label of a claimed node that runs guests; a claimed node without it is a mere chassis, such as a gateway. */
export const computeLabel = `${prefix}/compute`;

/**
 * The cloud that a resource belongs to, as the value of `cloudLabel`: `<namespace>.<control plane>`, for resources
 * without a control plane `<namespace>.standalone`. A text too long for a label ends in a digest.
 */
export function cloudOf(resource: KubeObject): string {
  const { namespace = 'default', name = '' } = resource.metadata;
  const owner = resource.kind === 'OpenStackControlPlane' ? name : controllerOf(resource)?.name;
  const text = `${namespace}.${owner ?? 'standalone'}`;
  return text.length <= 63 ? text : `${text.slice(0, 52)}-${digest(text)}`;
}
