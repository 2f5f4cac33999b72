import {
  type Client,
  type Clock,
  ConfigMap,
  Event,
  isApiError,
  type Kind,
  type KubeObject,
  Pod,
  Secret,
  Service,
  type StoredObject,
} from '@openstack-operator/kube';
import { conditionOf, kindOf, podWords } from '@openstack-operator/openstack';
import { until } from '../../cloud/until.ts';
import { builtIn } from '../rollout/normalise.ts';
import { type Copies, copiesFor, copyLabel } from './copies.ts';
import { type Failure, saysSo } from './failure.ts';
import { mistaken, type Objects, objectsOf } from './mistakes.ts';

/** A cloud on which failures are provoked. */
export interface Stage {
  readonly client: Client;
  readonly clock: Clock;
  /** Runs a command in the first container of a pod; all that it prints. */
  execute(pod: string, command: readonly string[]): Promise<string>;
}

/** What became of a program with a mistake. */
export interface Outcome {
  readonly how: 'ended' | 'done' | 'never started' | 'not ready' | 'ready';
  readonly exitCode?: number;
  /** What its container has written, or the kubelet of it. */
  readonly said: string;
  /** What a condition would say of its pod. */
  readonly words: string;
  /** From the start of its pod until it was clear. */
  readonly seconds: number;
}

/** Where the cloud is, and the copies beside it. */
export const namespace = 'openstack';

/** How long a program may take until it fails; the longest waits three minutes for OVN. */
const patience = 300;

/** What the operator has made for the cloud in the namespace `openstack`. */
export async function readObjects({ client }: Stage): Promise<Objects> {
  const live: KubeObject[] = [];
  for (const kind of builtIn as readonly Kind[]) {
    if (kind.kind === 'HTTPRoute') continue;
    const { items } = await client.list(kind, { namespace });
    live.push(...items.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/part-of'] === 'openstack'));
  }
  return objectsOf(live.filter(({ metadata }) => metadata.labels?.[copyLabel] === undefined));
}

/** Runs the program with its mistake as a copy, waits until it has failed, and removes the copy. */
export async function provoke(
  stage: Stage,
  failure: Failure,
  objects: Objects,
  { id, seconds = patience }: { id: string; seconds?: number },
): Promise<Outcome> {
  const { client, clock } = stage;
  const copies = copiesFor(failure, objects, mistaken(objects, failure), id);
  await remove(stage, id);
  try {
    const watched = await begin(stage, copies);
    await client.create(Pod, watched as Pod);
    const begun = clock.now();
    const outcome = await until({
      what: `${failure.what}: ${watched.metadata.name} to fail`,
      seconds,
      clock,
      probe: () => judge(stage, failure, watched),
      explain: async () => (await saidBy(client, await read(client, watched))).split('\n').slice(-40).join('\n'),
    });
    return { ...outcome, seconds: (clock.now() - begun) / 1000 };
  } finally {
    await remove(stage, id);
  }
}

/** Makes all of the copies but the pod that is watched, in their order; gives that pod. */
export async function begin({ client, clock }: Stage, { objects, pods }: Copies): Promise<KubeObject> {
  for (const object of objects) await client.create(kindOf(object), object);
  for (const pod of pods.slice(0, -1)) {
    await client.create(Pod, pod as Pod);
    await until({
      what: `${pod.metadata.name} to be ready or done`,
      seconds: patience,
      clock,
      probe: async () => {
        const now = await read(client, pod);
        const { phase } = (now['status'] ?? {}) as { phase?: string };
        if (phase === 'Failed') throw new Error(`${pod.metadata.name} failed: ${podWords(now, () => undefined)}`);
        // Before it is done, a Job's pod is ready as well: one with probes serves.
        const serves = JSON.stringify(pod['spec']).includes('"readinessProbe"');
        return phase === 'Succeeded' || (serves && conditionOf(now, 'Ready')?.status === 'True') ? true : undefined;
      },
    });
  }
  const watched = pods.at(-1);
  if (watched === undefined) throw new Error('copies without a pod');
  return watched;
}

function read(client: Client, { metadata: { name = '' } }: KubeObject): Promise<StoredObject> {
  return client.get(Pod, { namespace, name }) as Promise<StoredObject>;
}

/** Removes all copies, or those of one failure. */
export async function remove({ client, clock }: Stage, id?: string): Promise<void> {
  const labelSelector = id === undefined ? copyLabel : `${copyLabel}=${id}`;
  for (const kind of [Pod, Service, Secret, ConfigMap] as readonly Kind[]) {
    for (const { metadata } of (await client.list(kind, { namespace, labelSelector })).items) {
      const ref = { namespace, name: metadata.name };
      await client.delete(kind, ref, { gracePeriodSeconds: 0 }).catch((error: unknown) => {
        if (!isApiError(error, 404)) throw error;
      });
    }
  }
  await until({
    what: `copies ${id ?? ''} to be gone`,
    seconds: patience,
    clock,
    probe: async () => ((await client.list(Pod, { namespace, labelSelector })).items.length === 0 ? true : undefined),
  });
}

interface ContainerStatus {
  readonly name: string;
  readonly state?: {
    readonly terminated?: { readonly exitCode: number; readonly message?: string };
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: object;
  };
}

function containersOf(pod: StoredObject): ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [] } = (pod['status'] ?? {}) as Record<
    string,
    ContainerStatus[] | undefined
  >;
  return [...initContainerStatuses, ...containerStatuses];
}

/** The outcome, once it is there. */
async function judge(
  stage: Stage,
  failure: Failure,
  watched: KubeObject,
): Promise<Omit<Outcome, 'seconds'> | undefined> {
  const { client } = stage;
  const pod = await read(client, watched);
  const statuses = containersOf(pod);
  const events = await eventsOf(client, pod);
  const unmounted = events.find(({ reason }) => reason === 'FailedMount')?.message;
  const words = podWords(pod, () => unmounted) ?? '';
  const ended = statuses.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  if (ended !== undefined) {
    const { exitCode = 0, message = '' } = ended.state?.terminated ?? {};
    return { how: 'ended', exitCode, words, said: (await logOf(client, pod, ended.name)) || message };
  }
  if ((pod['status'] as { phase?: string } | undefined)?.phase === 'Succeeded') {
    return { how: failure.ends === 0 ? 'ended' : 'done', exitCode: 0, words, said: await saidBy(client, pod) };
  }
  const blocked = statuses.find(({ state }) => /Err|BackOff|Invalid/.test(state?.waiting?.reason ?? ''));
  if (blocked !== undefined || unmounted !== undefined) {
    return { how: 'never started', words, said: blocked?.state?.waiting?.message ?? unmounted ?? '' };
  }
  if (failure.ends !== undefined || failure.starts === false) return undefined;
  const ready = conditionOf(pod, 'Ready')?.status === 'True';
  if (failure.ask !== undefined) {
    if (!ready) return undefined;
    const answer = await stage.execute(pod.metadata.name, failure.ask);
    return { how: 'ready', words, said: `${await saidBy(client, pod)}\n${answer}` };
  }
  const probed = events.filter(({ reason }) => reason === 'Unhealthy').map(({ message }) => message);
  const said = [await saidBy(client, pod), ...probed].join('\n');
  return failure.says !== '' && saysSo(failure, said) ? { how: ready ? 'ready' : 'not ready', words, said } : undefined;
}

async function eventsOf(
  client: Client,
  { metadata }: StoredObject,
): Promise<{ readonly reason: string; readonly message: string }[]> {
  const { items } = await client.list(Event, { namespace, fieldSelector: `involvedObject.uid=${metadata.uid}` });
  return items as unknown as { reason: string; message: string }[];
}

async function saidBy(client: Client, pod: StoredObject): Promise<string> {
  const running = containersOf(pod).filter(({ state }) => state?.running ?? state?.terminated);
  return (await Promise.all(running.map(({ name }) => logOf(client, pod, name)))).join('\n');
}

async function logOf(client: Client, { metadata }: StoredObject, container: string): Promise<string> {
  const lines: string[] = [];
  try {
    for await (const line of client.logs({ namespace, name: metadata.name }, { container })) lines.push(line);
  } catch (error) {
    // A container that could not be created has no log.
    if (!isApiError(error)) throw error;
  }
  return lines.join('\n');
}
