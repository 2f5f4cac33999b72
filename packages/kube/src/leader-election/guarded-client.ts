import { abortScope } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Cache } from '../cache/cache.ts';
import type { Abortable, Client, Permitted } from '../client/api.ts';
import { ConnectionError, isApiError } from '../objects/errors.ts';
import type { Kind, KubeObject, StoredObject } from '../objects/objects.ts';

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

/** The process is no longer the leader and must not write. */
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
  /** Told of each write that the server has accepted. */
  readonly onWrite?: () => void;
}

/** What may end a write, and whether it is none. */
type Tried = Abortable & { readonly dryRun?: boolean };

/** What every attempt of a write is bound to. */
type Terms = Required<Permitted>;

/** Milliseconds after which a write that has no answer is given up, when the lease does not end before. */
const WRITE_TIMEOUT = 30_000;

/**
 * A client for reconcilers: no write is started or tried again without leadership, none outlives the lease, and what the server
 * answers to a write enters the cache, so that the next reconcile reads what this one wrote.
 */
export function guardedClient({ client, cache, clock, leadership, signal, onWrite }: GuardedClientOptions): Client {
  async function write<R>(options: Tried | undefined, send: (terms: Terms) => Promise<R>): Promise<R> {
    const left = leadership?.left() ?? Number.POSITIVE_INFINITY;
    const ms = Math.min(WRITE_TIMEOUT, left);
    using scope = abortScope({
      parents: [signal, leadership?.signal, options?.signal],
      deadline: { clock, ms, reason: () => new ConnectionError('ETIMEDOUT', `no answer to a write within ${ms} ms`) },
    });
    scope.signal.throwIfAborted();
    // A process that stood still while it waited to try again learns from the clock alone that it is too late.
    const answer = await send({ signal: scope.signal, permit: () => leadership?.left() });
    if (options?.dryRun !== true) onWrite?.();
    return answer;
  }

  async function stored<T extends KubeObject>(
    kind: Kind<T>,
    options: Tried | undefined,
    send: (terms: Terms) => Promise<StoredObject<T>>,
  ): Promise<StoredObject<T>> {
    const answer = await write(options, send);
    // A subresource may answer with a kind of its own (Scale, Eviction).
    if (!options?.dryRun && answer.kind === kind.kind) cache.accept(kind, answer);
    return answer;
  }

  return {
    ...client,
    create: (kind, object, options) =>
      stored(kind, options, (terms) => client.create(kind, object, { ...options, ...terms })),
    replace: (kind, object, options) =>
      stored(kind, options, (terms) => client.replace(kind, object, { ...options, ...terms })),
    patch: (kind, ref, type, patch, options) =>
      stored(kind, options, (terms) => client.patch(kind, ref, type, patch, { ...options, ...terms })),
    apply: (kind, object, options) =>
      stored(kind, options, (terms) => client.apply(kind, object, { ...options, ...terms })),
    async delete(kind, ref, options) {
      const known = cache.has(kind) ? cache.get(kind, ref) : undefined;
      const rest = await write(options, (terms) => client.delete(kind, ref, { ...options, ...terms })).catch(
        (error: unknown) => {
          if (isApiError(error, 404) && known) cache.addTombstone(kind, known);
          throw error;
        },
      );
      if (options?.dryRun) return rest;
      if (rest) cache.accept(kind, rest);
      else if (known) cache.addTombstone(kind, known);
      return rest;
    },
    deleteCollection: (kind, options) =>
      write(options, (terms) => client.deleteCollection(kind, { ...options, ...terms })),
  };
}
