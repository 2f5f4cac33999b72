import type { Condition, Kind, KubeObject, StoredObject } from '@openstack-operator/kube';
import { kindOf } from '../api/kinds.ts';
import { digest } from './digest.ts';
import { lastWordsOf } from './last-words.ts';
import { annotations, cloudLabel } from './names.ts';
import { isReason, type Reason } from './reasons.ts';
import { routeProblem } from './route-problem.ts';
import type { Desired, NodeClaim, Observe, Progress, Step } from './step.ts';

/** What a judgement needs beside the step. */
export interface Judgement {
  readonly observe: Observe;
  /** Pods by labels, newest first: their last words explain a wait. */
  readonly pods: (namespace: string, labels: Readonly<Record<string, string>>) => readonly StoredObject[];
  /** What the kubelet says of a pod whose volumes cannot be mounted. */
  readonly unmounted: (pod: StoredObject) => string | undefined;
  /** The cluster's nodes: for claims, and for agents that run on claimed nodes. Absent: they may not be read. */
  readonly nodes?: readonly StoredObject[];
  /** Job name -> inputs digest of its last finished run (`status.jobs`). */
  readonly finishedJobs: Readonly<Record<string, string>>;
}

/** Whether one thing is as wanted; otherwise what is awaited. */
type Verdict =
  | { readonly done: true; readonly note?: string }
  | { readonly done: false; readonly reason: Reason; readonly message: string };

const done: Verdict = { done: true };
const wait = (reason: Reason, message: string): Verdict => ({ done: false, reason, message });

/**
 * Judges every step of a composition, in order. A step whose needs are not done says which one it waits for.
 */
export function judgeAll(steps: readonly Step[], judgement: Judgement): Progress[] {
  const results = new Map<string, Progress>();
  for (const step of steps) {
    const blocker = step.needs
      .map((need) => results.get(need))
      .find((need) => need !== undefined && need.status !== 'True');
    results.set(step.condition, judge(step, judgement, blocker));
  }
  return [...results.values()];
}

/** Judges one step from what the cluster shows. */
export function judge(step: Step, judgement: Judgement, blocker?: Progress): Progress {
  const { condition } = step;
  if (step.skipped !== undefined) return { condition, status: 'True', ...step.skipped };
  if (step.problem !== undefined) return { condition, status: 'False', ...step.problem };
  if (blocker !== undefined) {
    return {
      condition,
      status: 'False',
      reason: 'Waiting',
      message: `waiting for ${blocker.condition}: ${blocker.message}`,
    };
  }
  const notes: string[] = [];
  for (const desired of step.objects) {
    const verdict = verdictOf(desired, judgement);
    if (verdict.done) {
      if (verdict.note !== undefined) notes.push(verdict.note);
      continue;
    }
    const unready = verdict.reason === 'Missing' ? awaitedMessage(step, judgement) : undefined;
    if (unready !== undefined) return { condition, status: 'False', reason: 'Waiting', message: unready };
    return { condition, status: 'False', reason: verdict.reason, message: verdict.message };
  }
  if (notes.length === 0) return { condition, status: 'True', reason: 'Done', message: '' };
  const message = `${notes.join('; ')}; annotate the resource with ${annotations.rollNodeAgents}=true to have them replaced one by one`;
  return { condition, status: 'True', reason: 'Done', message };
}

/** What another resource is still missing before this step may begin; undefined when all are Ready. */
export function awaitedMessage(step: Step, { observe }: Pick<Judgement, 'observe'>): string | undefined {
  for (const { kind, namespace, name } of step.awaits) {
    const object = observe(kind, { namespace, name });
    if (object === undefined) return `waiting for ${kind.kind} ${name}, which does not exist`;
    const ready = conditionOf(object, 'Ready');
    if (ready?.status !== 'True' || isStale(ready, object)) {
      return `waiting for ${kind.kind} ${name}${ready?.message ? `: ${ready.message}` : ''}`;
    }
  }
  return undefined;
}

function verdictOf(desired: Desired, judgement: Judgement): Verdict {
  if (desired.verb === 'claim') return claimVerdict(desired, judgement);
  const { object } = desired;
  const kind = kindOf(object);
  const { namespace, name = '' } = object.metadata;
  const live = judgement.observe(kind, { ...(namespace === undefined ? {} : { namespace }), name });
  const title = `${kind.kind} ${name}`;
  if (kind.kind === 'Job') return jobVerdict(object, live, judgement);
  if (live === undefined) return wait('Missing', `${title} is to be created`);
  if (desired.verb === 'resolve') {
    const current = live.metadata.annotations?.[annotations.inputs];
    return current === object.metadata.annotations?.[annotations.inputs]
      ? done
      : wait('Updating', `${title} is being renewed`);
  }
  if (desired.verb === 'generate') {
    const data = (live['data'] ?? {}) as Record<string, string>;
    // A rotation drops the numbers that it began with.
    const complete = desired.rotation !== undefined && Object.keys(data).length > 0;
    const absent = complete ? undefined : Object.keys(desired.values).find((key) => !(key in data));
    return absent === undefined ? done : wait('Missing', `${title}: key ${absent} is to be generated`);
  }
  const applied = live.metadata.annotations?.[annotations.applied];
  // What is live may be well, but it is not yet what this generation states.
  if (applied !== undefined && applied !== digest(object)) return wait('Updating', `${title} is being changed`);
  return workloadVerdict(kind, live, judgement);
}

function claimVerdict({ labels, count = 1 }: NodeClaim, { nodes }: Judgement): Verdict {
  if (nodes === undefined) {
    const role = 'the operator may not read and label nodes; bind it the ClusterRole openstack-operator-cluster';
    return wait('NodesHidden', `${role} (config/rbac-namespaced) and restart it`);
  }
  const claimed = nodes.filter((node) =>
    Object.entries(labels).every(([key, value]) => node.metadata.labels?.[key] === value),
  );
  const eligible = `a node is eligible when it is Ready, schedulable, and has no other ${cloudLabel} label`;
  return claimed.length >= count
    ? done
    : wait('NoNodes', `${claimed.length} of ${count} nodes are claimed; ${eligible}`);
}

function workloadVerdict(kind: Kind, live: StoredObject, judgement: Judgement): Verdict {
  const title = `${kind.kind} ${live.metadata.name}`;
  const status = (live['status'] ?? {}) as Record<string, number | undefined>;
  const spec = (live['spec'] ?? {}) as { replicas?: number; template?: unknown; updateStrategy?: { type?: string } };
  const seen = (status['observedGeneration'] ?? 0) >= (live.metadata.generation ?? 0);
  const replicas = spec.replicas ?? 1;
  const words = () => lastWords(live, judgement);
  switch (kind.kind) {
    case 'Deployment': {
      if (!seen) return wait('RollingOut', `${title}: rollout has not begun`);
      const updated = status['updatedReplicas'] ?? 0;
      const available = status['availableReplicas'] ?? 0;
      if (updated < replicas) return wait('RollingOut', `${title}: ${updated} of ${replicas} pods are new${words()}`);
      if ((status['replicas'] ?? 0) > updated)
        return wait('RollingOut', `${title}: ${(status['replicas'] ?? 0) - updated} old pods are going${words()}`);
      return available < replicas
        ? wait('NotAvailable', `${title}: ${available} of ${replicas} pods are ready${words()}`)
        : done;
    }
    case 'StatefulSet': {
      if (!seen) return wait('RollingOut', `${title}: rollout has not begun`);
      const ready = status['readyReplicas'] ?? 0;
      const updated = status['updatedReplicas'] ?? 0;
      if (ready < replicas) return wait('NotAvailable', `${title}: ${ready} of ${replicas} pods are ready${words()}`);
      return updated < replicas
        ? wait('RollingOut', `${title}: ${updated} of ${replicas} pods are new${words()}`)
        : done;
    }
    case 'DaemonSet': {
      if (!seen) return wait('RollingOut', `${title}: rollout has not begun`);
      const wanted = status['desiredNumberScheduled'] ?? 0;
      const ready = status['numberReady'] ?? 0;
      // Where no node is to run it (`computeReplicas: 0`), there is nothing to wait for.
      const matching = (judgement.nodes ?? []).filter((node) => isSelected(node, live)).length;
      if (wanted < matching) return wait('RollingOut', `${title}: ${wanted} of ${matching} nodes have a pod`);
      if (ready < wanted) return wait('NotAvailable', `${title}: ready on ${ready} of ${wanted} nodes${words()}`);
      const older = wanted - (status['updatedNumberScheduled'] ?? 0);
      return older > 0 ? { done: true, note: `${title}: of an older revision on ${older} of ${wanted} nodes` } : done;
    }
    case 'HTTPRoute': {
      const problem = routeProblem(live, judgement.observe);
      return problem === undefined ? done : { done: false, ...problem };
    }
    default: {
      // Our own kinds say it themselves; everything else is done once it exists.
      if (kind.group !== 'openstack.k8s.io') return done;
      const ready = conditionOf(live, 'Ready');
      if (ready?.status === 'True' && !isStale(ready, live)) return done;
      const { reason = 'Progressing', message = '' } = ready?.status === 'True' ? {} : (ready ?? {});
      return wait(isReason(reason) ? reason : 'Progressing', message || `${title} has not reported yet`);
    }
  }
}

/** Whether a node agent's DaemonSet is for a node: its labels, and its node groups. */
function isSelected(node: StoredObject, daemonSet: StoredObject): boolean {
  const { nodeSelector = {}, affinity } =
    (daemonSet['spec'] as { template?: { spec?: AgentPod } } | undefined)?.template?.spec ?? {};
  const labels = node.metadata.labels ?? {};
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return (
    Object.entries(nodeSelector).every(([key, value]) => labels[key] === value) &&
    terms.every(({ matchExpressions = [] }) =>
      matchExpressions.every(({ key, values = [] }) => values.includes(labels[key] ?? '')),
    )
  );
}

/** What of a node agent's pod says where it runs; groups are the only terms of its affinity. */
interface AgentPod {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: {
        readonly nodeSelectorTerms: readonly {
          readonly matchExpressions?: readonly { readonly key: string; readonly values?: readonly string[] }[];
        }[];
      };
    };
  };
}

function jobVerdict(object: KubeObject, live: StoredObject | undefined, judgement: Judgement): Verdict {
  const name = object.metadata.name ?? '';
  const inputs = object.metadata.annotations?.[annotations.inputs];
  if (live === undefined) {
    const finished = inputs !== undefined && judgement.finishedJobs[name] === inputs;
    return finished ? done : wait('Missing', `Job ${name} is to be run`);
  }
  // Even what has finished before has to be run again after another run: back and forth is two changes.
  if (live.metadata.annotations?.[annotations.inputs] !== inputs)
    return wait('Updating', `Job ${name} is to be run again`);
  if (conditionOf(live, 'Complete')?.status === 'True') return done;
  const failed = conditionOf(live, 'Failed');
  if (failed?.status === 'True')
    return wait('JobFailed', `Job ${name} failed: ${failed.message}${lastWords(live, judgement)}`);
  return wait('JobRunning', `Job ${name} is running${lastWords(live, judgement)}`);
}

/** The last words of the pods of a workload or Job, in one phrase; empty when they say nothing. */
function lastWords(owner: StoredObject, { pods, unmounted }: Judgement): string {
  const template = (owner['spec'] as { template?: { metadata?: { labels?: Record<string, string> } } } | undefined)
    ?.template;
  const labels = template?.metadata?.labels;
  if (labels === undefined) return '';
  for (const pod of pods(owner.metadata.namespace ?? '', labels)) {
    const words = podWords(pod, unmounted);
    if (words !== undefined) return `; pod ${pod.metadata.name}: ${words}`;
  }
  return '';
}

interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}
interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: { readonly exitCode?: number; readonly reason?: string; readonly message?: string };
}

/** What keeps a pod from being ready: not scheduled, an image, a container's last words. */
export function podWords(pod: StoredObject, unmounted: Judgement['unmounted']): string | undefined {
  const status = (pod['status'] ?? {}) as {
    initContainerStatuses?: ContainerStatus[];
    containerStatuses?: ContainerStatus[];
  };
  const { initContainerStatuses = [], containerStatuses = [] } = status;
  for (const container of [...initContainerStatuses, ...containerStatuses]) {
    const { terminated } = container.state ?? {};
    const ended = terminated ?? container.lastState?.terminated;
    // What was started again should not have ended at all: nova-compute that cannot start ends with 0 (seen live).
    const failed = ended?.exitCode !== 0 || (terminated === undefined && containerStatuses.includes(container));
    if (ended !== undefined && failed && container.ready !== true) {
      // The kubelet keeps the end of the log of what failed only.
      const said = ended.exitCode === 0 ? 'its log says why' : lastWordsOf(ended.message ?? '');
      return `container ${container.name} ended with ${ended.exitCode}${said ? `: ${said}` : ''}`;
    }
    const waiting = container.state?.waiting;
    if (waiting?.reason === undefined) continue;
    if (['ContainerCreating', 'PodInitializing'].includes(waiting.reason)) {
      const said = unmounted(pod);
      if (said !== undefined) return said;
    } else {
      return `container ${container.name}: ${waiting.reason}${waiting.message ? `: ${waiting.message}` : ''}`;
    }
  }
  const scheduled = conditionOf(pod, 'PodScheduled');
  return scheduled?.status === 'False' ? scheduled.message : undefined;
}

/** A condition of an object's status. */
export function conditionOf(object: KubeObject, type: string): Condition | undefined {
  return ((object['status'] ?? {}) as { conditions?: Condition[] }).conditions?.find(
    (condition) => condition.type === type,
  );
}

function isStale(condition: Condition, object: KubeObject): boolean {
  return condition.observedGeneration !== undefined && condition.observedGeneration < (object.metadata.generation ?? 0);
}
