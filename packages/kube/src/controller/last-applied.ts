import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Cache } from '../cache/cache.ts';
import type { Kind, KubeObject, StoredObject } from '../objects/objects.ts';

/**
 * Remembers the configuration that a controller applied last, by the cached object that resulted from it. Applying the
 * same configuration again would change nothing while that object is cached, so no request is sent. It lives in memory:
 * after a restart each configuration is applied once.
 */
export class LastAppliedCache {
  /** Digests, so that no Secret's content is kept. The entry of an object goes with the object. */
  readonly #digests = new WeakMap<StoredObject, string>();

  /** `kinds` are the kinds of the objects that are applied. */
  constructor(cache: Cache, kinds: Iterable<Kind>) {
    for (const kind of kinds) {
      cache.onChange(kind, ({ object, old }) => {
        if (old === undefined) return;
        const digest = this.#digests.get(old);
        if (digest !== undefined && isStatusUpdate(old, object)) this.#digests.set(object, digest);
      });
    }
  }

  /** The server answered an apply; `cached` is the object as cached, which may be newer than the answer. */
  record(applied: KubeObject, answer: StoredObject, cached: StoredObject): void {
    const same = cached.metadata.resourceVersion === answer.metadata.resourceVersion;
    if (same || isStatusUpdate(answer, cached)) this.#digests.set(cached, digestOf(applied));
  }

  /** Whether this cached object resulted from applying the same configuration. */
  has(configuration: KubeObject, live: StoredObject): boolean {
    return this.#digests.get(live) === digestOf(configuration);
  }
}

function digestOf(configuration: KubeObject): string {
  return hash('sha256', JSON.stringify(configuration), 'base64');
}

/**
 * Whether nothing but the status changed. The server counts other changes by `metadata.generation`; for kinds without a
 * generation the answer is no.
 */
function isStatusUpdate({ metadata: before }: StoredObject, { metadata: after }: StoredObject): boolean {
  const fields = ['uid', 'labels', 'annotations', 'ownerReferences', 'finalizers', 'deletionTimestamp'] as const;
  return (
    after.generation !== undefined &&
    after.generation === before.generation &&
    fields.every((field) => isDeepStrictEqual(after[field], before[field]))
  );
}
