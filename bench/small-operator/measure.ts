import {
  ConfigMap,
  controller,
  Deployment,
  type Kind,
  noLog,
  on,
  type Runtime,
  realClock,
  realRandom,
  run,
  Secret,
  Service,
  sleep,
} from '@openstack-operator/kube';
import type { ApiServer } from '../api-server.ts';
import { type Contestant, startContestant } from '../contestant.ts';
import { peakMemory, processorSeconds } from '../process-usage.ts';
import { countedRequests, type Requests, since, sum } from './requests.ts';
import { isReady, Website, website } from './website.ts';

/** What one run of an operator has found. */
export interface Measured {
  /** Seconds from the first Website to all of them Ready. */
  readonly seconds: number;
  /** Seconds of processor time until the operator rested: its own, the API server's. */
  readonly cpu: number;
  readonly serverCpu: number;
  /** The operator's, in bytes. */
  readonly peak: number;
  readonly requests: Requests;
  /** While nothing happened. */
  readonly idleRequests: Requests;
  readonly idleCpu: number;
}

/** How many, and for how long (seconds). */
export interface Terms {
  readonly websites: number;
  readonly idle: number;
}

const namespace = 'default';
/** Websites that are created at once. */
const CREATIONS = 16;
/** Milliseconds between two looks at what is awaited. */
const LOOK = 250;
/** Milliseconds without a request after which an operator rests. */
const REST = 1500;
/** Seconds for one Website after which a run is given up: more than the slowest, at 20 requests a second, takes. */
const PATIENCE = 2;

/** Runs an operator of this command on a server, which it leaves as it was. */
export async function measure(
  server: ApiServer,
  name: string,
  command: readonly string[],
  { websites, idle }: Terms,
): Promise<Measured> {
  const node = await playNode(server);
  const operator = startContestant(name, command);
  try {
    await operator.said();
    const used = () => ({
      cpu: processorSeconds(operator.pid),
      server: processorSeconds(server.pids.get('kube-apiserver') ?? 0),
    });
    const [before, requests] = [used(), countedRequests(server)];
    const begun = performance.now();
    await createWebsites(server, websites);
    await node.untilReady(websites);
    const seconds = (performance.now() - begun) / 1000;
    await untilAtRest(server);
    const [rested, made] = [used(), countedRequests(server)];
    await sleep(realClock, idle * 1000);
    return {
      seconds,
      cpu: rested.cpu - before.cpu,
      serverCpu: rested.server - before.server,
      peak: peakMemory(operator.pid),
      requests: since(requests, made),
      idleRequests: since(made, countedRequests(server)),
      idleCpu: used().cpu - rested.cpu,
    };
  } finally {
    await stop(operator, node);
    await clean(server);
  }
}

interface PlayedNode {
  untilReady(websites: number): Promise<void>;
  stop(): Promise<void>;
}

/** Says of every Deployment that it is available, as controllers and kubelets would; and follows the Websites. */
async function playNode({ client }: ApiServer): Promise<PlayedNode> {
  const deployments = controller(Deployment, {
    watches: [on(Website, () => [])],
    concurrency: CREATIONS,
    async reconcile({ object: { metadata, spec, status }, client }) {
      const { generation: observedGeneration, namespace, name } = metadata;
      if (observedGeneration === undefined || status?.observedGeneration === observedGeneration) return;
      const replicas = spec?.replicas ?? 1;
      const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
      const ref = { name, ...(namespace === undefined ? {} : { namespace }) };
      const patch = { status: { observedGeneration, ...counts } };
      await client.patch(Deployment, ref, 'merge', patch, { subresource: 'status' });
    },
  });
  const stop = new AbortController();
  const started = Promise.withResolvers<Runtime>();
  const surroundings = { client, clock: realClock, random: realRandom, log: noLog, signal: stop.signal };
  const ended = run({ name: 'node', controllers: [deployments], ...surroundings, started: started.resolve });
  ended.catch(started.reject);
  const { cache } = await started.promise;
  return {
    untilReady(websites) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const ready = () => cache.list(Website).filter(isReady).length;
      const giveUp = () => reject(new Error(`${ready()} of ${websites} Websites are Ready after ${patience} s`));
      const patience = 60 + PATIENCE * websites;
      const timer = realClock.after(patience * 1000, giveUp);
      let left = websites - ready();
      const look = cache.onChange(Website, ({ object, old }) => {
        left += (old !== undefined && isReady(old) ? 1 : 0) - (isReady(object) ? 1 : 0);
        if (left === 0) resolve();
      });
      if (left === 0) resolve();
      return promise.finally(() => {
        timer.cancel();
        look();
      });
    },
    async stop() {
      stop.abort(new Error('the measurement is over'));
      await ended;
    },
  };
}

async function createWebsites({ client }: ApiServer, count: number): Promise<void> {
  let created = 0;
  const work = async () => {
    while (created < count) await client.create(Website, website(namespace, `site-${created++}`));
  };
  await Promise.all(Array.from({ length: CREATIONS }, work));
}

async function untilAtRest(server: ApiServer): Promise<void> {
  let seen = sum(countedRequests(server));
  for (;;) {
    await sleep(realClock, REST);
    const now = sum(countedRequests(server));
    if (now === seen) return;
    seen = now;
  }
}

async function stop(operator: Contestant, node: PlayedNode): Promise<void> {
  await operator.stop();
  await node.stop();
}

/** Nothing collects garbage here. */
async function clean({ client }: ApiServer): Promise<void> {
  const labelled = { namespace, labelSelector: 'app.kubernetes.io/name=website' };
  await client.deleteCollection(Website, { namespace });
  for (const kind of [ConfigMap, Secret, Service, Deployment] as Kind[]) await client.deleteCollection(kind, labelled);
  const left = async () => (await client.list(Website, { namespace, limit: 1 })).items.length;
  while ((await left()) > 0) await sleep(realClock, LOOK);
}
