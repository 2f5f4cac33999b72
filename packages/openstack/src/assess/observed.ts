import type { KubeObject, StoredObject } from '@openstack-operator/kube';
import type { Moment } from '../engine/status/deadlines.ts';
import type { NodeClaim, Observe } from '../engine/vocabulary/step.ts';

/** What of a cluster an assessment follows from. */
export interface Observed {
  readonly observe: Observe;
  /** Whether a live object is the resource's. One of somebody else is never what a step waits for. Default: all are. */
  readonly ours?: (live: StoredObject) => boolean;
  /** Pods by labels, newest first: their last words explain a wait. */
  readonly pods: (namespace: string, labels: Readonly<Record<string, string>>) => readonly StoredObject[];
  /** Secrets of ours in a namespace: who trusts an authority that is being replaced. Default: none. */
  readonly secrets?: (namespace: string) => readonly StoredObject[];
  /** What events say of a pod whose volumes cannot be mounted, or of a workload whose pods are refused. */
  readonly eventWords: (object: StoredObject) => string | undefined;
  /** The nodes of the resource's cloud: for claims, and for agents that run on them. Absent: they may not be read. */
  readonly nodes?: readonly StoredObject[];
  /** Nodes that claims would take if they were clean; default: none. */
  readonly unclean?: (claims: readonly NodeClaim[]) => readonly UncleanNode[];
  /** Jobs of a CronJob, pods of a Job or DaemonSet and revisions of a DaemonSet, by their controller. */
  readonly controlled?: (kind: 'ControllerRevision' | 'Job' | 'Pod', owner: StoredObject) => readonly StoredObject[];
  /** Job name -> inputs digest of its last finished run (`status.jobs`). */
  readonly finishedJobs: Readonly<Record<string, string>>;
  /** Whether an autoscaler says how many pods of a stated workload run. Default: of none. */
  readonly isAutoscaled?: (workload: KubeObject) => boolean;
  /** Absent: no wait is too long. */
  readonly moment?: Moment;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Conditions that the resource's status already had as met. */
  readonly met: ReadonlySet<string>;
}

/** A node that another cloud has let go, and that a claim waits for. */
export interface UncleanNode {
  /** Which node, who has left it, and how far it is. */
  readonly words: string;
  /** Somebody has to do something before it can be clean. */
  readonly isStuck: boolean;
}
