import { type Clock, type StoredObject, timestamp } from '@openstack-operator/kube';
import { fieldManager } from '@openstack-operator/openstack';

/** Corrections of one object that follow each other at once: whoever puts something right by hand is answered at once. */
const free = 5;
/** Milliseconds before the next correction: 10 seconds, then doubled up to 10 minutes. */
const waitAfter = (corrections: number) => Math.min(10_000 * 2 ** (corrections - free), 600_000);
/** Milliseconds after which an object that nobody has changed is no longer contended. */
const calm = 1_200_000;

interface Corrections {
  /** The last two different states that were stated: who alternates between them makes no progress. */
  readonly states: readonly string[];
  readonly count: number;
  /** Time of the last one, in ms. */
  readonly at: number;
}

/**
 * How often each object had to be corrected again: somebody changes it back each time (an operator that does not know
 * the record of who manages a resource, another controller). It goes on, but more and more seldom.
 */
export class Contention {
  readonly #corrections = new Map<string, Corrections>();

  /** Milliseconds until the object may be changed to this state again. `now`: in ms, of a clock that nobody sets. */
  wait({ metadata: { uid } }: StoredObject, state: string, now: number): number {
    const known = this.#corrections.get(uid);
    if (known === undefined || !known.states.includes(state) || known.count < free) return 0;
    return Math.max(0, known.at + waitAfter(known.count) - now);
  }

  /** The object was changed to this state at this time, in ms. */
  changed({ metadata: { uid } }: StoredObject, state: string, at: number): void {
    for (const [id, one] of this.#corrections) if (at - one.at > calm) this.#corrections.delete(id);
    const known = this.#corrections.get(uid) ?? { states: [], count: 0, at };
    const again = known.states.includes(state);
    const states = again ? known.states : [...known.states, state].slice(-2);
    this.#corrections.set(uid, { states, count: again ? known.count + 1 : known.count, at });
  }
}

/** Somebody changes an object back each time that it is corrected. */
export class ContendedObjectError extends Error {
  override readonly name = 'ContendedObjectError';
  readonly code = 'CONTENDED_OBJECT';
  /** Milliseconds after which it is corrected again. */
  readonly retryAfter: number;

  /** `live`: as the server has it, with its field managers. The message says no span: it would change all the time. */
  constructor(live: StoredObject, clock: Pick<Clock, 'now'>, retryAfter: number) {
    const again = timestamp({ now: () => clock.now() + retryAfter });
    super(
      `${live.kind} ${live.metadata.name} is changed back each time that it is corrected, last by ${writerOf(live)}; ` +
        `it is corrected again at ${again}. Find out who that is, and stop it, or let it leave this object alone`,
    );
    this.retryAfter = retryAfter;
  }
}

/** Who changed the object last, as far as field managers tell it. */
function writerOf({ metadata }: StoredObject): string {
  const entries = (metadata.managedFields ?? []).filter(({ subresource }) => !subresource);
  const last = entries.reduce<(typeof entries)[number] | undefined>(
    (latest, one) => (latest === undefined || (one.time ?? '') >= (latest.time ?? '') ? one : latest),
    undefined,
  );
  const time = last?.time === undefined ? '' : ` at ${last.time}`;
  if (last?.manager === undefined) return 'somebody unknown';
  return last.manager === fieldManager
    ? `field manager ${last.manager}${time}, as which another operator of clouds writes, too`
    : `field manager ${last.manager}${time}`;
}
