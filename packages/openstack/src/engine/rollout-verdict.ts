import { type Kind, type KubeObject, parseTimestamp, type StoredObject } from '@openstack-operator/kube';
import { isNodeAgent } from './agents.ts';
import { conditionOf, isStale } from './conditions.ts';
import { isCrashing, lastChange, wasReady } from './deadlines.ts';
import { annotations } from './names.ts';
import { ownValue } from './own-value.ts';
import { podWords, refusalWords } from './pod-words.ts';
import { isReason } from './reasons.ts';
import { routeProblem } from './route-problem.ts';
import { failedRunsKept } from './schedule.ts';
import { scheduleStatus } from './schedule-status.ts';
import { done, type Judgement, type Verdict, wait } from './verdict.ts';

/** What a workload waits for, since when, and whether what ran before has begun to crash. */
export function workloadVerdict(kind: Kind, live: StoredObject, judgement: Judgement): Verdict {
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
  const words = () => terminationMessages(live, judgement);
  switch (kind.kind) {
    case 'Deployment': {
      if (!seen) return wait('RollingOut', `${title}: rollout has not begun`);
      const updated = status['updatedReplicas'] ?? 0;
      const available = status['availableReplicas'] ?? 0;
      if (updated < replicas) return wait('RollingOut', `${title}: ${updated} of ${replicas} pods are new${words()}`);
      if ((status['replicas'] ?? 0) > updated)
        return wait(
          'RollingOut',
          `${title}: ${(status['replicas'] ?? 0) - updated} old pods are terminating${words()}`,
        );
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

export function jobVerdict(object: KubeObject, live: StoredObject | undefined, judgement: Judgement): Verdict {
  const name = object.metadata.name ?? '';
  const inputs = object.metadata.annotations?.[annotations.inputs];
  if (live === undefined) {
    const finished = inputs !== undefined && judgement.finishedJobs[name] === inputs;
    return finished ? done : wait('Missing', `Job ${name} is to be run`);
  }
  // Even what has finished before has to be run again after another run: back and forth is two changes.
  if (live.metadata.annotations?.[annotations.inputs] !== inputs)
    return { ...wait('Updating', `Job ${name} is to be run again`), rerun: true };
  if (conditionOf(live, 'Complete')?.status === 'True') return done;
  const failed = conditionOf(live, 'Failed');
  if (failed?.status === 'True')
    return wait('JobFailed', `Job ${name} failed: ${failed.message}${terminationMessages(live, judgement)}`);
  const { startTime = live.metadata.creationTimestamp } = (live['status'] ?? {}) as { startTime?: string };
  const running = wait('JobRunning', `Job ${name} is running${terminationMessages(live, judgement)}`);
  return { ...running, begun: parseTimestamp(startTime ?? '') || 0 };
}

/** Why a workload or Job gets no pods, or the last words of those it has, in one phrase; empty when nothing is said. */
function terminationMessages(owner: StoredObject, judgement: Judgement): string {
  const refusal = refusalWords(owner, judgement.eventWords);
  if (refusal !== undefined) return `; ${refusal}`;
  for (const pod of podsOf(owner, judgement)) {
    const words = podWords(pod, judgement.eventWords);
    if (words !== undefined) return `; pod ${pod.metadata.name}: ${words}`;
  }
  return '';
}

/** Labels of a template by which its pods are told from others; users may add thousands. */
const distinguishing = [
  ...['name', 'instance', 'component'].map((name) => `app.kubernetes.io/${name}`),
  'batch.kubernetes.io/controller-uid',
];

/** The pods of a workload or Job, by the labels of its template. */
export function podsOf(owner: StoredObject, { pods }: Judgement): readonly StoredObject[] {
  const { template } = (owner['spec'] ?? {}) as { template?: { metadata?: { labels?: Record<string, string> } } };
  const labels = distinguishing.flatMap((name) => {
    const value = ownValue(template?.metadata?.labels, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return labels.length === 0 ? [] : pods(owner.metadata.namespace ?? '', Object.fromEntries(labels));
}
