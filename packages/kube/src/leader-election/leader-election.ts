import { abortScope } from '../base/abort.ts';
import { type Clock, microTimestamp, sleep, type Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Client } from '../client/api.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { ConnectionError, isApiError } from '../objects/errors.ts';
import { Lease } from '../objects/kinds.ts';
import type { StoredObject } from '../objects/objects.ts';
import { type Leadership, LeadershipLostError } from './guarded-client.ts';

/** Which lease, and for how long; times in ms with client-go's defaults. */
export interface LeaderElectionOptions {
  readonly namespace: string;
  readonly name: string;
  /** Differs between all candidates, also between two lives of one pod: host name and something random. */
  readonly identity: string;
  /** How long others wait without a sign of life (15 s). */
  readonly leaseDuration?: number;
  /** How long the leader goes on without having renewed (10 s). */
  readonly renewDeadline?: number;
  /** Between two attempts (2 s). */
  readonly retryPeriod?: number;
}

/** What an election needs of its surroundings. */
export interface LeaderElectionSurroundings {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics?: Metrics;
}

/** By both clocks. */
type Moment = Record<'now' | 'monotonic', number>;

type LeaseSpec = NonNullable<Lease['spec']>;

/**
 * Leadership by a `coordination.k8s.io/v1` Lease, as client-go's, which other candidates may be.
 *
 * Times that others wrote are never compared with our clock, only whether the lease changed: clocks may differ. Our own
 * time counts from the moment a renewal was *sent*; after `renewDeadline` no write may be started and those that run
 * are aborted, `leaseDuration - renewDeadline` before anybody else may begin. The deadline is kept by a timer, and before
 * each write by the clock, which a blocked event loop does not stop.
 */
export class LeaderElection implements Leadership {
  readonly #options: Required<LeaderElectionOptions>;
  readonly #surroundings: LeaderElectionSurroundings;
  readonly #lost = new AbortController();
  readonly #stopped = new AbortController();
  #leading = false;
  #renewed: Moment = { now: 0, monotonic: 0 };
  #watchdog: Timer | undefined;
  /** The lease as it was seen last, and whether it has not changed for as long as its holder asked for. */
  #seen: StoredObject<Lease> | undefined;
  #expired = false;
  #expiry: Timer | undefined;
  #renewing: Promise<void> = Promise.resolve();
  /** When the lease was asked for last, by the monotonic clock; undefined while nobody wants it. */
  #attempted: number | undefined;

  constructor(options: LeaderElectionOptions, surroundings: LeaderElectionSurroundings) {
    this.#options = { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2000, ...options };
    this.#surroundings = surroundings;
    const { leaseDuration, renewDeadline, retryPeriod } = this.#options;
    if (!(leaseDuration > renewDeadline && renewDeadline > 1.2 * retryPeriod && retryPeriod > 0)) {
      throw new RangeError(
        `leader election: leaseDuration (${leaseDuration} ms) must exceed renewDeadline (${renewDeadline} ms), ` +
          `which must exceed 1.2 * retryPeriod (${retryPeriod} ms)`,
      );
    }
    surroundings.metrics?.leader(options.name, false);
  }

  /** Aborted when leadership is lost or given back. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  get leading(): boolean {
    return this.#leading;
  }

  /** Who held the lease when it was seen last. */
  get holder(): string {
    return this.#seen?.spec?.holderIdentity ?? '';
  }

  /** What is wrong when the lease has not been asked for much longer than it should be: for a health check. */
  get stuck(): string | undefined {
    if (this.#attempted === undefined || this.#stopped.signal.aborted) return undefined;
    const { leaseDuration } = this.#options;
    const passed = this.#surroundings.clock.monotonic() - this.#attempted;
    return passed > 4 * leaseDuration ? `the lease was not asked for in ${Math.round(passed / 1000)} s` : undefined;
  }

  left(): number {
    const { renewDeadline, leaseDuration } = this.#options;
    const passed = this.#sinceRenewal();
    if (this.#leading && passed >= renewDeadline) this.#lose('the lease was not renewed in time');
    if (!this.#leading) throw new LeadershipLostError('this process does not hold the lease; nothing may be written');
    return leaseDuration - passed;
  }

  /** Resolves when this process leads, which it does until `signal` is aborted. @throws the reason of `stop` */
  async acquire(stop?: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#surroundings;
    const { retryPeriod, name, identity } = this.#options;
    let told = '';
    try {
      while (!(await this.#attempt(stop))) {
        if (this.holder !== told) log.info('another process leads', { lease: name, holder: this.holder });
        told = this.holder;
        await sleep(clock, retryPeriod * (1 + 1.2 * random.next()), stop);
      }
    } finally {
      this.#expiry?.cancel();
    }
    log.info('this process leads', { lease: name, identity });
    this.#renewing = this.#renew();
  }

  /** Gives the lease back, so that another candidate need not wait. All that leadership protects must have ended. */
  async release(): Promise<void> {
    const wasLeading = this.#leading;
    this.#stopped.abort(new Error('leadership was given back'));
    await this.#renewing;
    if (!wasLeading || !this.#leading || !this.#seen) return;
    const { clock, client, log, metrics } = this.#surroundings;
    this.#endLeading(new LeadershipLostError('leadership was given back'));
    metrics?.leader(this.#options.name, false);
    const now = microTimestamp(clock);
    const spec = { ...this.#seen.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    try {
      using scope = this.#timeLimit();
      await client.replace(Lease, { ...this.#seen, spec }, { signal: scope.signal });
    } catch (error) {
      log.info('the lease could not be given back; it runs out by itself', { error });
    }
  }

  async #renew(): Promise<void> {
    const { clock, log } = this.#surroundings;
    const stop = this.#stopped.signal;
    while (this.#leading && !stop.aborted) {
      await sleep(clock, this.#options.retryPeriod, stop).catch(() => {});
      if (stop.aborted || !this.#leading) return;
      if (await this.#attempt()) continue;
      if (this.#leading && this.holder !== this.#options.identity) this.#lose(`"${this.holder}" holds the lease`);
      else log.warn('the lease could not be renewed', { left: this.#options.renewDeadline - this.#sinceRenewal() });
    }
  }

  /** Tries to take or renew the lease; false when another one has it, or the server does not say. */
  async #attempt(stop?: AbortSignal): Promise<boolean> {
    const { client, clock, log } = this.#surroundings;
    const { namespace, name, identity } = this.#options;
    const begun = { now: clock.now(), monotonic: clock.monotonic() };
    this.#attempted = begun.monotonic;
    using scope = this.#timeLimit(stop);
    const { signal } = scope;
    try {
      // While leading, what we wrote last is most likely what is there: one request instead of two.
      const lease = this.#leading && this.#seen ? this.#seen : await this.#look(signal);
      if (lease && this.#isHeldByAnother(lease)) return false;
      const written = lease
        ? await client.replace(Lease, { ...lease, spec: this.#claim(lease.spec) }, { signal })
        : await client.create(Lease, { ...LEASE, metadata: { namespace, name }, spec: this.#claim() }, { signal });
      this.#seen = written;
      this.#lead(begun);
      return true;
    } catch (error) {
      if (stop?.aborted) throw error;
      if (isApiError(error, 409)) {
        // Somebody else was faster: see who, so that a lost lease is known at once.
        await this.#look(signal).catch(() => {});
        return false;
      }
      log.warn('the lease could not be read or written', { lease: name, identity, error });
      return false;
    }
  }

  async #look(signal: AbortSignal): Promise<StoredObject<Lease> | undefined> {
    const { client, clock } = this.#surroundings;
    const { namespace, name, leaseDuration } = this.#options;
    const lease = await client.get(Lease, { namespace, name }, { signal }).catch((error: unknown) => {
      if (isApiError(error, 404)) return undefined;
      throw error;
    });
    if (lease?.metadata.resourceVersion !== this.#seen?.metadata.resourceVersion) {
      this.#expired = false;
      this.#expiry?.cancel();
      const seconds = lease?.spec?.leaseDurationSeconds;
      this.#expiry = clock.after(seconds === undefined ? leaseDuration : seconds * 1000, () => {
        this.#expired = true;
      });
    }
    this.#seen = lease;
    return lease;
  }

  #isHeldByAnother({ spec }: StoredObject<Lease>): boolean {
    const holder = spec?.holderIdentity ?? '';
    return holder !== '' && holder !== this.#options.identity && !this.#expired;
  }

  #claim(before: LeaseSpec = {}): LeaseSpec {
    const { identity, leaseDuration } = this.#options;
    const now = microTimestamp(this.#surroundings.clock);
    const ours = before.holderIdentity === identity;
    return {
      ...before,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDuration / 1000),
      renewTime: now,
      acquireTime: (ours && before.acquireTime) || now,
      leaseTransitions: (before.leaseTransitions ?? -1) + (ours ? 0 : 1),
    };
  }

  #lead(since: Moment): void {
    const { clock, metrics } = this.#surroundings;
    const { renewDeadline, name } = this.#options;
    if (this.#lost.signal.aborted) return;
    this.#leading = true;
    this.#renewed = since;
    this.#watchdog?.cancel();
    const left = renewDeadline - this.#sinceRenewal();
    this.#watchdog = clock.after(left, () => this.#lose('the lease was not renewed in time'));
    metrics?.leader(name, true);
  }

  /** The monotonic clock is never set back, but stands still while the machine is suspended; the other one goes on. */
  #sinceRenewal(): number {
    const { clock } = this.#surroundings;
    return Math.max(clock.now() - this.#renewed.now, clock.monotonic() - this.#renewed.monotonic);
  }

  #lose(why: string): void {
    if (!this.#leading) return;
    const { log, metrics } = this.#surroundings;
    const { name } = this.#options;
    metrics?.leader(name, false);
    log.error('leadership is lost', { lease: name, why });
    this.#endLeading(new LeadershipLostError(`leadership is lost: ${why}`));
  }

  #endLeading(reason: LeadershipLostError): void {
    this.#leading = false;
    this.#watchdog?.cancel();
    this.#lost.abort(reason);
  }

  /** One hung request must not use up the time in which the lease could be renewed. */
  #timeLimit(stop?: AbortSignal) {
    const ms = this.#options.renewDeadline / 2;
    return abortScope({
      parents: [stop],
      deadline: {
        clock: this.#surroundings.clock,
        ms,
        reason: () => new ConnectionError('ETIMEDOUT', `no answer about the lease within ${ms / 1000} s`),
      },
    });
  }
}

const LEASE = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' } as const;
