import { ApiError, type KubeObject, keyOf } from '@openstack-operator/kube';
import {
  annotations,
  type Composition,
  digest,
  fieldManager,
  kindOf,
  ownershipOf,
  type Problem,
  type Step,
  withWords,
} from '@openstack-operator/openstack';
import type { ComposeContext } from './context.ts';
import { isPassing } from './report.ts';

/** One field that the API server refuses. */
interface Mistake {
  /** Below `spec`: `.components.api.replicas`. */
  readonly path: string;
  readonly words: string;
}

/** What the API server said of a child. */
interface Answer {
  /** Digest of the child that it was asked about. */
  readonly stated: string;
  readonly mistakes: readonly Mistake[];
  /** Why it said nothing, such as that it is busy. */
  readonly unanswered?: string;
  /** Time, in ms. */
  readonly at: number;
}

/** Milliseconds after which a refused child is asked about again: its definition may be another by then. */
const askAgain = 60_000;
/** Milliseconds after which it is asked again what it has not answered. */
const askSoon = 5000;
/** Mistakes that one condition tells of. */
const mostMistakes = 10;

/**
 * What the API server would say of the children of a resource. The definition of a control plane does not hold the
 * shapes that services share (api/embed.ts): each child that is to change is applied as a dry run before the first is
 * written, so that a mistake is told at once, and not when the child's turn has come.
 */
export class DryRuns {
  /** By parent, then by child. */
  readonly #answers = new Map<string, ReadonlyMap<string, Answer>>();

  /** Asks about what is not live as stated, unless it was asked before. @returns whether there is a new answer */
  async ask(context: ComposeContext, { steps }: Composition): Promise<boolean> {
    const before = this.#answers.get(parentOf(context));
    const answers = new Map<string, Answer>();
    let isNew = false;
    for (const { object } of steps.flatMap(childrenIn)) {
      const { name = '', namespace = '' } = object.metadata;
      const stated = digest(object);
      const live = context.cache.get(kindOf(object), { namespace, name });
      if (live?.metadata.annotations?.[annotations.applied] === stated) continue;
      // Of what is somebody else's the write tells, and it has no fields of ours.
      if (live !== undefined && ownershipOf(context.object, false).ours?.(live) !== true) continue;
      let answer = before?.get(idOf(object));
      const isOld = answer !== undefined && answer.mistakes.length > 0 && context.clock.now() >= answer.at + askAgain;
      if (answer?.stated !== stated || isOld || answer.unanswered !== undefined) {
        answer = { stated, ...(await answerTo(context, object)), at: context.clock.now() };
        isNew = true;
      }
      answers.set(idOf(object), answer);
    }
    if (answers.size === 0) this.#answers.delete(parentOf(context));
    else this.#answers.set(parentOf(context), answers);
    return isNew;
  }

  /**
   * The steps, with a problem where the API server refuses the child, or has not said whether it does. Then no other
   * child is changed either, and no node claimed, as if the whole had been refused: what one is told may follow from
   * another one's fields. `isHeld`: nothing may be deleted for what the resource says.
   */
  judged(context: ComposeContext, steps: readonly Step[]): Judged {
    const answers = this.#answers.get(parentOf(context));
    if (answers === undefined) return { steps, isHeld: false };
    const asked = steps.map((step) => {
      const open = childrenIn(step).flatMap(({ object, specFrom }) => {
        const answer = answers.get(idOf(object));
        return answer?.stated === digest(object) ? [{ answer, specFrom }] : [];
      });
      const mistakes = open.flatMap(({ answer, specFrom }) =>
        answer.mistakes.map(({ path, words }) => `${specFrom}${path}: ${words}`),
      );
      const [unanswered] = open.flatMap(({ answer }) => answer.unanswered ?? []);
      const isOpen = open.length > 0 || step.objects.some(({ verb }) => verb === 'claim');
      return { step, isOpen, mistakes, unanswered };
    });
    const refused = asked.find(({ mistakes }) => mistakes.length > 0);
    const doubtful = asked.find(({ unanswered }) => unanswered !== undefined);
    if (refused === undefined && doubtful === undefined) return { steps, isHeld: false };
    const why =
      refused === undefined
        ? `nothing is changed before the API server says whether it takes all of it: ${doubtful?.unanswered}`
        : `nothing is changed before what ${refused.step.condition} tells is mended`;
    const requeueAfter = doubtful === undefined ? askAgain : askSoon;
    const held = asked.map(({ step, isOpen, mistakes }) => {
      if (step.problem !== undefined || !isOpen) return step;
      const problem: Problem =
        mistakes.length > 0
          ? { reason: 'SpecRefused', message: mistakes.join('; '), requeueAfter }
          : { reason: 'Waiting', message: why, requeueAfter };
      return { ...step, problem };
    });
    return { steps: held, isHeld: true };
  }

  /** The resource is gone. */
  forget(kind: string, key: string): void {
    this.#answers.delete(`${kind} ${key}`);
  }
}

/** Steps with what the API server says of them. */
interface Judged {
  readonly steps: readonly Step[];
  readonly isHeld: boolean;
}

function parentOf({ object: { kind }, key }: ComposeContext): string {
  return `${kind} ${key}`;
}

function idOf(object: KubeObject): string {
  return `${object.kind} ${keyOf(object)}`;
}

/** The objects of a step whose spec is a field of the resource. */
function childrenIn({ objects, skipped }: Step) {
  if (skipped !== undefined) return [];
  return objects.flatMap((desired) => {
    if (desired.verb !== 'apply' || desired.specFrom === undefined) return [];
    return [{ object: desired.object, specFrom: desired.specFrom }];
  });
}

async function answerTo(
  { client, signal }: ComposeContext,
  object: KubeObject,
): Promise<Pick<Answer, 'mistakes' | 'unanswered'>> {
  try {
    await client.apply(kindOf(object), object, { fieldManager, force: true, dryRun: true, signal });
    return { mistakes: [] };
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    const mistakes = error instanceof ApiError ? mistakesIn(error) : [];
    if (mistakes.length === 0 && isPassing(error)) return { mistakes, unanswered: cut(error.message, longest.words) };
    // Whatever else it says, such as that a quota is exceeded, is told by the write itself.
    return { mistakes };
  }
}

/** Characters that are kept of a path, and of what is said about it: keys may be as long as an object. */
const longest = { path: 256, words: 512 } as const;

/**
 * The fields that an answer is about: causes of a validation; or the words of the apply itself about fields that the
 * schema does not have, or has otherwise (500 "failed to create typed patch object", structured-merge-diff), one a line.
 */
function mistakesIn({ code, status: { details, message = '' } }: ApiError): Mistake[] {
  const told: readonly (readonly [path: string, words: string])[] =
    code === 422
      ? // An answer that was too long to be read has words alone.
        (details?.causes ?? [{ field: 'spec', message }]).map(({ field = '', message: words = '' }) => [
          field,
          withWords(words.replace(`${field} in body `, '')),
        ])
      : linesOf(message).map((line) => {
          const end = line.indexOf(': ');
          return [line.slice(1, end), line.slice(end + 2)];
        });
  return told
    .filter(([path]) => path.startsWith('spec'))
    .slice(0, mostMistakes)
    .map(([path, words]) => ({
      path: cut(path.slice('spec'.length), longest.path),
      words: words === 'field not declared in schema' ? 'unknown field' : cut(words, longest.words),
    }));
}

/** The beginning of a text, as a copy: a slice would keep the whole answer in memory. */
function cut(text: string, most: number): string {
  return Buffer.from(text.slice(0, most)).toString();
}

/** The errors of an apply. No pattern is searched for: keys, which are the user's, may look like it a thousand times. */
function linesOf(message: string): string[] {
  if (!message.startsWith('failed to create typed patch object')) return [];
  const about = message.indexOf('): ');
  return message
    .slice(about + '): '.length)
    .split('\n')
    .map((line) => line.trim());
}
