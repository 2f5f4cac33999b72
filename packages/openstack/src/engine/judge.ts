import type { StoredObject } from '@openstack-operator/kube';
import { kindOf } from '../api/kinds.ts';
import { isNodeAgent, nodeStates, reasonsOf } from './agents.ts';
import { conditionOf, isStale } from './conditions.ts';
import { withDeadline } from './deadlines.ts';
import { digest } from './digest.ts';
import { annotations, cloudLabel, computeLabel, nodeGroupLabel } from './names.ts';
import { strayNodes } from './node-groups.ts';
import { podWords, refusalWords } from './pod-words.ts';
import type { Reason } from './reasons.ts';
import { jobVerdict, podsOf, workloadVerdict } from './rollout-verdict.ts';
import type { Desired, NodeClaim, Progress, Step } from './step.ts';
import { done, type Judgement, type Verdict, wait } from './verdict.ts';

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
    const unready =
      verdict.reason === 'Missing' || verdict.rerun === true ? awaitedMessage(step, judgement) : undefined;
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
  const { replicas } = (object['spec'] ?? {}) as { replicas?: number };
  // Its status says that all of its 0 pods are ready, but it serves nobody.
  if (kind.group === 'apps' && replicas === 0 && judgement.isAutoscaled?.(object) !== true)
    return wait('Stopped', `${title} is stopped: its replicas are set to 0; set 1 or more to start it`);
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
  const released = unclean(claims);
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
