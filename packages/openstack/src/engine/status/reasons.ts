/** What a reason says of its resource, in phase and event: docs/reference/conditions.md is generated from it. */
export const effects = {
  done: { means: 'Nothing is awaited.', phase: 'Ready', event: 'Normal' },
  degraded: { means: 'The condition is met, but something needs attention.', phase: 'Ready', event: 'Warning' },
  progress: { means: 'Part of every rollout.', phase: 'Pending or Progressing', event: undefined },
  retried: {
    means: 'Something failed, and the operator tries it again by itself.',
    phase: 'Degraded, or Progressing if the present generation has never been Ready',
    event: 'Warning',
  },
  stalled: {
    means: 'The step takes too long. The message says since when, and where to look.',
    phase: 'Degraded, or Failed if the resource has never been Ready',
    event: 'Warning',
  },
  stuck: { means: 'Somebody has to change something. The message says what.', phase: 'Failed', event: 'Warning' },
} as const satisfies Readonly<
  Record<string, { means: string; phase: string; event: 'Normal' | 'Warning' | undefined }>
>;

/** What a reason means for its resource. */
export type Effect = keyof typeof effects;

type ReasonFacts =
  | { readonly effect: 'done' | 'progress'; readonly means: string }
  | { readonly effect: Exclude<Effect, 'done' | 'progress'>; readonly means: string; readonly remedy: string };

/** Every reason that a condition may have: its effect, what it means, and what users do about it. */
export const reasons = {
  Done: { effect: 'done', means: 'The step is done.' },
  Ready: { effect: 'done', means: 'Every step of the resource is done.' },
  Disabled: { effect: 'done', means: 'The service is disabled in the control plane, and its resource is deleted.' },
  Skipped: { effect: 'done', means: 'The step is left out, because nothing asks for it.' },
  Degraded: {
    effect: 'degraded',
    means:
      'The resource works, but a part of it does not, such as a node whose agents are not up; or a change waits for node agents to be replaced; or it runs with fields that are refused where they are new; or a volume does not grow to the size that is stated.',
    remedy: 'Read the message. It names each node or object, and why.',
  },
  Waiting: { effect: 'progress', means: 'Another step, or another resource, has to be done first.' },
  Missing: { effect: 'progress', means: 'An object does not exist yet. The operator is about to create it.' },
  Updating: {
    effect: 'progress',
    means: 'An object differs from its desired state. The operator is about to write it.',
  },
  JobRunning: { effect: 'progress', means: 'A Job runs.' },
  Upgrading: {
    effect: 'progress',
    means: 'The resource is brought to another release. The message says how far it is.',
  },
  RollingOut: { effect: 'progress', means: 'A workload replaces its pods.' },
  NotAvailable: { effect: 'progress', means: 'Pods of a workload are not ready yet.' },
  Progressing: {
    effect: 'progress',
    means: 'A child has not reported its state, nodes are being cleaned, or the cloud comes to another state in steps.',
  },
  LoadBalancerPending: {
    effect: 'progress',
    means: 'A Service of type LoadBalancer has no address yet.',
  },
  RoutePending: { effect: 'progress', means: 'The Gateway has not accepted or refused the route yet.' },
  CountingResources: {
    effect: 'progress',
    means: 'A service that is deleted or disabled waits for the Job that counts what users keep in it.',
  },
  Deleting: { effect: 'progress', means: 'The resource is being deleted, and something has to end first.' },
  GatewayNotReady: {
    effect: 'retried',
    means: 'The Gateway accepts the route, but cannot serve it.',
    remedy: 'Check the conditions of the Gateway and its listener, and the certificate Secret.',
  },
  NoNodes: {
    effect: 'retried',
    means: 'No node, or too few nodes, can be claimed.',
    remedy:
      'Compare labels, taints and readiness of the nodes with `nova.nodeGroups`. The message says what a node needs.',
  },
  ScheduleFailing: {
    effect: 'retried',
    means: 'The last three runs of a CronJob failed.',
    remedy: 'Read the termination message in the condition, and the log of the failed Job.',
  },
  WriteFailed: {
    effect: 'retried',
    means: 'The API server refused a write.',
    remedy: 'The message quotes the API server. Correct the field, quota, webhook or permission that it names.',
  },
  Contended: {
    effect: 'retried',
    means: 'Another controller changes an object back each time the operator writes it.',
    remedy: 'Stop the field manager that the message names from writing the object.',
  },
  CrashLoopBackOff: {
    effect: 'retried',
    means: 'Containers of a workload crash again and again.',
    remedy: 'Read the termination message in the condition, then `kubectl logs --previous`.',
  },
  ProgressDeadlineExceeded: {
    effect: 'stalled',
    means: 'A step has not advanced within its time.',
    remedy: 'The message says what is awaited, since when, and which command shows more.',
  },
  JobFailed: {
    effect: 'stuck',
    means: 'A Job failed. The operator runs it again with a back-off, and at once when its inputs change.',
    remedy:
      'Read the termination message in the condition, and correct what it names. To run the Job at once, set the annotation `reconcile-at`.',
  },
  CloudDiffers: {
    effect: 'stuck',
    means: 'Owner or labels assign the resource to another cloud than the one its nodes and agents belong to.',
    remedy: 'Put the labels back. To move the resource, delete it and let the other control plane create its own.',
  },
  AccountTaken: {
    effect: 'stuck',
    means: 'An older resource in the namespace uses the same database, virtual host, user or domain.',
    remedy:
      'Set other names in `spec.database`, `spec.messageQueue` or `spec.identity`, or delete one of the two resources.',
  },
  ConfigMapKeyMissing: {
    effect: 'stuck',
    means: 'A ConfigMap that the spec names lacks a key.',
    remedy: 'Add the key, or name another one.',
  },
  ConfigMapMissing: {
    effect: 'stuck',
    means: 'A ConfigMap that the spec names does not exist.',
    remedy: 'Create the ConfigMap, or name another one.',
  },
  ConfigRefused: {
    effect: 'stuck',
    means:
      '`spec.config` has an option that the release does not know or that the operator owns, a value that cannot be read, or a secret in plain text. Nothing of the service is changed until then.',
    remedy: 'Do what the message says of each option: it names the nearest known one, what was expected, or the field.',
  },
  DependencyDisabled: {
    effect: 'stuck',
    means:
      'The control plane disables or does not state a service that this one needs. This one, if it runs, keeps running, unchanged.',
    remedy: 'Enable or state that service, or disable this one as well.',
  },
  ExposureRefused: {
    effect: 'stuck',
    means: '`spec.exposure` asks for something that the service does not offer.',
    remedy: 'Use one of the values that the message lists.',
  },
  ForeignObject: {
    effect: 'stuck',
    means: 'An object has the name that the operator needs, and belongs to somebody else.',
    remedy:
      'Rename or delete the object. An object without a controller can be handed over with the annotation `adopt`.',
  },
  ApiMissing: {
    effect: 'stuck',
    means: "The service composes objects of somebody else's API, and the cluster does not serve it.",
    remedy: 'Install what the message names.',
  },
  GatewayApiMissing: {
    effect: 'stuck',
    means: 'The spec asks for exposure by a Gateway, and the cluster does not serve Gateway API.',
    remedy: 'Install Gateway API 1.2 or later, or set `spec.exposure` to `None`.',
  },
  GatewayMissing: {
    effect: 'stuck',
    means: 'The Gateway of `spec.gatewayRef` does not exist.',
    remedy: 'Create the Gateway, or name another one.',
  },
  GroupRefused: {
    effect: 'stuck',
    means: 'Node groups contradict each other or the resource that they belong to.',
    remedy: 'Correct the node group that the message names.',
  },
  HostnameMissing: {
    effect: 'stuck',
    means: 'A route needs a host name, and the spec has none.',
    remedy: 'Set `spec.publicHostname`, or `spec.publicDomain` of the control plane.',
  },
  InUse: {
    effect: 'stuck',
    means:
      'The service is disabled or not stated, but something that is enabled needs it, or data lie there. If it runs, it keeps running.',
    remedy: 'Enable or state it, or disable or change what the message names.',
  },
  InternalError: {
    effect: 'stuck',
    means: 'The operator failed with an unexpected error. What runs is left unchanged.',
    remedy: 'Report the message and the log of the operator as a bug.',
  },
  KeyMaterialMissing: {
    effect: 'stuck',
    means: 'A Secret with keys is gone, and data exists that only these keys can read.',
    remedy: 'Restore the Secret that the message names from a backup.',
  },
  ListenerMissing: {
    effect: 'stuck',
    means: 'The Gateway has no listener with the name of `spec.gatewayRef.listenerName`.',
    remedy: 'Name one of the listeners that the message lists, or add the listener.',
  },
  NodesHidden: {
    effect: 'stuck',
    means: 'The operator is not allowed to read nodes.',
    remedy: 'Bind the ClusterRole of `config/rbac-namespaced`, and restart the operator.',
  },
  NodesTaken: {
    effect: 'stuck',
    means: 'Another resource of this kind already runs node agents for the namespace.',
    remedy: 'Delete one of the two resources, or move one to another namespace.',
  },
  Paused: {
    effect: 'stuck',
    means: 'The annotation `paused` is set on the resource or its control plane.',
    remedy: 'Remove the annotation.',
  },
  ReferenceMissing: {
    effect: 'stuck',
    means: 'A reference of the spec leads to no resource, or to several.',
    remedy: 'Create the resource, or name one in the field that the message gives.',
  },
  ReleaseRefused: {
    effect: 'stuck',
    means: 'The release that is asked for cannot be reached from the one that is deployed.',
    remedy: 'Set the release that the message names.',
  },
  ReleaseUnknown: {
    effect: 'stuck',
    means: 'This version of the operator does not know the release of the resource.',
    remedy: 'Set one of the releases that the message lists, or install a version of the operator that knows it.',
  },
  ResourcesExist: {
    effect: 'stuck',
    means: 'A service is not deleted or disabled, because users keep servers, volumes or the like in it.',
    remedy: 'Delete them, enable the service again, or set the annotation `delete-with-resources`.',
  },
  ResourcesUnknown: {
    effect: 'stuck',
    means: 'A service is not deleted or disabled, because it cannot be found out what users keep in it.',
    remedy: 'Repair what the message names, or set the annotation `delete-with-resources`.',
  },
  RouteRefused: {
    effect: 'stuck',
    means: 'The Gateway refuses the route.',
    remedy: 'The message quotes the Gateway. Usually `allowedRoutes` or the host name of the listener has to change.',
  },
  SecretKeyMissing: {
    effect: 'stuck',
    means: 'A Secret that the spec names lacks a key.',
    remedy: 'Add the key, or name another one.',
  },
  SecretMissing: {
    effect: 'stuck',
    means: 'A Secret that the spec names does not exist.',
    remedy: 'Create the Secret, or name another one.',
  },
  SpecRefused: {
    effect: 'stuck',
    means:
      "The API server refuses a service's fields in the control plane, a field asks for what Kubernetes cannot give, or a text holds `{{`, by which the operator refers to Secrets. Nothing of it is changed until then.",
    remedy: 'Correct the field. The message has its whole path.',
  },
  Stopped: {
    effect: 'stuck',
    means: 'A workload has 0 replicas.',
    remedy: 'Set the replicas to 1 or more.',
  },
  StorageClassMissing: {
    effect: 'stuck',
    means: 'A StorageClass does not exist, or the cluster has no default StorageClass.',
    remedy: 'Create it, or set `storage.storageClassName` to one that the message lists.',
  },
  VolumeLost: {
    effect: 'stuck',
    means: 'An empty volume has replaced one that had data. The service stays down.',
    remedy: 'Restore the data, or accept the empty volume with the annotation `accept-data-loss`.',
  },
} as const satisfies Readonly<Record<string, ReasonFacts>>;

/** Reason of a condition. */
export type Reason = keyof typeof reasons;

/** Whether nothing has begun: every step waits for something, or for its first object. The phase is `Pending`. */
export function isPending(progress: readonly { readonly reason: Reason }[]): boolean {
  return progress.length > 0 && progress.every(({ reason }) => reason === 'Waiting' || reason === 'Missing');
}

/**
 * Type of the event of a condition with a reason; undefined when it has none. A status may hold a reason of another
 * version of the operator, of which nothing is known.
 */
export function eventTypeOf(reason: string): 'Normal' | 'Warning' | undefined {
  return isReason(reason) ? effects[reasons[reason].effect].event : undefined;
}

/** Whether a text is the reason of a condition of ours. */
export function isReason(text: string): text is Reason {
  return Object.hasOwn(reasons, text);
}
