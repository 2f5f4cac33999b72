import {
  type Condition,
  type Kind,
  type KubeObject,
  parseTimestamp,
  type StoredObject,
} from '@openstack-operator/kube';
import { kindOf } from '../api/kinds.ts';
import { isNodeAgent, nodeStates, reasonsOf } from './agents.ts';
import { conditionOf } from './conditions.ts';
import { isCrashing, lastChange, type Moment, wasReady, withDeadline } from './deadlines.ts';
import { digest } from './digest.ts';
import { annotations, cloudLabel, computeLabel, nodeGroupLabel } from './names.ts';
import { strayNodes } from './node-groups.ts';
import { podWords, refusalWords } from './pod-words.ts';
import { isReason, type Reason } from './reasons.ts';
import { routeProblem } from './route-problem.ts';
import { failedRunsKept } from './schedule.ts';
import { scheduleStatus } from './schedule-status.ts';
import type { Desired, NodeClaim, Observe, Progress, Step } from './step.ts';

/** What a judgement needs beside the step. */
export interface Judgement {
  readonly observe: Observe;
  /** Whether a live object is the resource's. One of somebody else is never what a step waits for. Default: all are. */
  readonly ours?: (live: StoredObject) => boolean;
  /** Pods by labels, newest first: their last words explain a wait. */
  readonly pods: (namespace: string, labels: Readonly<Record<string, string>>) => readonly StoredObject[];
  /** What events say of a pod whose volumes cannot be mounted, or of a workload whose pods are refused. */
  readonly eventWords: (object: StoredObject) => string | undefined;
  /** The nodes of the resource's cloud: for claims, and for agents that run on them. Absent: they may not be read. */
  readonly nodes?: readonly StoredObject[];
  /** Nodes that a claim would take if they were clean; default: none. */
  readonly unclean?: (claim: NodeClaim) => readonly UncleanNode[];
  /** Jobs of a CronJob and pods of a Job, by their controller. */
  readonly controlled?: (kind: 'Job' | 'Pod', owner: StoredObject) => readonly StoredObject[];
  /** Job name -> inputs digest of its last finished run (`status.jobs`). */
  readonly finishedJobs: Readonly<Record<string, string>>;
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

/** Whether one thing is as wanted; otherwise what is awaited. */
type Verdict =
  /**
   * `note`: of node agents that wait to be replaced. `remark`: of what is as it should be, all the same. `degraded`:
   * usable, but something is to be mended.
   */
  | {
      readonly done: true;
      readonly note?: string;
      readonly remark?: string;
      readonly degraded?: string;
      readonly requeueAfter?: number;
    }
  | {
      readonly done: false;
      readonly reason: Reason;
      readonly message: string;
      readonly requeueAfter?: number;
      /** When what is awaited showed a sign of life last (milliseconds since the epoch). */
      readonly begun?: number;
      /** Another resource of ours says it, which knows itself when it waits too long. */
      readonly said?: boolean;
    };

const done: Verdict = { done: true };
const wait = (reason: Reason, message: string): Verdict & { done: false } => ({ done: false, reason, message });

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
  const outdated: string[] = [];
  const degraded: string[] = [];
  const remarks: string[] = [];
  const verdicts = [
    ...step.objects.map((desired) => () => verdictOf(desired, judgement)),
    () => claimsVerdict(step, judgement),
    () => agentsVerdict(step, judgement),
  ];
  let requeueAfter: number | undefined;
  for (const one of verdicts) {
    const verdict = one();
    requeueAfter ??= verdict.requeueAfter;
    const again = requeueAfter === undefined ? {} : { requeueAfter };
    if (verdict.done) {
      if (verdict.note !== undefined) outdated.push(verdict.note);
      if (verdict.remark !== undefined) remarks.push(verdict.remark);
      if (verdict.degraded !== undefined) degraded.push(verdict.degraded);
      continue;
    }
    const { begun, said } = verdict;
    const waits = (reason: Reason, message: string): Progress => {
      const progress = { condition, status: 'False', reason, message } as const;
      return judgement.moment === undefined || said === true
        ? progress
        : withDeadline(progress, judgement.moment, begun);
    };
    const unready = verdict.reason === 'Missing' ? awaitedMessage(step, judgement) : undefined;
    // Agents may be down for being of an older revision.
    const message = [verdict.message, ...withWayOut(outdated)].join('; ');
    const waiting = unready === undefined ? waits(verdict.reason, message) : waits('Waiting', unready);
    return { ...waiting, ...again };
  }
  const message = [...degraded, ...remarks, ...withWayOut(outdated)].join('; ');
  return {
    condition,
    status: 'True',
    reason: degraded.length === 0 ? 'Done' : 'Degraded',
    message,
    ...(requeueAfter === undefined ? {} : { requeueAfter }),
  };
}

/** Agents of an older revision, and what somebody can do about it. */
function withWayOut(outdated: readonly string[]): readonly string[] {
  const wayOut = `annotate the resource with ${annotations.rollNodeAgents}=true to have them replaced one by one`;
  return outdated.length === 0 ? [] : [...outdated, wayOut];
}

/** What another resource is still missing before this step may begin; undefined when all are Ready. */
export function awaitedMessage(step: Step, { observe }: Pick<Judgement, 'observe'>): string | undefined {
  for (const { kind, namespace, name } of step.awaits) {
    const object = observe(kind, { namespace, name });
    if (object === undefined) return `waiting for ${kind.kind} ${name}, which does not exist`;
    const ready = conditionOf(object, 'Ready');
    if (ready?.status !== 'True' || isStale(ready, object)) {
      // Not its message: that changes more often than this step is judged again.
      const why = ready === undefined || ready.status === 'True' ? 'Progressing' : ready.reason;
      return `waiting for ${kind.kind} ${name}, which is not Ready (${why})`;
    }
  }
  return undefined;
}

function verdictOf(desired: Desired, judgement: Judgement): Verdict {
  // Claims are judged together.
  if (desired.verb === 'claim') return done;
  const { object } = desired;
  const kind = kindOf(object);
  const { namespace, name = '' } = object.metadata;
  const live = judgement.observe(kind, { ...(namespace === undefined ? {} : { namespace }), name });
  const title = `${kind.kind} ${name}`;
  if (live !== undefined && judgement.ours?.(live) === false)
    return wait('ForeignObject', `${title} is somebody else's`);
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

/**
 * The nodes of a cloud. One that is missing holds back nothing: what runs on the others goes on, and a node that comes
 * later is claimed then. But there has to be one that runs guests where some are asked for, and one chassis likewise.
 */
function claimsVerdict({ objects }: Step, { nodes, unclean = () => [] }: Judgement): Verdict {
  const claims = objects.filter((desired) => desired.verb === 'claim');
  if (claims.length === 0) return done;
  if (nodes === undefined) {
    const role = 'the operator may not read and label nodes; bind it the ClusterRole openstack-operator-cluster';
    return wait('NodesHidden', `${role} (config/rbac-namespaced) and restart it`);
  }
  const found = claims.map((claim) => ({
    claim,
    claimed: nodes.filter((node) => hasLabels(node, claim.labels)).length,
  }));
  const stray = strayNodes(claims, nodes);
  if (stray !== undefined) return { done: true, degraded: stray };
  const short = found.filter(({ claim: { count = 1 }, claimed }) => claimed < count);
  const released = claims.flatMap(unclean);
  const words = released.map(({ words }) => words).join('; ');
  const isStuck = released.some((node) => node.isStuck);
  if (short.length === 0) {
    if (released.length === 0) return done;
    return isStuck ? { done: true, degraded: words } : { done: true, remark: words };
  }
  const told = short.map(
    ({ claim: { labels, count = 1 }, claimed }) =>
      `${claimed} of ${count} nodes of group ${labels[nodeGroupLabel]} are claimed`,
  );
  const eligible = `a node is eligible when it is Ready, schedulable, has the labels of the group's nodeSelector, no taint that the group does not tolerate, and no other ${cloudLabel} label`;
  const message = [...told, ...(released.length === 0 ? [] : [words]), eligible].join('; ');
  const served = (compute: string | undefined) => {
    const alike = found.filter(({ claim: { labels, count = 1 } }) => labels[computeLabel] === compute && count > 0);
    return alike.length === 0 || alike.some(({ claimed }) => claimed > 0);
  };
  if (served('true') && served(undefined)) return { done: true, degraded: message };
  return wait(released.length > 0 && !isStuck ? 'Progressing' : 'NoNodes', message);
}

function hasLabels(node: StoredObject, labels: NodeClaim['labels']): boolean {
  return Object.entries(labels).every(([key, value]) => node.metadata.labels?.[key] === value);
}

/**
 * The agents of the nodes. A node whose agents are not up holds back itself alone: the others serve. Nodes that are just
 * starting are waited for until the agents have been up for the first time, so that a cloud comes up as a whole.
 */
function agentsVerdict({ condition, objects }: Step, judgement: Judgement): Verdict {
  const { nodes, observe, eventWords, now, met } = judgement;
  if (nodes === undefined) return done;
  const agents = objects.flatMap((desired) => {
    if (desired.verb !== 'apply' || desired.object.kind !== 'DaemonSet') return [];
    const { namespace = '', name = '' } = desired.object.metadata;
    const live = observe(kindOf(desired.object), { namespace, name });
    return live !== undefined && isNodeAgent(live) ? [live] : [];
  });
  const states = nodeStates(agents, {
    nodes,
    podsOf: (daemonSet) => podsOf(daemonSet, judgement),
    words: (pod) => podWords(pod, eventWords),
    refusal: (daemonSet) => refusalWords(daemonSet, eventWords),
    now,
  });
  const up = states.filter(({ state }) => state === 'up').length;
  // Where no node is to run them (`computeReplicas: 0`), there is nothing to wait for.
  if (up === states.length) return done;
  const message = `agents are up on ${up} of ${states.length} nodes; ${reasonsOf(states)}`;
  const starting = states.filter(({ state }) => state === 'starting');
  const patience = starting.flatMap(({ patience = [] }) => patience);
  const again = patience.length === 0 ? {} : { requeueAfter: Math.min(...patience) };
  if (up === 0 || (starting.length > 0 && !met.has(condition))) {
    const reason = starting.some(({ patience }) => patience === undefined) ? 'RollingOut' : 'NotAvailable';
    return { ...wait(reason, message), ...again };
  }
  const isDown = states.some(({ state }) => state === 'down');
  return isDown ? { done: true, degraded: message, ...again } : { done: true, ...again };
}

/** What a workload waits for, since when, and whether what ran before has begun to crash. */
function workloadVerdict(kind: Kind, live: StoredObject, judgement: Judgement): Verdict {
  const verdict = rolloutVerdict(kind, live, judgement);
  if (verdict.done || verdict.said === true || judgement.moment === undefined) return verdict;
  const { now, resource } = judgement.moment;
  const pods = podsOf(live, judgement);
  const crashes = wasReady(resource) && pods.some((pod) => isCrashing(pod, now));
  return { ...verdict, begun: lastChange(pods), ...(crashes ? { reason: 'CrashLoopBackOff' } : {}) };
}

function rolloutVerdict(kind: Kind, live: StoredObject, judgement: Judgement): Verdict {
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
      // Node agents are judged together, node by node.
      const together = isNodeAgent(live) && judgement.nodes !== undefined;
      if (!together && ready < wanted)
        return wait('NotAvailable', `${title}: ready on ${ready} of ${wanted} nodes${words()}`);
      const older = wanted - (status['updatedNumberScheduled'] ?? 0);
      return older > 0 ? { done: true, note: `${title}: of an older revision on ${older} of ${wanted} nodes` } : done;
    }
    case 'CronJob':
      return scheduleVerdict(live, judgement);
    case 'HTTPRoute': {
      const problem = routeProblem(live, judgement.observe);
      return problem === undefined ? done : { done: false, ...problem };
    }
    default: {
      // Our own kinds say it themselves; everything else is done once it exists.
      if (kind.group !== 'openstack.k8s.io') return done;
      const ready = conditionOf(live, 'Ready');
      if (ready?.status === 'True' && !isStale(ready, live))
        return ready.message === '' ? done : { done: true, degraded: ready.message };
      const { reason = 'Progressing', message = '' } = ready?.status === 'True' ? {} : (ready ?? {});
      const verdict = wait(isReason(reason) ? reason : 'Progressing', message || `${title} has not reported yet`);
      return ready === undefined || isStale(ready, live) ? verdict : { ...verdict, said: true };
    }
  }
}

/** One run that failed is told, and tried again at its next time; as many in a row as are kept are a problem. */
function scheduleVerdict(live: StoredObject, { controlled = () => [], eventWords }: Judgement): Verdict {
  const pods = (job: StoredObject) => controlled('Pod', job);
  const words = (pod: StoredObject) => podWords(pod, eventWords);
  const { failures, message = '' } = scheduleStatus(live, { jobs: controlled('Job', live), pods, words });
  if (failures === 0) return done;
  const text = `CronJob ${live.metadata.name}: its last ${failures === 1 ? 'run' : `${failures} runs`} failed: ${message}`;
  return failures < failedRunsKept ? { done: true, remark: text } : wait('ScheduleFailing', text);
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
  const { startTime = live.metadata.creationTimestamp } = (live['status'] ?? {}) as { startTime?: string };
  const running = wait('JobRunning', `Job ${name} is running${lastWords(live, judgement)}`);
  return { ...running, begun: parseTimestamp(startTime ?? '') || 0 };
}

/** Why a workload or Job gets no pods, or the last words of those it has, in one phrase; empty when nothing is said. */
function lastWords(owner: StoredObject, judgement: Judgement): string {
  const refusal = refusalWords(owner, judgement.eventWords);
  if (refusal !== undefined) return `; ${refusal}`;
  for (const pod of podsOf(owner, judgement)) {
    const words = podWords(pod, judgement.eventWords);
    if (words !== undefined) return `; pod ${pod.metadata.name}: ${words}`;
  }
  return '';
}

/** The pods of a workload or Job, by the labels of its template. */
function podsOf(owner: StoredObject, { pods }: Judgement): readonly StoredObject[] {
  const { template } = (owner['spec'] ?? {}) as { template?: { metadata?: { labels?: Record<string, string> } } };
  const labels = template?.metadata?.labels;
  return labels === undefined ? [] : pods(owner.metadata.namespace ?? '', labels);
}

function isStale(condition: Condition, object: KubeObject): boolean {
  return condition.observedGeneration !== undefined && condition.observedGeneration < (object.metadata.generation ?? 0);
}
