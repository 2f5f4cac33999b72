import { abortScope } from './abort.ts';
import type { Client } from './api.ts';
import { Cache } from './cache.ts';
import { type Clock, sleep } from './clock.ts';
import { type Controller, ControllerRunner } from './controller.ts';
import { createEventRecorder } from './events.ts';
import { guardedClient } from './guarded-client.ts';
import type { Health } from './health.ts';
import { LeaderElection, type LeaderElectionOptions } from './leader-election.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Random } from './random.ts';
import { TimeSlice } from './time-slice.ts';

/** What `run` needs. */
export interface RunOptions {
  /** Field manager, and the controller that events report; such as `example-operator`. */
  readonly name: string;
  readonly controllers: readonly Controller[];
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Aborted: stop gracefully. */
  readonly signal: AbortSignal;
  /** Without it this process writes as if it were alone. */
  readonly leaderElection?: LeaderElectionOptions;
  /** For the lease: with a connection of its own a renewal waits behind no other request (default: `client`). */
  readonly leaseClient?: Client;
  readonly metrics?: Metrics;
  /** Gets the check `caches` of readiness, and the checks `leader-election` and `queues` of life. */
  readonly health?: Health;
  /** Follow namespaced kinds in these only, so that Roles are enough. */
  readonly namespaces?: readonly string[];
  /** Milliseconds that running passes get when the process is to stop (20 s: less than a pod's grace period). */
  readonly gracePeriod?: number;
  /** Milliseconds after which every object is looked at again, changed or not (10 hours, as controller-runtime's). */
  readonly resyncPeriod?: number;
  /** Told when the controllers have begun to work. */
  readonly started?: (runtime: Runtime) => void;
}

/** The inside of a `run`, for who watches it (tests, a rehearsal, a console). */
export interface Runtime {
  readonly cache: Cache;
  /** Whether no key waits for a worker and no pass runs. */
  readonly idle: boolean;
  /** Wakes every object of every controller. */
  resync(): void;
}

/** How often the log says what is still waited for at start, in ms. */
const IMPATIENCE = 30_000;
/** How long events that wait may take to be written when the process stops, in ms. */
const EVENTS = 3000;
/** How long aborted passes may take to notice, in ms. */
const LAST_MOMENT = 1000;

/**
 * Runs controllers until `signal` is aborted: fills the caches, becomes leader, works; then takes no more keys, lets
 * the running passes end, gives the lease back.
 * @throws LeadershipLostError when the lease was lost: end the process, as whatever it still does is too late
 */
export async function run(options: RunOptions): Promise<void> {
  const { client, clock, random, log, metrics, health, signal, name } = options;
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
  health?.live.set('queues', () => stuckPass(runners));

  using stopping = abortScope({ parents: [signal, election?.signal] });
  try {
    cache.start();
    await untilSynced(cache, options);
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
    // A pass that still runs might write when somebody else leads already; then the lease has to run out.
    if (ended) await election?.release();
    else
      log.error('a pass does not end', {
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

async function untilSynced(cache: Cache, { clock, log, signal }: RunOptions): Promise<void> {
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

/** Which pass goes on although it was aborted long ago. */
function stuckPass(runners: readonly ControllerRunner[]): string | undefined {
  const stuck = runners.find(({ queue, controller: { timeout = 300_000 } }) => queue.longest > 3 * timeout);
  return stuck && `${stuck.controller.name}: a pass does not end, for ${Math.round(stuck.queue.longest / 1000)} s`;
}

function waitedFor(cache: Cache): string | undefined {
  const unsynced = cache.unsynced();
  if (unsynced.length === 0) return undefined;
  return unsynced
    .map(({ kind, error }) => (error instanceof Error ? `${kind.plural} (${error.message})` : kind.plural))
    .join(', ');
}
