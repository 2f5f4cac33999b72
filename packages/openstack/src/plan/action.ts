import type { EventText, KubeObject, StoredObject } from '@openstack-operator/kube';
import type { Desired, DesiredObject } from '../engine/vocabulary/step.ts';

/** A Secret of generated values, as a step states it. */
export type GeneratedSecret = Extract<DesiredObject, { verb: 'generate' }>;

/** Why an action is taken. */
export type ActionReason =
  /** There is no such object, or it lacks a part. */
  | 'Missing'
  /** It is not live as stated. */
  | 'Differs'
  /** It differs in a field that no update changes. */
  | 'Immutable'
  /** A Job has run, or waits to run, with other inputs. */
  | 'InputsChanged'
  /** A Job failed, and its back-off is over. */
  | 'Failed'
  /** A Job waits for a node with other demands than those of now. */
  | 'Misplaced'
  /** It would work with what has changed since. */
  | 'Superseded'
  /** Keys are to be rotated. */
  | 'RotationDue'
  /** A pod of an older revision cannot become Ready. */
  | 'Stuck'
  /** A pod is of an older revision. */
  | 'Outdated'
  /** A node is free, and clean. */
  | 'NodeFree'
  /** A node is free, and holds what another cloud has left. */
  | 'NodeUnclean'
  /** No step wants it any more. */
  | 'NotWanted'
  /** `deletionPolicy` says whether it outlives its resource. */
  | 'DeletionPolicy'
  /** It is somebody else's, or what it belongs to is lost. */
  | 'Refused';

/** What all actions say. */
interface Planned {
  /** The condition of the step that it belongs to; absent for what belongs to none. */
  readonly step?: string;
  readonly reason: ActionReason;
  /** Told of as an event once it is done. */
  readonly event?: EventText;
}

/**
 * One thing that is to be done, with its reason. Everything was decided before: whoever executes it looks at nothing.
 * What names a live object is done to exactly that state of it (uid and resourceVersion).
 */
export type Action = Planned &
  (
    | {
        /** Server-side apply; an object that is not there is created. */
        readonly verb: 'apply';
        readonly object: KubeObject;
        /** Has no owner reference. */
        readonly retained: boolean;
        /** As the cache has it; absent when it does not. */
        readonly live?: StoredObject;
        /** Its replicas are an autoscaler's, and stay as they are. */
        readonly autoscaled: boolean;
      }
    | {
        /** Makes a Secret of values that exist nowhere else. Where there is one already, that is kept, and planned anew. */
        readonly verb: 'create';
        readonly desired: GeneratedSecret;
        /** Nobody may make it anew: what this says when there is none. */
        readonly lost?: string;
      }
    | {
        /** Completes or rotates a generated Secret, under its resourceVersion. */
        readonly verb: 'update';
        readonly desired: GeneratedSecret;
        readonly live: StoredObject;
        readonly metadata: StoredObject['metadata'];
        /** Keys whose values are generated. */
        readonly missing: readonly string[];
        /** It is rotated: by its `rotation`, or as its `succession` has it. */
        readonly rotate: boolean;
        /** A key that gets the values of others, one after the other, and more. */
        readonly bundle?: { readonly key: string; readonly of: readonly string[]; readonly more: string };
      }
    | {
        /** Makes a Secret hold what another one holds; nothing, when there is no other one. */
        readonly verb: 'copy';
        readonly object: KubeObject;
        readonly from?: StoredObject;
        /** As the cache has it; absent when it does not. */
        readonly live?: StoredObject;
      }
    | {
        /** Fills the templates of a Secret, and applies it unless it is live so. */
        readonly verb: 'resolve';
        readonly object: KubeObject;
      }
    | {
        /** Runs a Job, once an earlier run is gone. */
        readonly verb: 'run';
        readonly object: KubeObject;
        readonly replaces?: StoredObject;
      }
    | {
        /** Takes an object away from above its children, so that it is created again. */
        readonly verb: 'replace';
        readonly live: StoredObject;
      }
    | {
        /** Deletes a pod, so that its controller makes it anew. */
        readonly verb: 'evict';
        readonly live: StoredObject;
      }
    | { readonly verb: 'delete'; readonly live: StoredObject }
    | {
        /** Labels and annotates a node, under its resourceVersion; null takes one off. */
        readonly verb: 'claim';
        readonly node: StoredObject;
        readonly labels?: Readonly<Record<string, string | null>>;
        readonly annotations?: Readonly<Record<string, string | null>>;
      }
    | {
        /** Changes some fields of an object by a merge patch. */
        readonly verb: 'patch';
        readonly live: StoredObject;
        readonly patch: Readonly<Record<string, unknown>>;
        /** What it leads to when it is wrong, for whoever is told that it was left to the next reconcile. */
        readonly act: string;
      }
    | {
        /** Asks for a larger volume. Where that is refused, whoever uses the volume goes on with what it has. */
        readonly verb: 'expand';
        /** The PersistentVolumeClaim. */
        readonly live: StoredObject;
        /** A quantity. */
        readonly size: string;
        /** Fields of the resource that may have asked for it, such as `spec.storage.size`. */
        readonly fields: readonly string[];
      }
    | {
        /** Cannot be done: it fails with this, as its step does. */
        readonly verb: 'refuse';
        readonly error: Error;
      }
  );

/** Actions in the order in which they are to be done, and when to plan again although nothing has changed. */
export interface Plan {
  readonly actions: readonly Action[];
  /** What is not done for now, and why: told of as events. */
  readonly waits?: readonly EventText[];
  /** Milliseconds. */
  readonly requeueAfter?: number;
}

/** Nothing is to be done. */
export const nothing: Plan = { actions: [] };

/** The plans one after the other. */
export function joined(plans: readonly Plan[]): Plan {
  const requeueAfter = soonest(plans.map((plan) => plan.requeueAfter));
  const waits = plans.flatMap((plan) => plan.waits ?? []);
  return {
    actions: plans.flatMap(({ actions }) => actions),
    ...(waits.length === 0 ? {} : { waits }),
    ...(requeueAfter === undefined ? {} : { requeueAfter }),
  };
}

/** The shortest of some spans in milliseconds; undefined when there is none. */
export function soonest(spans: readonly (number | undefined)[]): number | undefined {
  const known = spans.filter((span) => span !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** The objects that steps state. */
export function statedObjects(steps: readonly { readonly objects: readonly Desired[] }[]): KubeObject[] {
  return steps.flatMap(({ objects }) => objects).flatMap((desired) => ('object' in desired ? [desired.object] : []));
}

/** Whether pods follow from an object: it is a workload, a Job or a CronJob. */
export function runsPods({ apiVersion }: KubeObject): boolean {
  return /^(?:apps|batch)\//.test(apiVersion);
}
