/** Milliseconds after which a failure that should pass by itself is told. An API server that restarts is back by then. */
const long = 300_000;

/**
 * Since when writes of each step have failed without a break. The first failures of a step that is done are not worth
 * a word, such as a server that does not answer for a moment; those that never end are.
 */
export class FailingSteps {
  readonly #since = new Map<string, ReadonlyMap<string, number>>();

  /**
   * Notes the steps that failed in a reconcile, and forgets the others.
   * @param now milliseconds of a clock that nobody sets
   * @returns the steps that have failed for longer than five minutes
   */
  lasting(resource: string, failed: Iterable<string>, now: number): ReadonlySet<string> {
    const before = this.#since.get(resource);
    const since = new Map([...failed].map((step) => [step, before?.get(step) ?? now]));
    if (since.size === 0) this.#since.delete(resource);
    else this.#since.set(resource, since);
    return new Set([...since].flatMap(([step, at]) => (now - at >= long ? [step] : [])));
  }

  /** The resource is gone, or nothing of it is tried for now: what fails after that fails for the first time. */
  forget(resource: string): void {
    this.#since.delete(resource);
  }
}
