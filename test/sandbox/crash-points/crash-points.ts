import { seededRandom } from '@openstack-operator/kube';
import type { Phase } from './life.ts';
import { type Account, live, type Point } from './live.ts';

/** How many points were covered, by how many lives. */
export interface Coverage {
  readonly points: number;
  /** Lives with many deaths. */
  readonly chains: number;
  /** Lives with one. */
  readonly single: number;
}

/**
 * Kills the operator at every one of these points of an undisturbed life. One life holds many deaths: each but the first
 * comes when the operator, started anew, has made two writes of the undisturbed life, or has nothing more to do and all
 * objects are as at such a moment of that life. All that an operator knows is in objects, so that it is the first death
 * of the operator that dies, and an earlier one that had broken anything would have left other objects: at the end of
 * the phase, where they are compared. A life ends at such a rest when nothing that comes later is left to be tried.
 *
 * What only a life of one death can show is what a second start mends: for that there is `killAt`.
 *
 * Points that no such life comes past (a started operator may write in another order) have a life of their own.
 */
export async function killEverywhere(
  phases: readonly Phase[],
  undisturbed: Account,
  points: readonly Point[] = undisturbed.points,
): Promise<Coverage> {
  const open = new Set(points);
  const burst = (point: Point) => undisturbed.bursts.get(point) ?? 0;
  let chains = 0;
  for (let before = -1; open.size > 0 && before !== open.size; chains++) {
    before = open.size;
    await live(upTo(phases, [...open]), {
      undisturbed,
      strikes: (point, recovered) => recovered && open.delete(point),
      enough: (last) => [...open].every((point) => burst(point) <= burst(last)),
    });
  }
  const single = open.size;
  for (const point of open) await killAt(point, phases, undisturbed);
  return { points: points.length, chains, single };
}

/** A life with one death. */
export async function killAt(point: Point, phases: readonly Phase[], undisturbed: Account): Promise<void> {
  let open = true;
  const strikes = (now: Point) => {
    if (!open || now !== point) return false;
    open = false;
    return true;
  };
  await live(upTo(phases, [point]), { undisturbed, strikes });
  if (open) throw new Error(`the life never came to its point: ${point}`);
}

/** The phases up to the last one that has one of these points. */
function upTo(phases: readonly Phase[], points: readonly Point[]): readonly Phase[] {
  const last = phases.findLastIndex(({ name }) => points.some((point) => point.startsWith(`${name}: `)));
  return phases.slice(0, Math.max(0, last) + 1);
}

/** So many of the points, the same in every run. */
export function sample(points: readonly Point[], count: number): readonly Point[] {
  const random = seededRandom(1);
  return points
    .map((point) => ({ point, order: random.next() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ point }) => point);
}
