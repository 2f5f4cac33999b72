import { seededRandom } from '@openstack-operator/kube';
import { type CloudName, clouds } from './clouds.ts';
import { faults } from './faults.ts';

/** One thing that goes wrong. */
export interface Incident {
  /** A name of `faults`. */
  readonly fault: string;
  /** Milliseconds after the control plane was created. */
  readonly at: number;
  readonly lasts: number;
  /** What chance decides within it: the same, whatever other incidents there are. */
  readonly seed: number;
}

/** All that goes wrong in the life of one cloud. */
export interface Schedule {
  readonly seed: number;
  readonly cloud: CloudName;
  readonly incidents: readonly Incident[];
}

/** Milliseconds in which things go wrong: the rollout, a change of the resource, some time at rest. */
export const troubled = 90_000;
/** Milliseconds that one thing goes wrong, at most. */
export const longest = 30_000;

/** The schedule of a seed. */
export function scheduleOf(seed: number): Schedule {
  const random = seededRandom(seed);
  const between = (least: number, most: number) => Math.floor(least + random.next() * (most - least));
  const weights = Object.entries(clouds).map(([name, { weight }]) => ({ name: name as CloudName, weight }));
  let left = random.next() * weights.reduce((sum, { weight }) => sum + weight, 0);
  const cloud = weights.find(({ weight }) => (left -= weight) < 0)?.name ?? 'database';
  const names = Object.keys(faults);
  const incidents = Array.from({ length: between(1, 9) }, (_, index) => ({
    fault: names[between(0, names.length)] as string,
    at: between(0, troubled),
    lasts: between(500, longest),
    seed: seed * 100 + index,
  }));
  return { seed, cloud, incidents: incidents.sort((a, b) => a.at - b.at) };
}

/** One line for each incident. */
export function described({ seed, cloud, incidents }: Schedule): string {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  return [
    `seed ${seed}, cloud "${cloud}":`,
    ...incidents.map(({ fault, at, lasts }) => `  at ${seconds(at)} for ${seconds(lasts)}: ${fault}`),
  ].join('\n');
}

/**
 * The least of a schedule that still fails: incidents are left out, then shortened, as long as it does.
 * `fails` plays a schedule.
 */
export async function shrink(schedule: Schedule, fails: (smaller: Schedule) => Promise<boolean>): Promise<Schedule> {
  let least = schedule;
  for (let index = least.incidents.length - 1; index >= 0; index--) {
    const fewer = { ...least, incidents: least.incidents.filter((_, at) => at !== index) };
    if (await fails(fewer)) least = fewer;
  }
  for (let index = 0; index < least.incidents.length; index++) {
    for (;;) {
      const incidents = least.incidents.map((one, at) =>
        at === index ? { ...one, lasts: Math.floor(one.lasts / 2) } : one,
      );
      if ((incidents[index]?.lasts ?? 0) < 500 || !(await fails({ ...least, incidents }))) break;
      least = { ...least, incidents };
    }
  }
  return least;
}
