import { type KubeObject, Pod, parseTimestamp, type StoredObject } from '@openstack-operator/kube';
import { conditionOf, podWords } from '@openstack-operator/openstack';
import { until } from '../../cloud/until.ts';
import { copiesFor } from './copies.ts';
import type { Failure } from './failure.ts';
import type { Objects } from './mistakes.ts';
import { begin, namespace, remove, type Stage } from './provoke.ts';

/** How long the containers of a pod took: from their start until they were ready, or had done their work. */
export interface Took {
  /** Seconds by the clock, whole ones: the kubelet says no more. */
  readonly seconds: number;
  /** Seconds of a processor: the same on a busy machine. Absent where there are none, on the embedded cloud. */
  readonly processor?: number;
}

/** Prints the processor time of its container, in nanoseconds, or with a mark in microseconds (cgroup version 2). */
const usage =
  "cat /sys/fs/cgroup/cpuacct/cpuacct.usage 2> /dev/null || sed -n 's/^usage_usec /us /p' /sys/fs/cgroup/cpu.stat";

/** Runs a copy of a workload or Job, with nothing wrong in it, and says how long it took. */
export async function timeCopy(
  stage: Stage,
  objects: Objects,
  { run, before = [] }: Pick<Failure, 'run' | 'before'>,
  { id, processor }: { id: string; processor: boolean },
): Promise<Took> {
  const { client, clock } = stage;
  const isJob = run.startsWith('Job ');
  await remove(stage, id);
  const copies = copiesFor({ what: run, run, before, says: '' }, objects, new Map(), id);
  try {
    const pod = await begin(stage, copies);
    await client.create(Pod, (isJob && processor ? metered(pod) : pod) as Pod);
    const name = pod.metadata.name ?? '';
    const ended = await until({
      what: `${run} to be ready or done`,
      seconds: 300,
      clock,
      probe: async () => {
        const now = await client.get(Pod, { namespace, name });
        const { phase } = (now['status'] ?? {}) as { phase?: string };
        if (phase === 'Failed') throw new Error(`${run} failed: ${podWords(now, () => undefined)}`);
        // Before it is done, a Job's pod is ready as well.
        const over = isJob ? phase === 'Succeeded' : conditionOf(now, 'Ready')?.status === 'True';
        return over ? now : undefined;
      },
    });
    const seconds = secondsOf(ended);
    if (!processor) return { seconds };
    const words = isJob ? wordsOf(ended) : [await stage.execute(name, ['sh', '-c', usage])];
    return { seconds, processor: words.map(inSeconds).reduce((sum, one) => sum + one, 0) };
  } finally {
    await remove(stage, id);
  }
}

/** The pod whose containers leave behind what their commands have cost. */
function metered(pod: KubeObject): KubeObject {
  const spec = pod['spec'] as Record<string, { command: string[] }[] | undefined>;
  const wrapped = (containers: { command: string[] }[]) =>
    containers.map((container) => ({
      ...container,
      command: ['bash', '-c', `"$@" && { ${usage}; } > /dev/termination-log`, 'metered', ...container.command],
    }));
  return {
    ...pod,
    spec: {
      ...spec,
      containers: wrapped(spec['containers'] ?? []),
      ...(spec['initContainers'] !== undefined && { initContainers: wrapped(spec['initContainers']) }),
    },
  };
}

function inSeconds(text: string): number {
  const [, unit, number] = /^(us )?(\d+)\s*$/.exec(text) ?? [];
  if (number === undefined) throw new Error(`${JSON.stringify(text)} is no processor time`);
  return Number(number) / (unit === undefined ? 1e9 : 1e6);
}

interface State {
  readonly terminated?: { readonly startedAt: string; readonly finishedAt: string; readonly message?: string };
  readonly running?: { readonly startedAt: string };
}

function statesOf(pod: StoredObject): State[] {
  const { initContainerStatuses = [], containerStatuses = [] } = (pod['status'] ?? {}) as Record<
    string,
    { state?: State }[] | undefined
  >;
  return [...initContainerStatuses, ...containerStatuses].map(({ state = {} }) => state);
}

function wordsOf(pod: StoredObject): string[] {
  return statesOf(pod).map(({ terminated }) => terminated?.message ?? '');
}

/** All containers of a pod together: init containers run one after the other. */
function secondsOf(pod: StoredObject): number {
  const ready = conditionOf(pod, 'Ready')?.lastTransitionTime ?? '';
  return statesOf(pod)
    .map(({ terminated, running }) =>
      terminated === undefined
        ? between(running?.startedAt ?? ready, ready)
        : between(terminated.startedAt, terminated.finishedAt),
    )
    .reduce((sum, one) => sum + one, 0);
}

function between(from: string, to: string): number {
  return (parseTimestamp(to) - parseTimestamp(from)) / 1000;
}
