import { abortScope } from './abort.ts';
import type { Abortable, Client } from './api.ts';
import type { Cache } from './cache.ts';
import type { Clock } from './clock.ts';
import { ConnectionError, isApiError } from './errors.ts';
import type { Kind, KubeObject, StoredObject } from './objects.ts';

/** The right to write, for as long as it lasts. */
export interface Leadership {
  /** Aborted when the right is lost; every request of a leader carries it. */
  readonly signal: AbortSignal;
  /**
   * Milliseconds until somebody else may be leader.
   * @throws LeadershipLostError when no write may be started any more
   */
  left(): number;
}

/** This process is not the leader any more: nothing may be written. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';
  readonly code = 'LEADERSHIP_LOST';
}

/** How a guarded client is made. */
export interface GuardedClientOptions {
  readonly client: Client;
  readonly cache: Cache;
  readonly clock: Clock;
  /** Without it everybody may write. */
  readonly leadership?: Leadership;
  /** Ends every request. */
  readonly signal: AbortSignal;
}

/** Milliseconds after which a write that has no answer is given up, when the lease does not end before. */
const WRITE_TIMEOUT = 30_000;

/**
 * A client for reconcilers: no write is started without leadership, none outlives the lease, and what the server
 * answers to a write enters the cache, so that the next pass reads what this one wrote.
 */
export function guardedClient({ client, cache, clock, leadership, signal }: GuardedClientOptions): Client {
  async function write<R>(options: Abortable | undefined, send: (signal: AbortSignal) => Promise<R>): Promise<R> {
    const left = leadership?.left() ?? Number.POSITIVE_INFINITY;
    const ms = Math.min(WRITE_TIMEOUT, left);
    using scope = abortScope({
      parents: [signal, leadership?.signal, options?.signal],
      deadline: { clock, ms, reason: () => new ConnectionError('ETIMEDOUT', `no answer to a write within ${ms} ms`) },
    });
    scope.signal.throwIfAborted();
    return await send(scope.signal);
  }

  async function stored<T extends KubeObject>(
    kind: Kind<T>,
    options: (Abortable & { dryRun?: boolean }) | undefined,
    send: (signal: AbortSignal) => Promise<StoredObject<T>>,
  ): Promise<StoredObject<T>> {
    const answer = await write(options, send);
    // A subresource may answer with a kind of its own (Scale, Eviction).
    if (!options?.dryRun && answer.kind === kind.kind) cache.accept(kind, answer);
    return answer;
  }

  return {
    ...client,
    create: (kind, object, options) =>
      stored(kind, options, (signal) => client.create(kind, object, { ...options, signal })),
    replace: (kind, object, options) =>
      stored(kind, options, (signal) => client.replace(kind, object, { ...options, signal })),
    patch: (kind, ref, type, patch, options) =>
      stored(kind, options, (signal) => client.patch(kind, ref, type, patch, { ...options, signal })),
    apply: (kind, object, options) =>
      stored(kind, options, (signal) => client.apply(kind, object, { ...options, signal })),
    async delete(kind, ref, options) {
      const known = cache.has(kind) ? cache.get(kind, ref) : undefined;
      const rest = await write(options, (signal) => client.delete(kind, ref, { ...options, signal })).catch(
        (error: unknown) => {
          if (isApiError(error, 404) && known) cache.bury(kind, known);
          throw error;
        },
      );
      if (options?.dryRun) return rest;
      if (rest) cache.accept(kind, rest);
      else if (known) cache.bury(kind, known);
      return rest;
    },
    deleteCollection: (kind, options) =>
      write(options, (signal) => client.deleteCollection(kind, { ...options, signal })),
  };
}
