import { isDeepStrictEqual } from 'node:util';
import { digest, type OperatorSurroundings, type Surroundings } from '@openstack-operator/openstack';

/** Surroundings that note what is asked of them. */
export interface Recorded {
  readonly surroundings: Surroundings;
  /** Whether something was asked until now. */
  readonly wasAsked: (question: keyof Surroundings) => boolean;
  /**
   * Ends the record. Gives whether other surroundings answer all that was asked in the same way. It holds no object that
   * was an answer, as each version of a large spec would stay in memory once for each resource that refers to it.
   */
  readonly seal: () => (now: Surroundings) => boolean;
}

const constants = [
  'operatorImage',
  'formerOperatorImage',
  'clusterDomain',
  'release',
  'members',
  'lasting',
  'remembered',
  'rotated',
  'tls',
  'tlsGeneration',
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
  const stated = constantsOf(surroundings);
  return {
    surroundings: Object.fromEntries(entries) as unknown as Surroundings,
    wasAsked: (question) => [...asked.values()].some(({ name }) => name === question),
    seal() {
      const marks = [...asked.values()].map(
        ({ name, parameters, answer }) => [name, parameters, markOf(answer)] as const,
      );
      asked.clear();
      return sameAs(stated, marks);
    },
  };
}

/** Apart from `recorded`, whose scope holds the surroundings, and with them all that they were gathered from. */
function sameAs(
  stated: readonly unknown[],
  marks: readonly (readonly [name: string, parameters: readonly unknown[], mark: unknown])[],
): (now: Surroundings) => boolean {
  return (now) =>
    isDeepStrictEqual(constantsOf(now), stated) &&
    marks.every(([name, parameters, mark]) => {
      const question = now[name as keyof Surroundings] as Question;
      return isDeepStrictEqual(markOf(question(...parameters)), mark);
    });
}

function constantsOf(surroundings: Surroundings): readonly unknown[] {
  return constants.map((name) => surroundings[name]);
}

/** A parameter that is an object is the one of its uid. */
function idOf(parameter: unknown): unknown {
  const { uid } = (parameter as { metadata?: { uid?: string } } | undefined)?.metadata ?? {};
  return uid ?? parameter;
}

/** What is kept of an answer: of objects of the cluster (a reference, the spec of a twin) a digest. */
function markOf(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(markOf);
  if (typeof answer !== 'object' || answer === null) return answer;
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [
      name,
      ['found', 'spec'].includes(name) && typeof value === 'object' && value !== null ? digest(value) : value,
    ]),
  );
}
