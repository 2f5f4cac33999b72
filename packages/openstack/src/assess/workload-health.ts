import { type Kind, type KubeObject, parseTimestamp, type StoredObject } from '@openstack-operator/kube';
import type { References } from '../api/status.ts';
import { annotations } from '../engine/names/names.ts';
import { routeProblem } from '../engine/objects/route-problem.ts';
import { failedRunsKept } from '../engine/objects/schedule.ts';
import { isNodeAgent } from '../engine/status/agents.ts';
import { conditionOf, isStale } from '../engine/status/conditions.ts';
import { isCrashing, lastChange, wasReady } from '../engine/status/deadlines.ts';
import { goesUnasked, neverRan, ofOlderRevision } from '../engine/status/old-agents.ts';
import { podWords } from '../engine/status/pod-words.ts';
import { isReason, type Reason } from '../engine/status/reasons.ts';
import { scheduleStatus } from '../engine/status/schedule-status.ts';
import { mentionsOf, referencesOf } from '../engine/vocabulary/dependencies.ts';
import { foreignWait } from '../engine/vocabulary/foreign-kinds.ts';
import type { Observe } from '../engine/vocabulary/step.ts';
import { foreignKindOf, kindReferredBy } from '../registry/kinds.ts';
import { services } from '../services/index.ts';
import { podCauses } from './causes.ts';
import { done, type Health, wait } from './health.ts';
import type { Observed } from './observed.ts';
import { podsOf } from './pods-of.ts';

/** What a workload waits for, since when, and whether what ran before has begun to crash. */
export function workloadHealth(kind: Kind, live: StoredObject, observed: Observed): Health {
  const health = rolloutHealth(kind, live, observed);
  if (health.done || health.said === true || observed.moment === undefined) return health;
  const { now, resource } = observed.moment;
  const pods = podsOf(live, observed);
  const crashes = wasReady(resource) && pods.some((pod) => isCrashing(pod, now));
  return { ...health, begun: lastChange(pods), ...(crashes ? { reason: 'CrashLoopBackOff' } : {}) };
}

function rolloutHealth(kind: Kind, live: StoredObject, observed: Observed): Health {
  const title = `${kind.kind} ${live.metadata.name}`;
  const status = (live['status'] ?? {}) as Record<string, number | undefined>;
  const spec = (live['spec'] ?? {}) as { replicas?: number; template?: unknown; updateStrategy?: { type?: string } };
  const seen = (status['observedGeneration'] ?? 0) >= (live.metadata.generation ?? 0);
  const replicas = spec.replicas ?? 1;
  const waits = (reason: Reason, message: string) => ({
    ...wait(reason, message),
    causes: podCauses(live, observed, reason),
  });
  switch (kind.kind) {
    case 'Deployment': {
      if (!seen) return wait('RollingOut', `${title}: rollout has not begun`);
      const updated = status['updatedReplicas'] ?? 0;
      const available = status['availableReplicas'] ?? 0;
      if (updated < replicas) return waits('RollingOut', `${title}: ${updated} of ${replicas} pods are new`);
      const old = (status['replicas'] ?? 0) - updated;
      if (old > 0) {
        const pods = old === 1 ? '1 old pod is' : `${old} old pods are`;
        if (available === old + updated) return waits('RollingOut', `${title}: ${pods} being removed`);
        const open = updated === 1 ? 'the new pod is not available' : 'not all new pods are available';
        return { ...waits('RollingOut', `${title}: ${open}`), meanwhile: `${pods} kept until then` };
      }
      return available < replicas
        ? waits('NotAvailable', `${title}: ${available} of ${replicas} pods are ready`)
        : done;
    }
    case 'StatefulSet': {
      if (!seen) return wait('RollingOut', `${title}: rollout has not begun`);
      const ready = status['readyReplicas'] ?? 0;
      const updated = status['updatedReplicas'] ?? 0;
      if (ready < replicas) return waits('NotAvailable', `${title}: ${ready} of ${replicas} pods are ready`);
      return updated < replicas ? waits('RollingOut', `${title}: ${updated} of ${replicas} pods are new`) : done;
    }
    case 'DaemonSet': {
      if (!seen) return wait('RollingOut', `${title}: rollout has not begun`);
      const wanted = status['desiredNumberScheduled'] ?? 0;
      const ready = status['numberReady'] ?? 0;
      // Node agents are assessed together, node by node.
      const together = isNodeAgent(live) && observed.nodes !== undefined;
      if (!together && ready < wanted) return waits('NotAvailable', `${title}: ready on ${ready} of ${wanted} nodes`);
      return oldAgents(live, title, observed);
    }
    case 'CronJob':
      return scheduleHealth(live, observed);
    case 'Service':
      return loadBalancerHealth(live, title);
    case 'HTTPRoute':
    case 'TCPRoute':
    case 'UDPRoute': {
      const problem = routeProblem(live, observed.observe);
      return problem === undefined ? done : { done: false, ...problem };
    }
    default:
      // Our own kinds say it themselves; everything else is done once it exists.
      return kind.group === 'openstack.k8s.io' ? resourceHealth(live, title, observed) : foreignHealth(live, title);
  }
}

/** Node agents are replaced when the resource is annotated so; but some, by what they are or have, unasked. */
function oldAgents(live: StoredObject, title: string, { controlled = () => [], moment }: Observed): Health {
  const { desiredNumberScheduled: wanted = 0 } = (live['status'] ?? {}) as { desiredNumberScheduled?: number };
  const old = controlled('Pod', live).filter(ofOlderRevision(controlled('ControllerRevision', live)));
  const asked = moment?.resource.metadata.annotations?.[annotations.rollNodeAgents] === 'true';
  const goes = (pod: StoredObject) =>
    asked || pod.metadata.deletionTimestamp !== undefined || neverRan(pod) || goesUnasked(live, pod);
  const leaving = old.filter(goes).length;
  const told = (count: number) => `${title}: of an older revision on ${count} of ${wanted} nodes`;
  return {
    done: true,
    ...(leaving === 0 ? {} : { leaving: `${told(leaving)}, being replaced` }),
    ...(leaving === old.length ? {} : { note: told(old.length - leaving) }),
  };
}

/** A resource of ours, as it says itself, unless that is about what it was, or about what it referred to was. */
function resourceHealth(live: StoredObject, title: string, { observe }: Observed): Health {
  const ready = conditionOf(live, 'Ready');
  if (ready?.status === 'True' && !isStale(ready, live)) {
    const behind = changedReference(live, observe);
    if (behind !== undefined) return wait('Progressing', `${title} has not reconciled with ${behind} yet`);
    const { agentsLeaving } = (live['status'] ?? {}) as { agentsLeaving?: boolean };
    return {
      done: true,
      ...(ready.message === '' ? {} : { degraded: ready.message }),
      ...(agentsLeaving === true ? { leaving: true } : {}),
    };
  }
  const { reason = 'Progressing', message = '' } = ready?.status === 'True' ? {} : (ready ?? {});
  const health = wait(isReason(reason) ? reason : 'Progressing', message || `${title} has not reported yet`);
  return ready === undefined || isStale(ready, live) ? health : { ...health, said: true };
}

/** The first resource that this one refers to and that has another generation than it was composed with. What is gone says nothing. */
function changedReference(live: StoredObject, observe: Observe): string | undefined {
  const { references = {} } = (live['status'] ?? {}) as { references?: References };
  const service = services.find(({ kind }) => kind.kind === live.kind);
  for (const field of service === undefined ? [] : [...referencesOf(service), ...mentionsOf(service)]) {
    const composedWith = references[field];
    if (composedWith === undefined) continue;
    const kind = kindReferredBy(field);
    const { name, generation } = composedWith;
    const referred = observe(kind, { namespace: live.metadata.namespace ?? '', name });
    const { generation: present = generation } = referred?.metadata ?? {};
    if (present !== generation) return `generation ${present} of ${kind.kind} ${name}`;
  }
  return undefined;
}

/** An object of somebody else's API, as the service that composes it says when it is done. */
function foreignHealth(live: StoredObject, title: string): Health {
  const foreign = foreignKindOf(live);
  const words = foreign && foreignWait(foreign, live);
  return words === undefined ? done : wait('Progressing', `${title}: ${words}`);
}

/** A load balancer has an address once the controller of its class has made it. */
function loadBalancerHealth({ spec, status }: StoredObject, title: string): Health {
  const { loadBalancer: { ingress = [] } = {} } = (status ?? {}) as { loadBalancer?: { ingress?: readonly unknown[] } };
  if ((spec as { type?: string }).type !== 'LoadBalancer' || ingress.length > 0) return done;
  const message = `${title} has no address yet`;
  return wait('LoadBalancerPending', message);
}

/** One run that failed is told, and tried again at its next time; as many in a row as are kept are a problem. */
function scheduleHealth(live: StoredObject, { controlled = () => [], eventWords }: Observed): Health {
  const pods = (job: StoredObject) => controlled('Pod', job);
  const words = (pod: StoredObject) => podWords(pod, eventWords);
  const { failures, message = '' } = scheduleStatus(live, { jobs: controlled('Job', live), pods, words });
  if (failures === 0) return done;
  const text = `CronJob ${live.metadata.name}: its last ${failures === 1 ? 'run' : `${failures} runs`} failed: ${message}`;
  return failures < failedRunsKept ? { done: true, remark: text } : wait('ScheduleFailing', text);
}

/** Whether a Job has run with the inputs of now. */
export function jobHealth(object: KubeObject, live: StoredObject | undefined, observed: Observed): Health {
  const name = object.metadata.name ?? '';
  const inputs = object.metadata.annotations?.[annotations.inputs];
  if (live === undefined) {
    const finished = inputs !== undefined && observed.finishedJobs[name] === inputs;
    return finished ? done : wait('Missing', `Job ${name} is to be run`);
  }
  // Even what has finished before has to be run again after another run: back and forth is two changes.
  if (live.metadata.annotations?.[annotations.inputs] !== inputs)
    return { ...wait('Updating', `Job ${name} is to be run again`), rerun: true };
  if (conditionOf(live, 'Complete')?.status === 'True') return done;
  const failed = conditionOf(live, 'Failed');
  if (failed?.status === 'True')
    return {
      ...wait('JobFailed', `Job ${name} failed: ${failed.message}`),
      causes: podCauses(live, observed, 'JobFailed'),
    };
  const { startTime = live.metadata.creationTimestamp } = (live['status'] ?? {}) as { startTime?: string };
  const begun = parseTimestamp(startTime ?? '') || 0;
  return { ...wait('JobRunning', `Job ${name} is running`), causes: podCauses(live, observed, 'JobRunning'), begun };
}
