import { isDeepStrictEqual } from 'node:util';
import type { OperatorSurroundings, Surroundings } from '@openstack-operator/openstack';

/** Surroundings that note what is asked of them. */
export interface Recorded {
  readonly surroundings: Surroundings;
  /**
   * Whether other surroundings give the same answers to all that was asked so far. If so, it keeps these: objects that are
   * equal to the cached ones, but not the same, would stay in memory once for each resource.
   */
  readonly isSame: (now: Surroundings) => boolean;
}

const constants = [
  'operatorImage',
  'formerOperatorImage',
  'clusterDomain',
  'release',
  'digestKeyId',
] as const satisfies (keyof OperatorSurroundings)[];

type Question = (...parameters: readonly unknown[]) => unknown;

interface Asked {
  readonly name: string;
  readonly parameters: readonly unknown[];
  answer: unknown;
}

/** The same surroundings; what is asked of them is noted, and not asked twice. */
export function recorded(surroundings: Surroundings): Recorded {
  const asked = new Map<string, Asked>();
  const stated = constants.map((name) => surroundings[name]);
  const entries = Object.entries(surroundings).map(([name, value]: [string, unknown]): [string, unknown] => {
    if (typeof value !== 'function') return [name, value];
    const question = value as Question;
    const noted: Question = (...parameters) => {
      const id = JSON.stringify([name, ...parameters.map(idOf)]);
      const known = asked.get(id);
      if (known !== undefined) return known.answer;
      const answer = question(...parameters);
      asked.set(id, { name, parameters, answer });
      return answer;
    };
    return [name, noted];
  });
  return {
    surroundings: Object.fromEntries(entries) as unknown as Surroundings,
    isSame(now) {
      if (
        !isDeepStrictEqual(
          constants.map((name) => now[name]),
          stated,
        )
      )
        return false;
      const answers: unknown[] = [];
      for (const { name, parameters, answer } of asked.values()) {
        const question = now[name as keyof Surroundings] as Question;
        const present = question(...parameters);
        if (!isDeepStrictEqual(present, answer)) return false;
        answers.push(present);
      }
      for (const [index, one] of [...asked.values()].entries()) one.answer = answers[index];
      return true;
    },
  };
}

/** A parameter that is an object is the one of its uid. */
function idOf(parameter: unknown): unknown {
  const { uid } = (parameter as { metadata?: { uid?: string } }).metadata ?? {};
  return uid ?? parameter;
}
