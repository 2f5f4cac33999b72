import { type Failure, saysSo } from './failure.ts';
import { type Outcome, provoke, readObjects, remove, type Stage } from './provoke.ts';

/** What counts of an outcome; undefined fields are those that the failure does not speak of. */
export interface Seen {
  readonly how: string;
  readonly exitCode: number | undefined;
  /** The essential words; what was said instead where they are missing. */
  readonly says: string;
}

/** A failure that was provoked. */
export interface Provoked {
  readonly what: string;
  readonly seen: Seen;
  /** Absent when it did not come about. */
  readonly outcome?: Outcome;
}

/** What the failure is expected to be seen as. */
export function expected({ ends, starts, ask, says }: Failure): Seen {
  const how = ends !== undefined ? 'ended' : starts === false ? 'never started' : ask !== undefined ? 'ready' : 'runs';
  return { how, exitCode: ends, says };
}

/** How many copies run at once: each costs the processor of a start. */
const width = 5;

/** Provokes failures, some at a time, in their order. */
export async function provokeAll(stage: Stage, failures: readonly Failure[], seconds?: number): Promise<Provoked[]> {
  await remove(stage);
  const objects = await readObjects(stage);
  const queue = [...failures.entries()];
  const results: Provoked[] = [];
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, failure] = next;
      results[index] = await provoke(stage, failure, objects, {
        id: `failure-${index}`,
        ...(seconds !== undefined && { seconds }),
      })
        .then((outcome) => ({ what: failure.what, seen: seen(failure, outcome), outcome }))
        .catch((error: unknown) => ({
          what: failure.what,
          seen: { how: 'not provoked', exitCode: undefined, says: String(error) },
        }));
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, failures.length) }, lane));
  return results;
}

function seen(failure: Failure, { how, exitCode, said }: Outcome): Seen {
  // Whether it counts as ready while it complains is up to its probes.
  const state = expected(failure).how === 'runs' && ['ready', 'not ready'].includes(how) ? 'runs' : how;
  return { how: state, exitCode, says: saysSo(failure, said) ? failure.says : said.split('\n').slice(-8).join('\n') };
}
