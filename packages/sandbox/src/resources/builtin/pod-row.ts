import { type KubeObject, parseTimestamp } from '@openstack-operator/kube';
import { age } from '../age.ts';
import { type JsonObject, numberOf, objectOf, objectsOf, textOf } from '../json.ts';
import type { Cell } from '../resource-type.ts';
import { ageOf, hasCondition, nameOf, specOf, statusOf } from './cells.ts';

/** What the containers of one list say together. */
interface Summary {
  reason: string;
  restarts: number;
  ready: number;
  lastRestart: string;
}

/** A pod's row: READY, STATUS, RESTARTS as kubectl shows them (printPod of pkg/printers/internalversion). */
export function podRow(pod: KubeObject, now: number): Cell[] {
  const spec = specOf(pod);
  const status = statusOf(pod);
  const sidecars = new Set(
    objectsOf(spec.initContainers)
      .filter((container) => container.restartPolicy === 'Always')
      .map(({ name }) => name),
  );
  const total = objectsOf(spec.containers).length + sidecars.size;
  const gated = objectsOf(status.conditions).some(
    (condition) => condition.type === 'PodScheduled' && condition.reason === 'SchedulingGated',
  );
  const phase = textOf(status.phase);
  const start = gated ? 'SchedulingGated' : textOf(status.reason) || phase;
  const { initializing, all, sidecar } = initSummary(spec, status, sidecars, start);
  let summary = all;
  if (!initializing || hasCondition(status.conditions, 'Initialized')) {
    summary = mainSummary(status, { ...sidecar, ready: all.ready, reason: all.reason });
  }
  let { reason } = summary;
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (status.reason === 'NodeLost') reason = 'Unknown';
    else if (phase !== 'Failed' && phase !== 'Succeeded') reason = 'Terminating';
  }
  const { restarts, lastRestart } = summary;
  const restartCell =
    restarts !== 0 && lastRestart !== '' ? `${restarts} (${age(lastRestart, now)} ago)` : `${restarts}`;
  return [
    nameOf(pod),
    `${summary.ready}/${total}`,
    reason,
    restartCell,
    ageOf(pod, now),
    textOf(objectsOf(status.podIPs)[0]?.ip) || '<none>',
    textOf(spec.nodeName) || '<none>',
    textOf(status.nominatedNodeName) || '<none>',
    readinessGates(spec, status),
  ];
}

function initSummary(spec: JsonObject, status: JsonObject, sidecars: ReadonlySet<unknown>, start: string) {
  const all: Summary = { reason: start, restarts: 0, ready: 0, lastRestart: '' };
  const sidecar: Summary = { ...all };
  for (const [position, container] of objectsOf(status.initContainerStatuses).entries()) {
    count(all, container);
    const isSidecar = sidecars.has(container.name);
    if (isSidecar) count(sidecar, container);
    const { terminated, waiting } = states(container);
    if (terminated && numberOf(terminated.exitCode) === 0) continue;
    if (isSidecar && container.started === true) {
      if (container.ready === true) all.ready++;
      continue;
    }
    if (terminated) all.reason = `Init:${exitReason(terminated)}`;
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') all.reason = `Init:${textOf(waiting.reason)}`;
    else all.reason = `Init:${position}/${objectsOf(spec.initContainers).length}`;
    return { initializing: true, all, sidecar };
  }
  return { initializing: false, all, sidecar };
}

function mainSummary(status: JsonObject, summary: Summary): Summary {
  let running = false;
  let failure = '';
  for (const container of objectsOf(status.containerStatuses).reverse()) {
    count(summary, container);
    const { terminated, waiting, running: state } = states(container);
    if (waiting?.reason) summary.reason = textOf(waiting.reason);
    else if (terminated) {
      summary.reason = exitReason(terminated);
      if (numberOf(terminated.exitCode) !== 0) failure = summary.reason;
    } else if (container.ready === true && state) {
      running = true;
      summary.ready++;
    }
  }
  if (summary.reason !== 'Completed') return summary;
  if (running && hasCondition(status.conditions, 'Ready')) summary.reason = 'Running';
  else if (failure !== '') summary.reason = failure;
  else if (running) summary.reason = 'NotReady';
  return summary;
}

function count(summary: Summary, container: JsonObject): void {
  summary.restarts += numberOf(container.restartCount);
  const finished = textOf(objectOf(objectOf(container.lastState).terminated).finishedAt);
  if (
    finished !== '' &&
    (summary.lastRestart === '' || parseTimestamp(summary.lastRestart) < parseTimestamp(finished))
  ) {
    summary.lastRestart = finished;
  }
}

function states(container: JsonObject) {
  const { terminated, waiting, running } = objectOf(container.state) as Record<string, JsonObject | undefined>;
  return { terminated, waiting, running };
}

function exitReason(terminated: JsonObject): string {
  if (terminated.reason) return textOf(terminated.reason);
  if (numberOf(terminated.signal) !== 0) return `Signal:${numberOf(terminated.signal)}`;
  return `ExitCode:${numberOf(terminated.exitCode)}`;
}

function readinessGates(spec: JsonObject, status: JsonObject): string {
  const gates = objectsOf(spec.readinessGates);
  if (gates.length === 0) return '<none>';
  const met = gates.filter((gate) => hasCondition(status.conditions, textOf(gate.conditionType)));
  return `${met.length}/${gates.length}`;
}
