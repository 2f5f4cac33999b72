/**
 * Every reason that a condition may have, and what it means for the resource:
 * - `done`: nothing is awaited
 * - `degraded`: the condition is met, but something is to be mended: a Warning event tells of it
 * - `progress`: belongs to every rollout; no event
 * - `retried`: something went wrong, and is tried again by itself; the phase of what was Ready is `Degraded`
 * - `stalled`: should have gone on by now; the message says since when, and where to look. The phase is `Degraded`, or
 *   `Failed` where the resource never was Ready
 * - `stuck`: goes on when somebody changes something; the message says what. The phase is `Failed`
 */
export const reasons = {
  Done: 'done',
  Ready: 'done',
  Disabled: 'done',
  NoNova: 'done',
  Degraded: 'degraded',
  Waiting: 'progress',
  Missing: 'progress',
  Updating: 'progress',
  JobRunning: 'progress',
  RollingOut: 'progress',
  NotAvailable: 'progress',
  Progressing: 'progress',
  LoadBalancerPending: 'progress',
  RoutePending: 'progress',
  CountingServers: 'progress',
  Deleting: 'progress',
  GatewayNotReady: 'retried',
  NoNodes: 'retried',
  ScheduleFailing: 'retried',
  WriteFailed: 'retried',
  Contended: 'retried',
  CrashLoopBackOff: 'retried',
  ProgressDeadlineExceeded: 'stalled',
  JobFailed: 'stuck',
  CloudDiffers: 'stuck',
  AccountTaken: 'stuck',
  ConfigMapKeyMissing: 'stuck',
  ConfigMapMissing: 'stuck',
  ConfigRefused: 'stuck',
  DependencyDisabled: 'stuck',
  ExposureRefused: 'stuck',
  ForeignObject: 'stuck',
  GatewayApiMissing: 'stuck',
  GatewayMissing: 'stuck',
  GroupRefused: 'stuck',
  HostnameMissing: 'stuck',
  InUse: 'stuck',
  InternalError: 'stuck',
  KeyMaterialMissing: 'stuck',
  ListenerMissing: 'stuck',
  NodesHidden: 'stuck',
  NodesTaken: 'stuck',
  Paused: 'stuck',
  ReferenceMissing: 'stuck',
  ReleaseUnknown: 'stuck',
  RouteRefused: 'stuck',
  SecretKeyMissing: 'stuck',
  SecretMissing: 'stuck',
  ServersExist: 'stuck',
  ServersUnknown: 'stuck',
  SpecRefused: 'stuck',
  Stopped: 'stuck',
  StorageClassMissing: 'stuck',
  VolumeLost: 'stuck',
} as const satisfies Readonly<Record<string, 'done' | 'degraded' | 'progress' | 'retried' | 'stalled' | 'stuck'>>;

/** Reason of a condition. */
export type Reason = keyof typeof reasons;

/** Whether nothing has begun: every step waits for something, or for its first object. The phase is `Pending`. */
export function isPending(progress: readonly { readonly reason: Reason }[]): boolean {
  return progress.length > 0 && progress.every(({ reason }) => reason === 'Waiting' || reason === 'Missing');
}

/** Reasons of events about something that was done; the others are those of conditions, and the conditions' names. */
export const eventReasons = [
  'Deregistered',
  'DeregistrationFailed',
  'KeysRotated',
  'ManagedByOtherOperator',
  'NodeClaimed',
  'NodeCleaning',
  'PodReplaced',
  'RecordsRepaired',
  'ScheduleFailed',
  'VolumeExpanded',
] as const;

/** Whether a text is the reason of a condition of ours. */
export function isReason(text: string): text is Reason {
  return Object.hasOwn(reasons, text);
}
