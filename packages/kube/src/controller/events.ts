import { hash } from 'node:crypto';
import { type Clock, microTimestamp, type Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import { createSemaphore } from '../base/semaphore.ts';
import type { Client } from '../client/api.ts';
import { defineKind, type StoredObject } from '../objects/objects.ts';

/** The text of an event. */
export interface EventText {
  readonly type: 'Normal' | 'Warning';
  /** Why, in one CamelCase word of an enumerated set. */
  readonly reason: string;
  /** What was done or failed, in one CamelCase word. */
  readonly action: string;
  /** For people; what is beyond 1 KiB is cut. */
  readonly note: string;
}

/** Records events. The caller decides what is worth one: transitions, not states. */
export interface EventRecorder {
  /** Returns at once and never throws: an event that cannot be written is dropped, and the log says so. */
  record(about: StoredObject, text: EventText): void;
  /** Writes what is still counted, and ends. */
  close(): Promise<void>;
}

/** Options of `createEventRecorder`. */
export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** `reportingController`, such as `example.org/operator`. */
  readonly controller: string;
  /** `reportingInstance`: which process. */
  readonly instance: string;
}

const EventKind = defineKind('events.k8s.io/v1', 'Event', 'events');

/** Repetitions are written at most this often, in ms. */
const SERIES_EVERY = 60_000;
/** A series is over when nothing came for so long, in ms (client-go's `finishTime`). */
const SERIES_ENDS = 360_000;
/** Events of one object: so many at once, then one every so many ms. */
const RATE = { burst: 50, every: 10_000 };
/** Writes under way at once, and writes that wait or are under way: what comes beyond is dropped. */
const WRITES = { running: 8, most: 1000 };
/** The server's limit of `note` (`events.k8s.io/v1`). */
const NOTE_BYTES = 1024;

interface Series {
  readonly name: string;
  readonly namespace: string;
  count: number;
  /** The count that was sent last. */
  told: number;
  last: { readonly at: number; readonly text: string };
  timer: Timer;
  /** Settled when all that was sent has its answer. */
  written: Promise<unknown>;
}

interface Regarded {
  tokens: number;
  since: number;
  dropped: number;
  readonly series: Map<string, Series>;
}

/**
 * Makes an `EventRecorder` for events.k8s.io/v1. The same event on the same object within six minutes becomes one
 * object with a count (a series); one object gets at most a burst of 50, then one every 10 seconds. A few are written at a time, so that they never take
 * the connection from what matters more; of those that wait, a thousand are kept.
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, clock, random, log, controller, instance } = options;
  const regarded = new Map<string, Regarded>();
  const writing = new Set<Promise<unknown>>();
  const semaphore = createSemaphore(WRITES.running);
  let full = false;

  /** One write of a series after the other: requests that are under way together may arrive in any order. */
  function write(series: Series, send: () => Promise<unknown>): void {
    const sent = series.written
      .then(() => semaphore.acquire())
      .then((end) => send().finally(end))
      .catch((error: unknown) => log.info('an event could not be written', { error }))
      .finally(() => writing.delete(sent));
    series.written = sent;
    writing.add(sent);
  }

  /** Whether there are so many writes that have no answer that no more may wait. */
  function isFull(): boolean {
    const was = full;
    full = writing.size >= WRITES.most;
    if (full && !was)
      log.warn('the API server takes events too slowly; new ones are dropped', { waiting: writing.size });
    return full;
  }

  /** Whether one more event of the object may be written now. */
  function mayWrite(object: Regarded): boolean {
    const earned = Math.floor((clock.monotonic() - object.since) / RATE.every);
    if (object.tokens + earned >= RATE.burst) Object.assign(object, { tokens: RATE.burst, since: clock.monotonic() });
    else Object.assign(object, { tokens: object.tokens + earned, since: object.since + earned * RATE.every });
    if (object.tokens === 0) return false;
    object.tokens--;
    return true;
  }

  function begin(about: StoredObject, text: EventText): Series {
    const { metadata, apiVersion, kind } = about;
    const { namespace, name, uid, resourceVersion } = metadata;
    const suffix = Buffer.from(random.bytes(8)).toString('hex');
    const series: Series = {
      // A cluster-scoped object's events are in `default`, as client-go's.
      namespace: namespace ?? 'default',
      name: `${name.slice(0, 200)}.${suffix}`,
      count: 1,
      told: 1,
      last: { at: clock.monotonic(), text: microTimestamp(clock) },
      timer: { cancel() {} },
      written: Promise.resolve(),
    };
    write(series, () =>
      client.create(EventKind, {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { namespace: series.namespace, name: series.name },
        eventTime: series.last.text,
        reportingController: controller,
        reportingInstance: instance.slice(0, 128),
        type: text.type,
        reason: text.reason,
        action: text.action,
        note: cut(text.note),
        regarding: { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name, uid, resourceVersion },
      }),
    );
    return series;
  }

  function writeCount(series: Series): void {
    if (series.count === series.told || isFull()) return;
    series.told = series.count;
    const { namespace, name, count, last } = series;
    write(series, () =>
      client.patch(EventKind, { namespace, name }, 'merge', { series: { count, lastObservedTime: last.text } }),
    );
  }

  function watch(uid: string, key: string, series: Series): void {
    series.timer = clock.after(
      SERIES_EVERY,
      () => {
        writeCount(series);
        if (clock.monotonic() - series.last.at < SERIES_ENDS) return watch(uid, key, series);
        const object = regarded.get(uid);
        object?.series.delete(key);
        if (object?.series.size === 0) regarded.delete(uid);
      },
      { ref: false },
    );
  }

  function record(about: StoredObject, text: EventText): void {
    const { uid } = about.metadata;
    const object = regarded.get(uid) ?? { tokens: RATE.burst, since: clock.monotonic(), dropped: 0, series: new Map() };
    const key = hash('sha256', JSON.stringify([text.type, text.reason, text.action, text.note]));
    const known = object.series.get(key);
    if (known) {
      known.count++;
      known.last = { at: clock.monotonic(), text: microTimestamp(clock) };
      // The second one makes it a series, which people should see at once; later ones only count.
      if (known.count === 2) writeCount(known);
    } else if (isFull()) {
      return;
    } else if (mayWrite(object)) {
      const series = begin(about, text);
      object.series.set(key, series);
      regarded.set(uid, object);
      watch(uid, key, series);
    } else if (object.dropped++ === 0) {
      log.warn('too many events of one object; some are dropped', { object: about.metadata.name, ...text });
    }
  }

  return {
    record(about, text) {
      try {
        record(about, text);
      } catch (error) {
        log.error('an event could not be made', { error });
      }
    },
    async close() {
      for (const { series } of regarded.values()) {
        for (const one of series.values()) {
          one.timer.cancel();
          writeCount(one);
        }
      }
      regarded.clear();
      await Promise.all(writing);
    },
  };
}

function cut(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= NOTE_BYTES) return note;
  // A character that the cut goes through becomes one replacement character of three bytes; it is taken off.
  return `${bytes
    .subarray(0, NOTE_BYTES - 6)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')}…`;
}
