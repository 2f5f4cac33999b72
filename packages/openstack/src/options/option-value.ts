import type { ValueFacts, ValueType } from '@openstack-operator/facts';
import type { OptionValue } from '../oslo/writer.ts';
import { nearest } from './nearest.ts';

/**
 * What is wrong with a value as oslo.config reads it from a file (oslo_config/types.py): what was expected, and what was
 * found. Undefined when nothing is. An empty text is no number, and all options with numbers take it.
 */
export function valueMistake(facts: ValueFacts, value: OptionValue): string | undefined {
  const texts = Array.isArray(value) ? (value as readonly string[]) : [String(value)];
  const many = facts.type === 'multi';
  for (const text of many ? texts : [texts.join(',')]) {
    const expected = expectedOf(many ? itemsOf(facts) : facts, text);
    if (expected !== undefined) return `expected ${expected}, found ${JSON.stringify(shortened(text))}`;
  }
  return undefined;
}

/** Characters of a value, and choices, that a message shows. */
const longestShown = 100;
const mostChoices = 20;

function shortened(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}...`;
}

/** What a value has to be that this text is not. */
function expectedOf(facts: ValueFacts, text: string): string | undefined {
  return facts.choices === undefined ? checks[facts.type](facts, text) : choicesMistake(facts, text);
}

const checks: Readonly<Record<ValueType, (facts: ValueFacts, text: string) => string | undefined>> = {
  boolean: (_, text) => (/^(?:true|1|on|yes|false|0|off|no)$/iu.test(text) ? undefined : 'true or false'),
  integer: (facts, text) => numberMistake('a whole number', /^[+-]?\d+$/u, facts, text),
  port: (facts, text) => numberMistake('a port', /^\d+$/u, { min: 0, max: 65_535, ...facts }, text),
  float: (facts, text) => numberMistake('a number', /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/iu, facts, text),
  string: stringMistake,
  uri(facts, text) {
    const { schemes = [] } = facts;
    const [, scheme = ''] = /^([a-z][a-z0-9+.-]*):\/\/\S+$/iu.exec(text) ?? [];
    const isKnown = scheme !== '' && (schemes.length === 0 || schemes.includes(scheme.toLowerCase()));
    if (!isKnown) return `a URL${schemes.length === 0 ? '' : ` (${schemes.join(', ')})`}`;
    return stringMistake(facts, text);
  },
  ip: ({ version }, text) => (isAddress(text, version) ? undefined : `an ${ipOf(version)} address`),
  hostname: (_, text) => (isHostname(text) ? undefined : 'a host name'),
  'host-address': hostMistake,
  'host-domain': hostMistake,
  range: (_, text) => (/^\d+(?:-\d+)?$/u.test(text) ? undefined : 'a number, or two with a hyphen between them'),
  list(facts, text) {
    const expected = ofElements(text, (element) => expectedOf(itemsOf(facts), element));
    return expected === undefined ? undefined : `a list, each ${expected}`;
  },
  multi: (facts, text) => expectedOf(itemsOf(facts), text),
  dict: (facts, text) =>
    ofElements(text, (element) => {
      const colon = element.indexOf(':');
      return colon < 0
        ? 'pairs key:value with commas between them'
        : expectedOf(itemsOf(facts), element.slice(colon + 1));
    }),
};

function itemsOf({ items = { type: 'string' } }: ValueFacts): ValueFacts {
  return items;
}

/** What was expected in place of the first bad element of a list, which may stand in brackets. */
function ofElements(text: string, check: (element: string) => string | undefined): string | undefined {
  const inner = /^\[(.*)\]$/su.exec(text)?.[1] ?? text;
  if (inner.trim() === '') return undefined;
  for (const element of inner.split(',')) {
    const expected = check(element.trim());
    if (expected !== undefined) return expected;
  }
  return undefined;
}

function choicesMistake({ type, choices = [], ignoreCase }: ValueFacts, text: string): string | undefined {
  const same = (one: string) => (ignoreCase === true ? one.toLowerCase() : one);
  const known = choices.flatMap((choice) => (choice === null ? [] : [String(choice)]));
  if (known.some((choice) => same(choice) === same(text))) return undefined;
  const near = type === 'string' ? nearest(text, known) : undefined;
  const shown = [...known.slice(0, mostChoices), ...(known.length > mostChoices ? ['...'] : [])].join(', ');
  return `one of ${shown}${near === undefined ? '' : ` (did you mean ${near}?)`}`;
}

function numberMistake(
  what: string,
  pattern: RegExp,
  { min, max }: ValueFacts | { min: number; max: number },
  text: string,
) {
  if (text === '') return undefined;
  const number = Number(text);
  if (pattern.test(text) && number >= (min ?? -Infinity) && number <= (max ?? Infinity)) return undefined;
  if (min !== undefined && max !== undefined) return `${what} from ${min} to ${max}`;
  if (min !== undefined) return `${what} of at least ${min}`;
  return max === undefined ? what : `${what} of at most ${max}`;
}

function stringMistake({ regex, maxLength }: ValueFacts, text: string): string | undefined {
  if (maxLength !== undefined && text.length > maxLength) return `at most ${maxLength} characters`;
  return regex === undefined || new RegExp(regex).test(text) ? undefined : `a text that ${regex} matches`;
}

function hostMistake(_: ValueFacts, text: string): string | undefined {
  return isAddress(text) || isHostname(text) ? undefined : 'a host name or an IP address';
}

function ipOf(version: 4 | 6 | undefined): string {
  return version === undefined ? 'IP' : `IPv${version}`;
}

function isAddress(text: string, version?: 4 | 6): boolean {
  const four = /^(?:\d{1,3}\.){3}\d{1,3}$/u.test(text) && text.split('.').every((part) => Number(part) <= 255);
  const six = /^[\da-f:.]+$/iu.test(text) && text.includes(':') && URL.canParse(`http://[${text}]/`);
  return version === undefined ? four || six : version === 4 ? four : six;
}

/** Underscores are taken: oslo.config takes them in domains, and services are named so. */
function isHostname(text: string): boolean {
  return text.length <= 253 && /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?)+$/iu.test(text);
}
