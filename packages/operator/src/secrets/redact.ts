import { Secret, type StoredObject } from '@openstack-operator/kube';
import { urlEncoded } from '@openstack-operator/openstack';
import type { ComposeContext, OperatorContext } from '../context.ts';

/** The most characters of a condition's message (a bound of the CRDs). */
export const mostOfMessage = 32_768;

/** Shorter values are no secrets, or could stand anywhere. */
const shortest = 8;

/** Of a longer value so many characters are looked for; what follows them in a text is taken for the rest of it. */
const longest = 256;

/** The most values of a namespace's Secrets. A cloud has about a hundred. */
const mostValues = 10_000;

/** The most characters that are compared in one text, so that none holds up the operator, whatever the values are. */
const mostCompared = 1_000_000;

const redacted = '[redacted]';

/** Values by their first characters, the longest first. */
type Values = ReadonlyMap<string, readonly string[]>;

/** Where something secret stands in a text: from the first character on, and before the second. */
type Range = readonly [from: number, to: number];

/**
 * Takes the values of a namespace's Secrets out of a text, and cuts it to what a condition may say: last words of
 * programs go into conditions and events, and some programs say what they were given, of other resources' Secrets, too.
 * Names of users are no secrets; files of several lines are made of values that are in other Secrets too.
 *
 * A text is read once, and never what was put in place of something. Where the Secrets are so many, or so much alike,
 * that this would take long, the whole text is withheld, which says so.
 */
export function redactor({ cache, object }: Pick<ComposeContext, 'cache' | 'object'>): (text: string) => string {
  const { namespace = '' } = object.metadata;
  let known: { readonly values: Values | undefined } | undefined;
  return (text) => {
    if (text === '') return text;
    known ??= { values: valuesOf(cache.list(Secret, { namespace })) };
    const ranges = known.values && rangesIn(text, known.values);
    if (ranges !== undefined) return without(text, ranges);
    return (
      `this message is withheld: the Secrets of namespace ${namespace} have more values, or values more alike, than a ` +
      `message is searched for (at most ${mostValues}); take out of the namespace what the cloud does not use`
    );
  };
}

/** The same context, whose events hold no secrets, whoever writes them: by the Secrets that there are at that moment. */
export function discreet<P extends OperatorContext>(context: P): P {
  return { ...context, event: (text, about) => context.event({ ...text, note: redactor(context)(text.note) }, about) };
}

/** What is secret of Secrets; undefined when it is too much, of which no more is read than shows that. */
function valuesOf(secrets: readonly StoredObject[]): Values | undefined {
  const values = new Set<string>();
  let read = 0;
  for (const secret of secrets) {
    read += Object.keys(secret['data'] ?? {}).length;
    if (read > mostValues) return undefined;
    for (const value of secretValues(secret)) values.add(value);
  }
  const sorted = [...values].sort((one, other) => other.length - one.length);
  return Map.groupBy(sorted, (value) => value.slice(0, shortest));
}

/** Cached objects are frozen: what was read of one once stays true. */
const known = new WeakMap<StoredObject, readonly string[]>();

/** The beginnings of a Secret's values, as they are and as they stand in URLs. */
function secretValues(secret: StoredObject): readonly string[] {
  const read = known.get(secret);
  if (read !== undefined) return read;
  const entries = Object.entries((secret['data'] ?? {}) as Readonly<Record<string, string>>);
  const values = entries.flatMap(([key, data]) => {
    if (/(user(_?name)?|domain_admin(_name)?)$/i.test(key)) return [];
    // Four bytes for each character, of which three are written as four characters of base64, and some more.
    const value = withoutEnd(Buffer.from(data.slice(0, 8 * longest), 'base64').toString());
    if (value.length < shortest || value.includes('\n')) return [];
    const beginning = value.slice(0, longest);
    return [beginning, urlEncoded(beginning.toWellFormed()).slice(0, longest)];
  });
  known.set(secret, values);
  return values;
}

/** Without newlines at the end, as editors and `kubectl create secret --from-file` leave one. No pattern: it would be slow. */
function withoutEnd(value: string): string {
  let end = value.length;
  while (end > 0 && '\r\n'.includes(value.charAt(end - 1))) end--;
  return value.slice(0, end);
}

/**
 * Where values begin in the part of a text that may be said; they may end beyond it. In order, and apart from each
 * other. Undefined when it takes too long to find them.
 */
function rangesIn(text: string, values: Values): readonly Range[] | undefined {
  const ranges: [number, number][] = [];
  let compared = 0;
  for (let from = 0; from < Math.min(text.length, mostOfMessage); from++) {
    for (const value of values.get(text.slice(from, from + shortest)) ?? []) {
      compared += value.length;
      if (compared > mostCompared) return undefined;
      if (!text.startsWith(value, from)) continue;
      const to = value.length < longest ? from + value.length : text.length;
      const last = ranges.at(-1);
      if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
      else ranges.push([from, to]);
      // What else begins here is shorter.
      break;
    }
  }
  return ranges;
}

function without(text: string, ranges: readonly Range[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const [from, to] of ranges) {
    parts.push(text.slice(at, from), redacted);
    at = to;
  }
  parts.push(text.slice(at, Math.max(at, mostOfMessage)));
  return parts.join('').slice(0, mostOfMessage);
}
