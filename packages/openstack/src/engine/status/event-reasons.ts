import type { EventText } from '@openstack-operator/kube';

/**
 * Reasons of events about something that the operator did or met. Events about conditions have the condition's name as
 * reason when the resource is Ready, or a step goes on that somebody was warned of, and the condition's reason otherwise.
 */
export const eventReasons = {
  Deregistered: {
    type: 'Normal',
    action: 'Delete',
    means: 'Records of a deleted resource were removed from Keystone, the database server or the broker.',
  },
  DeregistrationFailed: {
    type: 'Warning',
    action: 'Delete',
    means: 'Records of a deleted resource were left behind. The note lists them: remove them by hand.',
  },
  KeysRotated: { type: 'Normal', action: 'Rotate', means: 'Keys of a Secret were rotated.' },
  ManagedByOtherOperator: {
    type: 'Warning',
    action: 'Reconcile',
    means: 'Another operator manages the resource, so this one leaves it alone. Repeated at most once an hour.',
  },
  NodeAgentsWait: {
    type: 'Warning',
    action: 'Replace',
    means: 'Node agents are not replaced, because what their service needs is not Ready.',
  },
  NodeClaimed: { type: 'Normal', action: 'Claim', means: 'A node was claimed for a node group.' },
  NodeCleaning: {
    type: 'Normal',
    action: 'Clean',
    means: 'A node is cleaned of what an earlier cloud has left on it.',
  },
  NodeEmptied: { type: 'Normal', action: 'Empty', means: 'No guest is left on a node that is in maintenance.' },
  NodeForgotten: {
    type: 'Normal',
    action: 'Forget',
    means: 'A node is gone for ever, as somebody has said, and what was recorded of it is deleted.',
  },
  NodeOccupied: {
    type: 'Warning',
    action: 'Empty',
    means: 'Guests stay on a node that is in maintenance. The note says which, and why.',
  },
  NodeReturned: {
    type: 'Normal',
    action: 'Empty',
    means: 'The maintenance of a node is over: new guests may come there, unless somebody else keeps them away.',
  },
  PodReplaced: {
    type: 'Normal',
    action: 'Replace',
    means: 'A pod that blocked its own correction, or an outdated node agent, was deleted so that a new one starts.',
  },
  RecordsRepaired: { type: 'Normal', action: 'Audit', means: 'An audit has put records right. The note lists them.' },
  ScheduleFailed: { type: 'Warning', action: 'Run', means: 'A run of a CronJob failed.' },
  VolumeExpanded: {
    type: 'Normal',
    action: 'Expand',
    means: 'A larger size was requested for a PersistentVolumeClaim.',
  },
} as const satisfies Readonly<Record<string, Pick<EventText, 'type' | 'action'> & { readonly means: string }>>;

/** Reason of an event that is about no condition. */
export type EventReason = keyof typeof eventReasons;

/** The event of a reason, with a note for people. */
export function eventOf(reason: EventReason, note: string): EventText {
  const { type, action } = eventReasons[reason];
  return { type, action, reason, note };
}
