import { abortScope } from '../base/abort.ts';
import { type Clock, realClock, sleep } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { type Random, realRandom } from '../base/random.ts';
import { TimeSlice } from '../base/time-slice.ts';
import { Cache } from '../cache/cache.ts';
import type { Client } from '../client/api.ts';
import { guardedClient } from '../leader-election/guarded-client.ts';
import { LeaderElection, type LeaderElectionOptions } from '../leader-election/leader-election.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Health } from '../serve/health.ts';
import { type Controller, ControllerRunner } from './controller.ts';
import { createEventRecorder } from './events.ts';

/** Options of `run`. */
export interface RunOptions {
  /** Field manager, and the controller that events report; such as `example-operator`. */
  readonly name: string;
  readonly controllers: readonly Controller[];
  readonly client: Client;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Default: the machine's. */
  readonly random?: Random;
  readonly log: Log;
  /** Its abortion stops the controllers gracefully. */
  readonly signal: AbortSignal;
  /** Default: no election; the process writes as if it were the only one. */
  readonly leaderElection?: LeaderElectionOptions;
  /** For the lease: with a connection of its own a renewal waits behind no other request (default: `client`). */
  readonly leaseClient?: Client;
  readonly metrics?: Metrics;
  /** Gets the check `caches` of readiness, and the checks `leader-election` and `queues` of life. */
  readonly health?: Health;
  /** Watch namespaced kinds in these only, so that Roles are enough. */
  readonly namespaces?: readonly string[];
  /** Milliseconds that running reconciles get when the process is to stop (20 s: less than a pod's grace period). */
  readonly gracePeriod?: number;
  /** Milliseconds after which every object is looked at again, changed or not (10 hours, as controller-runtime's). */
  readonly resyncPeriod?: number;
  /** Called when the controllers have started. */
  readonly started?: (runtime: Runtime) => void;
}

/** The running controllers, for tests and tools that observe them. */
export interface Runtime {
  readonly cache: Cache;
  /** Whether no key waits for a worker and no reconcile runs. */
  readonly idle: boolean;
  /** Enqueues every object of every controller. */
  resync(): void;
}

/** How often the log says what is still waited for at start, in ms. */
const IMPATIENCE = 30_000;
/** How long events that wait may take to be written when the process stops, in ms. */
const EVENTS = 3000;
/** How long aborted reconciles may take to end, in ms. */
const LAST_MOMENT = 1000;

/**
 * Runs controllers until `signal` is aborted. It fills the caches, acquires the lease, and reconciles. At the end it takes
 * no more keys, lets running reconciles end, and releases the lease.
 * @throws LeadershipLostError when the lease was lost: the process has to end, because another one may write by now
 */
export async function run(options: RunOptions): Promise<void> {
  const { client, clock = realClock, random = realRandom, log, metrics, health, signal, name } = options;
  const { gracePeriod = 20_000, resyncPeriod = 36_000_000 } = options;
  const slice = new TimeSlice(clock);
  const cache = new Cache({
    client,
    slice,
    clock,
    random,
    log,
    ...(options.namespaces ? { namespaces: options.namespaces } : {}),
  });
  const surroundings = { client, clock, random, log, ...(metrics ? { metrics } : {}) };
  const election =
    options.leaderElection &&
    new LeaderElection(options.leaderElection, { ...surroundings, client: options.leaseClient ?? client });
  using requests = abortScope();
  const leadership = election ? { leadership: election } : {};
  const events = createEventRecorder({
    client: guardedClient({ client, cache, clock, signal: requests.signal, ...leadership }),
    clock,
    random,
    log,
    controller: name,
    instance: options.leaderElection?.identity ?? name,
  });
  const runners = options.controllers.map(
    (controller) =>
      new ControllerRunner(controller, { ...surroundings, ...leadership, cache, events, slice, fieldManager: name }),
  );
  const runtime: Runtime = {
    cache,
    get idle() {
      return runners.every(({ queue }) => queue.idle);
    },
    resync: () => {
      for (const runner of runners) runner.resync();
    },
  };
  health?.ready.set('caches', () => waitedFor(cache));
  health?.live.set('leader-election', () => election?.stuck);
  health?.live.set('queues', () => stuckReconcile(runners));

  using stopping = abortScope({ parents: [signal, election?.signal] });
  try {
    cache.start();
    await untilSynced(cache, { clock, log, signal });
    await election?.acquire(signal);
    for (const runner of runners) runner.start();
    log.info('controllers work', { controllers: runners.map(({ controller }) => controller.name) });
    options.started?.(runtime);
    while (!stopping.signal.aborted) {
      await sleep(clock, resyncPeriod * (0.9 + 0.2 * random.next()), stopping.signal).catch(() => {});
      if (!stopping.signal.aborted) runtime.resync();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    const drained = Promise.all(runners.map((runner) => runner.stop()));
    // Whoever lost the lease has no time to give.
    const patience = election?.signal.aborted ? 0 : gracePeriod;
    let ended = await within(clock, patience, drained);
    if (!ended) {
      for (const runner of runners) runner.abort(new Error('the process stops'));
      ended = await within(clock, LAST_MOMENT, drained);
    }
    await within(clock, EVENTS, events.close());
    requests.abort(new Error('the process stops'));
    // A reconcile that still runs might write when somebody else leads already; then the lease has to run out.
    if (ended) await election?.release();
    else
      log.error('a reconcile does not end', {
        controllers: runners.filter((r) => !r.queue.idle).map((r) => r.controller.name),
      });
    await cache.stop();
  }
  if (!signal.aborted) election?.signal.throwIfAborted();
}

/** Whether something ended within so many milliseconds. */
function within(clock: Clock, ms: number, ended: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => resolve(false));
    ended.then(() => resolve(true), reject).finally(() => timer.cancel());
  });
}

async function untilSynced(
  cache: Cache,
  { clock, log, signal }: { readonly clock: Clock; readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  const remind = () => {
    log.warn('waiting for caches', { waitingFor: waitedFor(cache) });
    timer = clock.after(IMPATIENCE, remind);
  };
  let timer = clock.after(IMPATIENCE, remind);
  try {
    await cache.untilSynced(signal);
  } finally {
    timer.cancel();
  }
}

/** Which reconcile still runs although it was aborted long ago. */
function stuckReconcile(runners: readonly ControllerRunner[]): string | undefined {
  const stuck = runners.find(({ queue, controller: { timeout = 300_000 } }) => queue.longest > 3 * timeout);
  return stuck && `${stuck.controller.name}: a reconcile has not ended for ${Math.round(stuck.queue.longest / 1000)} s`;
}

function waitedFor(cache: Cache): string | undefined {
  const unsynced = cache.unsynced();
  if (unsynced.length === 0) return undefined;
  return unsynced
    .map(({ kind, error }) => (error instanceof Error ? `${kind.plural} (${error.message})` : kind.plural))
    .join(', ');
}
