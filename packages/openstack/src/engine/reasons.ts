/**
 * Every reason that a condition may have, and what it means for the resource:
 * - `done`: nothing is awaited
 * - `progress`: belongs to every rollout; no event
 * - `retried`: something went wrong, and is tried again by itself
 * - `stuck`: goes on when somebody changes something; the message says what. The phase is `Failed`
 */
export const reasons = {
  Done: 'done',
  Ready: 'done',
  Disabled: 'done',
  DependencyDisabled: 'done',
  NoNova: 'done',
  Waiting: 'progress',
  Missing: 'progress',
  Updating: 'progress',
  JobRunning: 'progress',
  RollingOut: 'progress',
  NotAvailable: 'progress',
  Progressing: 'progress',
  RoutePending: 'progress',
  GatewayNotReady: 'retried',
  NoNodes: 'retried',
  WriteFailed: 'retried',
  JobFailed: 'stuck',
  ConfigRefused: 'stuck',
  ForeignObject: 'stuck',
  GatewayApiMissing: 'stuck',
  GatewayMissing: 'stuck',
  GroupRefused: 'stuck',
  HostnameMissing: 'stuck',
  KeyMaterialMissing: 'stuck',
  ListenerMissing: 'stuck',
  NodesHidden: 'stuck',
  Paused: 'stuck',
  ReferenceMissing: 'stuck',
  RouteRefused: 'stuck',
  SecretKeyMissing: 'stuck',
  SecretMissing: 'stuck',
  StorageClassMissing: 'stuck',
  VolumeLost: 'stuck',
} as const satisfies Readonly<Record<string, 'done' | 'progress' | 'retried' | 'stuck'>>;

/** Reason of a condition. */
export type Reason = keyof typeof reasons;

/** Reasons of events about something that was done; the others are those of conditions, and the conditions' names. */
export const deeds = ['KeysRotated', 'NodeClaimed', 'PodReplaced', 'VolumeExpanded'] as const;

/** Whether a text is the reason of a condition of ours. */
export function isReason(text: string): text is Reason {
  return text in reasons;
}
