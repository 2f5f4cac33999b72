import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Cache } from './cache.ts';
import type { Kind, KubeObject, StoredObject } from './objects.ts';

/**
 * What a controller has stated by server-side apply, and of which cached object the server said that it is the outcome:
 * as long as that object stands, the same statement would change nothing, and no request is needed to know it. After a
 * restart nothing is remembered, and each statement is made once.
 */
export class Statements {
  /** Digests: a Secret's content is not kept for this. An object that leaves the cache takes its entry along. */
  readonly #outcomes = new WeakMap<StoredObject, string>();

  /** `kinds` are those of which objects are applied. */
  constructor(cache: Cache, kinds: Iterable<Kind>) {
    for (const kind of kinds) {
      cache.onChange(kind, ({ object, old }) => {
        if (old === undefined) return;
        const statement = this.#outcomes.get(old);
        if (statement !== undefined && isOnlyReport(old, object)) this.#outcomes.set(object, statement);
      });
    }
  }

  /** The server gave this answer to a statement; `cached` is what is known of the object, which may be newer already. */
  made(statement: KubeObject, answer: StoredObject, cached: StoredObject): void {
    const same = cached.metadata.resourceVersion === answer.metadata.resourceVersion;
    if (same || isOnlyReport(answer, cached)) this.#outcomes.set(cached, digestOf(statement));
  }

  /** Whether this cached object is what the very same statement led to. */
  stands(statement: KubeObject, live: StoredObject): boolean {
    return this.#outcomes.get(live) === digestOf(statement);
  }
}

function digestOf(statement: KubeObject): string {
  return hash('sha256', JSON.stringify(statement), 'base64');
}

/**
 * Whether a change says how it goes (the status) and leaves what was asked for as it was. The server counts changes of
 * that by `metadata.generation`; of kinds that it does not count, every change may be one.
 */
function isOnlyReport({ metadata: before }: StoredObject, { metadata: after }: StoredObject): boolean {
  const stated = ['uid', 'labels', 'annotations', 'ownerReferences', 'finalizers', 'deletionTimestamp'] as const;
  return (
    after.generation !== undefined &&
    after.generation === before.generation &&
    stated.every((field) => isDeepStrictEqual(after[field], before[field]))
  );
}
