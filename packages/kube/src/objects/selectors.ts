import type { ObjectMeta } from './objects.ts';

/** `metav1.LabelSelector`. An empty one selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    readonly values?: readonly string[];
  }[];
}

/** One condition of a selector: all of them must hold. */
export interface Requirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values: readonly string[];
}

/** A selector was not understood: the message quotes it. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
  readonly code = 'SELECTOR';
}

/** What a `metav1.LabelSelector` demands, condition by condition. */
export function requirementsOf(selector: LabelSelector): Requirement[] {
  return [
    ...Object.entries(selector.matchLabels ?? {}).map(
      ([key, value]): Requirement => ({ key, operator: 'In', values: [value] }),
    ),
    ...(selector.matchExpressions ?? []).map(({ key, operator, values = [] }) => ({ key, operator, values })),
  ];
}

/** The text of a selector, as it stands in `?labelSelector=`: `a=b,c in (d,e),!f`. */
export function formatLabelSelector(selector: LabelSelector): string {
  return requirementsOf(selector).map(formatRequirement).join(',');
}

function formatRequirement({ key, operator, values }: Requirement): string {
  if (operator === 'Exists') return key;
  if (operator === 'DoesNotExist') return `!${key}`;
  if (values.length === 1) return `${key}${operator === 'In' ? '=' : '!='}${values[0]}`;
  return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
}

const KEY = '[A-Za-z0-9][A-Za-z0-9._/-]*';
const VALUE = '[A-Za-z0-9._-]*';
const SET = new RegExp(`^(${KEY})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const EQUALITY = new RegExp(`^(${KEY})\\s*(==|=|!=)\\s*(${VALUE})$`);
const EXISTENCE = new RegExp(`^(!?)\\s*(${KEY})$`);

/**
 * Reads a label selector's text: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, joined by commas.
 * @throws SelectorError when it is none
 */
export function parseLabelSelector(text: string): Requirement[] {
  if (text.trim() === '') return [];
  // A comma separates conditions unless it stands in the parentheses of a set.
  return text.split(/,(?![^(]*\))/).map((part): Requirement => {
    const condition = part.trim();
    const set = SET.exec(condition);
    if (set) {
      const values = (set[3] as string).split(',').map((value) => value.trim());
      return { key: set[1] as string, operator: set[2] === 'in' ? 'In' : 'NotIn', values };
    }
    const equality = EQUALITY.exec(condition);
    if (equality) {
      const operator = equality[2] === '!=' ? 'NotIn' : 'In';
      return { key: equality[1] as string, operator, values: [equality[3] as string] };
    }
    const existence = EXISTENCE.exec(condition);
    if (existence) {
      return { key: existence[2] as string, operator: existence[1] === '!' ? 'DoesNotExist' : 'Exists', values: [] };
    }
    throw new SelectorError(
      `label selector "${text}": "${condition}" is no condition; expected one of ` +
        'key=value, key!=value, key in (a,b), key notin (a,b), key, !key',
    );
  });
}

/** What a selector demands, given as text, as `metav1.LabelSelector`, or already read. */
export function readSelector(selector: string | LabelSelector | readonly Requirement[]): readonly Requirement[] {
  if (typeof selector === 'string') return parseLabelSelector(selector);
  return Array.isArray(selector) ? selector : requirementsOf(selector as LabelSelector);
}

/** Whether these labels meet the selector. Of many objects, `readSelector` reads it once. */
export function matchesLabels(
  selector: string | LabelSelector | readonly Requirement[],
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return readSelector(selector).every(({ key, operator, values }) => {
    const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (operator === 'In') return value !== undefined && values.includes(value);
    if (operator === 'NotIn') return value === undefined || !values.includes(value);
    return (operator === 'Exists') === (value !== undefined);
  });
}

/**
 * Reads a field selector's text: `a.b=c`, `a.b==c`, `a.b!=c`, joined by commas; in values, `\` escapes `\`, `,`, `=`.
 * @throws SelectorError when it is none
 */
export function parseFieldSelector(text: string): { path: string; negated: boolean; value: string }[] {
  if (text.trim() === '') return [];
  return text.split(/(?<!\\),/).map((condition) => {
    const match = /^\s*([A-Za-z0-9_.[\]'/-]+?)\s*(==|!=|=)(.*)$/.exec(condition);
    if (!match) {
      throw new SelectorError(`field selector "${text}": "${condition}" is no condition; expected path=value`);
    }
    const value = (match[3] as string).replaceAll(/\\([\\,=])/g, '$1');
    return { path: match[1] as string, negated: match[2] === '!=', value };
  });
}

/** Whether an object meets a field selector; a field that is absent counts as the empty text. */
export function matchesFields(selector: string, object: { metadata: ObjectMeta }): boolean {
  return parseFieldSelector(selector).every(({ path, negated, value }) => {
    let field: unknown = object;
    for (const step of path.split('.')) field = (field as Record<string, unknown> | undefined)?.[step];
    const text = typeof field === 'string' ? field : field === undefined ? '' : JSON.stringify(field);
    return (text === value) !== negated;
  });
}
