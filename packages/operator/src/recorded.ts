import { isDeepStrictEqual } from 'node:util';
import type { OperatorSurroundings, Surroundings } from '@openstack-operator/openstack';

/** Surroundings that note what is asked of them. */
export interface Recorded {
  readonly surroundings: Surroundings;
  /** Whether other surroundings give the same answers to all that was asked so far. */
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
  readonly answer: unknown;
}

/** The same surroundings; what is asked of them is noted, and not asked twice. */
export function recorded(surroundings: Surroundings): Recorded {
  const asked = new Map<string, Asked>();
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
    isSame: (now) =>
      constants.every((name) => now[name] === surroundings[name]) &&
      asked.values().every(({ name, parameters, answer }) => {
        const question = now[name as keyof Surroundings] as Question;
        return isDeepStrictEqual(question(...parameters), answer);
      }),
  };
}

/** A parameter that is an object is the one of its uid. */
function idOf(parameter: unknown): unknown {
  const { uid } = (parameter as { metadata?: { uid?: string } }).metadata ?? {};
  return uid ?? parameter;
}
