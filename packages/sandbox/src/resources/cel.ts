import {
  type ASTNode,
  type Environment,
  EvaluationError,
  Optional,
  ParseError,
  type ParseResult,
} from '@marcbachmann/cel-js';
import { celLibrary } from './cel-library.ts';
import { type CelType, type DeclareType, typeDeclarer } from './cel-types.ts';
import { duplicate, forbidden, invalid, invalidOmitted, required, struct } from './field-error.ts';
import { resolveFieldPath } from './field-path.ts';
import { deepEqual, isObject } from './json.ts';
import { child, index, key } from './path.ts';
import { ownProperty } from './pruning.ts';
import type { FieldError } from './resource-type.ts';
import type { Schema, ValidationRule } from './schema.ts';
import { correlateField, correlateItems } from './validation.ts';

/** Checks objects against the `x-kubernetes-validations` of a schema. */
export interface CelValidator {
  /** `old` is what is stored, on a change: transition rules need it, and values that it leaves alone are forgiven. */
  validate(object: unknown, old?: unknown): FieldError[];
  /** Checks a new value against a schema within the compiled one, by its own identity: a default. */
  validateWithin(schema: Schema, value: unknown): FieldError[];
  /** What does not compile: refuses the definition. */
  readonly errors: readonly FieldError[];
}

/** The rules of one schema, and those of the schemas within it. */
interface Node {
  readonly schema: Schema;
  readonly rules: readonly Rule[];
  readonly properties: ReadonlyMap<string, Node>;
  readonly items?: Node;
  readonly additional?: Node;
  readonly type: CelType;
}

interface Rule {
  readonly rule: ValidationRule;
  readonly program: ParseResult;
  readonly message?: ParseResult;
  readonly usesOldSelf: boolean;
  readonly fieldPath: string;
}

/** What a value was before, and whether anything around it changed. */
interface Correlation {
  readonly old?: { readonly value: unknown };
  /** Whether the nearest value with an old self is unchanged. */
  readonly unchanged: () => boolean;
}

let library: Environment | undefined;

/**
 * Compiles the CEL rules of a CRD's schema: `self`, `oldSelf`, transition rules, `optionalOldSelf`, `messageExpression`,
 * `fieldPath`, `reason`. Costs are not estimated.
 * @param path where the schema stands in the definition, for errors
 */
export function compileCel(schema: Schema, path = ''): CelValidator {
  const errors: FieldError[] = [];
  const nodes = new Map<Schema, Node>();
  if (hasRules(schema)) compileTree(schema, path, errors, nodes);
  const root = nodes.get(schema);
  return {
    errors,
    validateWithin(inner, value) {
      const node = nodes.get(inner);
      return node ? check(node, value, undefined, '', { unchanged: () => false }) : [];
    },
    validate(object, old) {
      if (!root) return [];
      const correlation: Correlation =
        old === undefined
          ? { unchanged: () => false }
          : { old: { value: old }, unchanged: () => deepEqual(object, old) };
      return check(root, object, old, '', correlation);
    },
  };
}

/** Whether a schema, or one within it, has rules. */
export function hasRules(schema: Schema): boolean {
  return (schema['x-kubernetes-validations'] ?? []).length > 0 || childrenOf(schema).some(hasRules);
}

interface Context {
  readonly environment: Environment;
  readonly declare: DeclareType;
  readonly errors: FieldError[];
  /** Environments with `self` in them, by its type: schemas of one type share theirs. */
  readonly environments: Map<string, Environment>;
  readonly nodes: Map<Schema, Node>;
}

function compileTree(schema: Schema, path: string, errors: FieldError[], nodes: Map<Schema, Node>): void {
  const environment = (library ??= celLibrary()).clone();
  const declare = typeDeclarer(environment, { nulls: /\bnull\b/.test(rulesOf(schema).join(' ')) });
  // An environment cannot be changed once it was cloned, so all types come first.
  declareAll(schema, declare, true);
  compileNode(schema, path, { environment, declare, errors, environments: new Map(), nodes });
}

function declareAll(schema: Schema, declare: DeclareType, root: boolean): void {
  if (!hasRules(schema)) return;
  declare(schema, root);
  for (const inner of childrenOf(schema)) declareAll(inner, declare, inner['x-kubernetes-embedded-resource'] === true);
}

function rulesOf(schema: Schema): string[] {
  const own = (schema['x-kubernetes-validations'] ?? []).map(
    ({ rule, messageExpression = '' }) => rule + messageExpression,
  );
  return [...own, ...childrenOf(schema).flatMap(rulesOf)];
}

function childrenOf({ properties, items, additionalProperties }: Schema): Schema[] {
  return [
    ...Object.values(properties ?? {}),
    ...(items ? [items] : []),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ];
}

function compileNode(schema: Schema, path: string, context: Context): Node | undefined {
  if (!hasRules(schema)) return undefined;
  const properties = new Map<string, Node>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const node = compileNode(property, key(child(path, 'properties'), name), context);
    if (node) properties.set(name, node);
  }
  const items = schema.items && compileNode(schema.items, child(path, 'items'), context);
  const { additionalProperties } = schema;
  const additional =
    typeof additionalProperties === 'object'
      ? compileNode(additionalProperties, child(path, 'additionalProperties'), context)
      : undefined;
  const rules = schema['x-kubernetes-validations'] ?? [];
  let compiled: Rule[] = [];
  let type: CelType = { name: 'dyn', convert: (value) => value };
  if (rules.length > 0) {
    type = context.declare(schema) ?? type;
    compiled = compileRules(rules, schema, type.name, child(path, 'x-kubernetes-validations'), context);
  }
  const node = {
    schema,
    rules: compiled,
    properties,
    type,
    ...(items && { items }),
    ...(additional && { additional }),
  };
  context.nodes.set(schema, node);
  return node;
}

function compileRules(
  rules: readonly ValidationRule[],
  schema: Schema,
  type: string,
  path: string,
  { environment: base, environments, errors }: Context,
): Rule[] {
  return rules.flatMap((rule, position) => {
    const at = index(path, position);
    if (rule.rule.trim() === '') return [];
    const optional = rule.optionalOldSelf === true;
    // Arguments of format may be of several types, other lists may not (cel-go exempts it by name).
    const formats = /\.format\(/.test(`${rule.rule} ${rule.messageExpression ?? ''}`);
    const shared = `${type} ${optional} ${formats}`;
    let environment = environments.get(shared);
    if (!environment) {
      environment = base
        .clone({ enableOptionalTypes: true, homogeneousAggregateLiterals: !formats })
        .registerVariable('self', type)
        .registerVariable('oldSelf', optional ? `optional<${type}>` : type);
      environments.set(shared, environment);
    }
    const program = compile(
      environment,
      rule.rule,
      'bool',
      'compilation failed',
      'cel expression must evaluate to a bool',
    );
    if (typeof program === 'string') {
      errors.push(invalid(child(at, 'rule'), ruleValue(rule), program));
      return [];
    }
    let message: ParseResult | undefined;
    if (rule.messageExpression) {
      const failed = 'messageExpression compilation failed';
      const result = compile(
        environment,
        rule.messageExpression,
        'string',
        failed,
        'messageExpression must evaluate to a string',
      );
      if (typeof result === 'string') errors.push(invalid(child(at, 'messageExpression'), ruleValue(rule), result));
      else message = result;
    }
    const usesOldSelf = mentions(program.ast, 'oldSelf');
    const resolved = rule.fieldPath ? resolveFieldPath(rule.fieldPath, schema) : '';
    const fieldPath = typeof resolved === 'string' ? '' : resolved.path;
    return [{ rule, program, usesOldSelf, fieldPath, ...(message && { message }) }];
  });
}

/** A rule as the API server prints it: its internal type has no JSON names. */
function ruleValue({ rule, message, messageExpression, reason, fieldPath, optionalOldSelf }: ValidationRule): unknown {
  return struct(
    ['Rule', rule],
    ['Message', message ?? ''],
    ['MessageExpression', messageExpression ?? ''],
    ['Reason', reason ?? null],
    ['FieldPath', fieldPath ?? ''],
    ['OptionalOldSelf', optionalOldSelf ?? null],
  );
}

function compile(
  environment: Environment,
  text: string,
  type: string,
  failed: string,
  wrong: string,
): ParseResult | string {
  let program: ParseResult;
  try {
    program = environment.parse(text);
  } catch (error) {
    if (error instanceof ParseError) return `${failed}: ${compilerMessage(error, text)}`;
    throw error;
  }
  const result = program.check();
  if (result.error) return `${failed}: ${compilerMessage(result.error, text)}`;
  return result.type === type || result.type?.startsWith('dyn') ? program : wrong;
}

/** `ERROR: <input>:1:6: what\n | the rule\n | .....^`, as cel-go lays it out. */
function compilerMessage(error: { summary: string; range?: { start: number } }, text: string): string {
  const start = Math.min(error.range?.start ?? 0, text.length);
  const before = text.slice(0, start).split('\n');
  const line = text.split('\n')[before.length - 1] ?? '';
  const column = before.at(-1)?.length ?? 0;
  return `ERROR: <input>:${before.length}:${column + 1}: ${summaryOf(error.summary)}\n | ${line}\n | ${'.'.repeat(column)}^`;
}

function summaryOf(summary: string): string {
  const [text = ''] = summary.split('\n');
  return text
    .replace(/^No such key: (.*)$/, "undefined field '$1'")
    .replace(/^Unknown variable: (.*)$/, "undeclared reference to '$1' (in container '')")
    .replace(/^no such overload: (\S+) (\S+) (\S+)$/, "found no matching overload for '_$2_' applied to '($1, $3)'");
}

function mentions(node: ASTNode, name: string): boolean {
  const visit = (value: unknown): boolean => {
    if (Array.isArray(value)) return value.some(visit);
    if (typeof value !== 'object' || value === null || !('op' in value)) return false;
    const { op, args } = value as { op: string; args: unknown };
    return op === 'id' ? args === name : visit(args);
  };
  return visit(node);
}

function check(node: Node, value: unknown, old: unknown, path: string, correlation: Correlation): FieldError[] {
  if (value === null || value === undefined) return [];
  const errors = evaluateRules(node, value, old, path, correlation);
  if (Array.isArray(value)) return [...errors, ...checkItems(node, value, path, correlation)];
  return isObject(value) ? [...errors, ...checkFields(node, value, old, path, correlation)] : errors;
}

function within(correlation: Correlation, old: Correlation['old'], value: unknown): Correlation {
  if (!correlation.old) return correlation;
  if (old) return { old, unchanged: () => deepEqual(old.value, value) };
  return { unchanged: correlation.unchanged };
}

function checkItems(node: Node, value: readonly unknown[], path: string, correlation: Correlation): FieldError[] {
  const { items } = node;
  if (!items) return [];
  const oldItem = correlateItems(node.schema, correlation.old);
  return value.flatMap((item, position) => {
    const old = oldItem(item);
    return check(items, item, old?.value, index(path, position), within(correlation, old, item));
  });
}

function checkFields(
  node: Node,
  value: Record<string, unknown>,
  old: unknown,
  path: string,
  correlation: Correlation,
): FieldError[] {
  const oldFields = isObject(old) ? old : {};
  return Object.entries(value).flatMap(([name, field]) => {
    const property = node.properties.get(name);
    const next = property ?? (ownProperty(node.schema, name) ? undefined : node.additional);
    if (!next) return [];
    const at = property ? child(path, name) : key(path, name);
    return check(
      next,
      field,
      oldFields[name],
      at,
      within(correlation, correlateField(node.schema, correlation.old, name), field),
    );
  });
}

function evaluateRules(node: Node, value: unknown, old: unknown, path: string, correlation: Correlation): FieldError[] {
  if (node.rules.length === 0) return [];
  const self = node.type.convert(value);
  const hasOld = old !== undefined && old !== null;
  const oldSelf = hasOld ? node.type.convert(old) : undefined;
  return node.rules.flatMap((rule) => {
    const optional = rule.rule.optionalOldSelf === true;
    if (rule.usesOldSelf && !hasOld && !optional) return [];
    const variables = { self, oldSelf: optional ? (hasOld ? Optional.of(oldSelf) : Optional.none()) : oldSelf };
    const found = evaluate(rule, node.schema, value, variables, path);
    if (!found) return [];
    return !rule.usesOldSelf && found.forgivable && correlation.unchanged() ? [] : [found.error];
  });
}

function evaluate(
  { rule, program, message, fieldPath }: Rule,
  schema: Schema,
  value: unknown,
  variables: Record<string, unknown>,
  path: string,
): { error: FieldError; forgivable: boolean } | undefined {
  const here = path === '' ? '<nil>' : path;
  const name = rule.message?.trim() || rule.rule.trim();
  try {
    if (program(variables) === true) return undefined;
  } catch (error) {
    return {
      error: invalid(here, schema.type ?? '', `${runtimeMessage(error)} evaluating rule: ${name}`),
      forgivable: false,
    };
  }
  const detail = explain(message, variables) ?? (rule.message?.trim() || `failed rule: ${name}`);
  const at = fieldPath === '' ? here : fieldPath.startsWith('[') ? `${path}${fieldPath}` : child(path, fieldPath);
  return { error: reasoned(rule, schema, at, value, detail), forgivable: true };
}

function reasoned(
  { reason }: ValidationRule,
  schema: Schema,
  path: string,
  value: unknown,
  detail: string,
): FieldError {
  if (reason === 'FieldValueForbidden') return forbidden(path, detail);
  if (reason === 'FieldValueRequired') return required(path, detail);
  const omitted = schema.type === 'object' || schema.type === 'array';
  if (reason === 'FieldValueDuplicate') {
    return omitted ? { type: 'Duplicate', field: path, detail: '' } : duplicate(path, value);
  }
  return omitted ? invalidOmitted(path, detail) : invalid(path, value, detail);
}

/** The message of a `messageExpression`; undefined when it fails or gives nothing fit to print. */
function explain(message: ParseResult | undefined, variables: Record<string, unknown>): string | undefined {
  if (!message) return undefined;
  try {
    const text: unknown = message(variables);
    if (typeof text !== 'string') return undefined;
    const trimmed = text.trim();
    return trimmed === '' || trimmed.includes('\n') || Buffer.byteLength(trimmed) > 5120 ? undefined : trimmed;
  } catch {
    return undefined;
  }
}

function runtimeMessage(error: unknown): string {
  if (!(error instanceof EvaluationError)) return error instanceof Error ? error.message : String(error);
  const index = /index out of bounds, index (-?\d+)/.exec(error.summary);
  if (index) return `index out of bounds: ${index[1]}`;
  return error.summary.replace(/^No such key/, 'no such key');
}
