import { goJson } from './field-error.ts';
import { isObject } from './json.ts';

/** One step of a path. */
type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'descend'; readonly name: string }
  | {
      readonly kind: 'slice';
      readonly start?: number;
      readonly end?: number;
      readonly step: number;
      readonly single: boolean;
    }
  | { readonly kind: 'filter'; readonly left: Operand; readonly operator?: string; readonly right?: Operand };

type Operand = { readonly path: readonly Step[] } | { readonly literal: string | number | boolean };

/** Finds values in an object: a compiled path. */
export type JsonPath = (object: unknown) => unknown[];

class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
}

/**
 * Compiles a JSON path of a CRD (printer columns, scale, selectable fields) in kubectl's dialect: `.spec.replicas`,
 * `.metadata.labels['a.b/c']`, `.items[0]`, `[*]`, `[1:3]`, `..name`, `[?(@.type=="Ready")].status`. Missing fields give
 * no values.
 * @throws JsonPathError when the path is not valid
 */
export function compileJsonPath(path: string): JsonPath {
  const { steps, rest } = parse(path, 0);
  if (rest < path.length) throw new JsonPathError(`unexpected ${path[rest]} at ${rest} of ${path}`);
  return (object) => walk(steps, [object]);
}

/** Values as a text column shows them (jsonpath.PrintResults): texts bare, anything else as JSON, joined by spaces. */
export function printValues(values: readonly unknown[]): string {
  return values.map((value) => (typeof value === 'string' ? value : goJson(value))).join(' ');
}

function parse(text: string, from: number): { steps: Step[]; rest: number } {
  const steps: Step[] = [];
  let at = from;
  while (at < text.length) {
    if (text.startsWith('..', at)) {
      const name = /^[\w$-]+/.exec(text.slice(at + 2))?.[0] ?? '';
      steps.push({ kind: 'descend', name });
      at += 2 + name.length;
    } else if (text[at] === '.') {
      const match = /^\.((?:\\.|[^.[\]\s=!<>)&|?])*)/.exec(text.slice(at));
      const name = (match?.[1] ?? '').replace(/\\(.)/g, '$1');
      if (name === '*') steps.push({ kind: 'wildcard' });
      else if (name !== '') steps.push({ kind: 'field', name });
      at += match?.[0].length ?? 1;
    } else if (text[at] === '[') {
      const end = closingBracket(text, at);
      steps.push(bracket(text.slice(at + 1, end).trim()));
      at = end + 1;
    } else break;
  }
  return { steps, rest: at };
}

function closingBracket(text: string, open: number): number {
  let depth = 0;
  let quoted = '';
  for (let at = open; at < text.length; at++) {
    const character = text[at] ?? '';
    if (quoted !== '') {
      if (character === '\\') at++;
      else if (character === quoted) quoted = '';
    } else if (character === '"' || character === "'") quoted = character;
    else if (character === '[') depth++;
    else if (character === ']' && --depth === 0) return at;
  }
  throw new JsonPathError(`unterminated array in ${text}`);
}

function bracket(inner: string): Step {
  if (inner === '*') return { kind: 'wildcard' };
  const name = /^(['"])([\s\S]*)\1$/.exec(inner);
  if (name) return { kind: 'field', name: (name[2] ?? '').replace(/\\(.)/g, '$1') };
  const filter = /^\?\(([\s\S]*)\)$/.exec(inner);
  if (filter) return parseFilter((filter[1] ?? '').trim());
  const slice = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/.exec(inner);
  if (!slice || inner === '') throw new JsonPathError(`invalid array index ${inner}`);
  const [, start, end, step] = slice;
  return {
    kind: 'slice',
    ...(start && { start: Number(start) }),
    ...(end && { end: Number(end) }),
    step: step ? Number(step) : 1,
    single: end === undefined,
  };
}

function parseFilter(text: string): Step {
  const left = parseOperand(text);
  const rest = text.slice(left.length).trim();
  const operator = /^(==|!=|<=|>=|<|>)/.exec(rest)?.[0];
  if (operator === undefined) {
    if (rest !== '') throw new JsonPathError(`unrecognized filter ${text}`);
    return { kind: 'filter', left: left.operand };
  }
  const rightText = rest.slice(operator.length).trim();
  const right = parseOperand(rightText);
  if (right.length < rightText.length) throw new JsonPathError(`unrecognized filter ${text}`);
  return { kind: 'filter', left: left.operand, operator, right: right.operand };
}

function parseOperand(text: string): { operand: Operand; length: number } {
  if (text.startsWith('@') || text.startsWith('$')) {
    const { steps, rest } = parse(text, 1);
    return { operand: { path: steps }, length: rest };
  }
  const match = /^(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|(-?\d+(?:\.\d+)?)|(true|false))/.exec(text);
  if (!match) throw new JsonPathError(`unrecognized operand ${text}`);
  const [whole, double, single, number] = match;
  const quoted = double ?? single;
  const literal = quoted !== undefined ? quoted.replace(/\\(.)/g, '$1') : number ? Number(number) : whole === 'true';
  return { operand: { literal }, length: whole.length };
}

function walk(steps: readonly Step[], values: unknown[]): unknown[] {
  return steps.reduce((current: unknown[], step) => current.flatMap((value) => take(step, value)), values);
}

function take(step: Step, value: unknown): unknown[] {
  switch (step.kind) {
    case 'field':
      return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'wildcard':
      return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
    case 'descend':
      return descend(step.name, value);
    case 'slice': {
      if (!Array.isArray(value)) return [];
      const from = step.start ?? 0;
      const start = from < 0 ? from + value.length : from;
      if (step.single) return start in value ? [value[start]] : [];
      return value.slice(start, step.end).filter((_, position) => position % step.step === 0);
    }
    case 'filter':
      return Array.isArray(value) ? value.filter((item) => passes(step, item)) : [];
  }
}

function descend(name: string, value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => descend(name, item));
  if (!isObject(value)) return [];
  const own = name === '' ? Object.values(value) : Object.hasOwn(value, name) ? [value[name]] : [];
  return [...own, ...Object.values(value).flatMap((child) => descend(name, child))];
}

function passes(filter: Extract<Step, { kind: 'filter' }>, item: unknown): boolean {
  const left = evaluate(filter.left, item);
  if (filter.operator === undefined || !filter.right) return left !== undefined;
  const right = evaluate(filter.right, item);
  if (left === undefined || right === undefined) return false;
  if (filter.operator === '==') return left === right;
  if (filter.operator === '!=') return left !== right;
  if (typeof left !== typeof right || (typeof left !== 'number' && typeof left !== 'string')) return false;
  const ordered = left < (right as typeof left) ? -1 : left === right ? 0 : 1;
  if (filter.operator === '<') return ordered < 0;
  if (filter.operator === '<=') return ordered <= 0;
  return filter.operator === '>' ? ordered > 0 : ordered >= 0;
}

function evaluate(operand: Operand, item: unknown): unknown {
  return 'literal' in operand ? operand.literal : walk(operand.path, [item])[0];
}
