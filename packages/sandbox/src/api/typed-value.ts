import { deepEqual, isObject, type JsonObject } from '../resources/json.ts';
import type { Schema } from '../resources/schema.ts';
import { below, type FieldPath, type FieldSet, FieldSetBuilder, formatPath, has, isEmpty } from './field-set.ts';
import { commonShape, entrySchema, isNamedField, itemElement, type Shape, shapeOf } from './typed-shape.ts';

// Own code for sigs.k8s.io/structured-merge-diff/v6/typed: there is no JavaScript library for it.

/** What differs between two values. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

type ListShape = Shape & { kind: 'list' };

/** Every field that a value states. */
export function toFieldSet(value: unknown, schema: Schema | undefined): FieldSet {
  const set = new FieldSetBuilder();
  collect(value, schema, [], set);
  return set.build();
}

function collect(value: unknown, schema: Schema | undefined, path: FieldPath, set: FieldSetBuilder): void {
  const shape = shapeOf(schema, value);
  if (shape.kind === 'leaf') {
    set.insert(path);
  } else if (shape.kind === 'map') {
    for (const [name, entry] of Object.entries((value ?? {}) as JsonObject)) {
      const inner = [...path, `f:${name}`];
      collect(entry, entrySchema(shape.schema, name), inner, set);
      const hollow = entry === null || (isObject(entry) && Object.keys(entry).length === 0);
      if (hollow || !isNamedField(shape.schema, name)) set.insert(inner);
    }
  } else {
    for (const [element, items] of groupItems(shape, (value ?? []) as unknown[])) {
      if (items.length === 1) collect(items[0], shape.items, [...path, element], set);
      set.insert([...path, element]);
    }
  }
}

/** Compares leaf by leaf. */
export function compare(a: unknown, b: unknown, schema: Schema | undefined): Comparison {
  const found = { added: new FieldSetBuilder(), modified: new FieldSetBuilder(), removed: new FieldSetBuilder() };
  compareInto(a, b, schema, [], found);
  return { added: found.added.build(), modified: found.modified.build(), removed: found.removed.build() };
}

type Builders = Record<keyof Comparison, FieldSetBuilder>;

function compareInto(a: unknown, b: unknown, schema: Schema | undefined, path: FieldPath, found: Builders): void {
  const shape = commonShape(schema, a, b);
  const leaf = () => {
    if (a === undefined) found.added.insert(path);
    else if (b === undefined) found.removed.insert(path);
    else if (!deepEqual(a, b)) found.modified.insert(path);
  };
  if (shape === 'differ' || shape.kind === 'leaf' || (hollow(a) && hollow(b))) return leaf();
  if (shape.kind === 'map') {
    const left = (a ?? {}) as JsonObject;
    const right = (b ?? {}) as JsonObject;
    const compareField = (name: string) => {
      const mine = left[name];
      const other = right[name];
      // Nearly all fields are plain values that stay.
      if (mine === other && mine !== undefined && typeof mine !== 'object') return;
      compareInto(mine, other, entrySchema(shape.schema, name), [...path, `f:${name}`], found);
    };
    for (const name in left) compareField(name);
    for (const name in right) if (!Object.hasOwn(left, name)) compareField(name);
  } else {
    compareLists((a ?? []) as unknown[], (b ?? []) as unknown[], shape, path, found);
  }
  if (a === undefined) found.added.insert(path);
  else if (b === undefined) found.removed.insert(path);
}

function compareLists(a: unknown[], b: unknown[], shape: ListShape, path: FieldPath, found: Builders): void {
  const left = groupItems(shape, a);
  const right = groupItems(shape, b);
  for (const element of new Set([...left.keys(), ...right.keys()])) {
    const mine = left.get(element) ?? [];
    const other = right.get(element) ?? [];
    const inner = [...path, element];
    if (mine.length <= 1 && other.length <= 1) {
      compareInto(mine[0], other[0], shape.items, inner, found);
    } else if (mine.length >= 2 && other.length >= 2) {
      if (!deepEqual(mine, other)) found.modified.insert(inner);
    } else if (mine.length >= 2) {
      if (other.length) compareInto(undefined, other[0], shape.items, inner, found);
      found.removed.insert(inner);
    } else {
      if (mine.length) compareInto(mine[0], undefined, shape.items, inner, found);
      found.added.insert(inner);
    }
  }
}

/** `config` laid over `live`: leaves of `config` win, what it does not state stays. */
export function merge(live: unknown, config: unknown, schema: Schema | undefined): unknown {
  const shape = commonShape(schema, live, config);
  if (shape === 'differ' || shape.kind === 'leaf' || (hollow(live) && hollow(config))) {
    return config === undefined ? live : config;
  }
  if (shape.kind === 'map') {
    const left = (live ?? {}) as JsonObject;
    const right = (config ?? {}) as JsonObject;
    const merged: JsonObject = {};
    for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const value = merge(left[name], right[name], entrySchema(shape.schema, name));
      if (value !== undefined) merged[name] = value;
    }
    return merged;
  }
  return mergeLists((live ?? []) as unknown[], (config ?? []) as unknown[], shape);
}

/** Items of both in one order: that of `config` where they are shared, the others where they stood. */
function mergeLists(live: unknown[], config: unknown[], shape: ListShape): unknown[] {
  const left = live.map((item) => itemElement(shape, item));
  const right = config.map((item) => itemElement(shape, item));
  const duplicated = new Set(left.filter((element, index) => left.indexOf(element) !== index));
  const liveItem = (element: string) => (duplicated.has(element) ? undefined : live[left.indexOf(element)]);
  const shared = right.filter((element) => left.includes(element));
  const merged: unknown[] = [];
  const done = new Set<string>();
  const takeRight = (index: number) => {
    const element = right[index] as string;
    done.add(element);
    merged.push(merge(liveItem(element), config[index], shape.items));
  };
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const element = left[l];
    if (element !== undefined && r < right.length) {
      if (element === right[r]) {
        takeRight(r);
        l += 1;
        r += 1;
        shared.shift();
        continue;
      }
      if (right.includes(element) && shared[0] !== undefined && shared[0] !== element) {
        l += 1;
        continue;
      }
    }
    if (element !== undefined) {
      if (!right.includes(element)) {
        merged.push(live[l]);
        l += 1;
        continue;
      }
      if (done.has(element)) l += 1;
    }
    if (r < right.length) {
      takeRight(r);
      if (shared[0] === right[r]) shared.shift();
      r += 1;
    }
  }
  return merged;
}

/** The value without the fields of a set. Maps and lists that become empty go as well. */
export function removeItems(value: unknown, remove: FieldSet, schema: Schema | undefined): unknown {
  const shape = shapeOf(schema, value);
  if (shape.kind === 'leaf') return Array.isArray(value) || isObject(value) ? undefined : value;
  if (shape.kind === 'map') {
    const rest: JsonObject = {};
    for (const [name, entry] of Object.entries((value ?? {}) as JsonObject)) {
      const element = `f:${name}`;
      if (has(remove, [element])) continue;
      const inner = below(remove, element);
      const kept = isEmpty(inner) ? entry : removeItems(entry, inner, entrySchema(shape.schema, name));
      // A map emptied by removal is null upstream; what is left of it is dropped by the codec.
      if (kept !== undefined) rest[name] = kept;
    }
    return Object.keys(rest).length > 0 ? rest : undefined;
  }
  const rest: unknown[] = [];
  for (const item of (value ?? []) as unknown[]) {
    const element = itemElement(shape, item);
    if (has(remove, [element])) continue;
    const inner = below(remove, element);
    rest.push(isEmpty(inner) ? item : removeItems(item, inner, shape.items));
  }
  return rest.length > 0 ? rest : undefined;
}

/** Adds the struct fields on the way to every member: who owns `spec.replicas` owns `spec` as well. */
export function withNamedFields(set: FieldSet, schema: Schema | undefined): FieldSet {
  const members = new Set(set.members);
  const children = new Map<string, FieldSet>();
  for (const [element, child] of set.children) {
    const name = element.startsWith('f:') ? element.slice(2) : undefined;
    if (name !== undefined && isNamedField(schema, name)) members.add(element);
    const inner = name !== undefined ? entrySchema(schema, name) : schema?.items;
    children.set(element, withNamedFields(child, inner));
  }
  return { members, children };
}

/**
 * What makes a value unfit for server-side apply: fields that the schema does not know, types that do not fit,
 * repeated list items. In the words of structured-merge-diff: `.spec.x: field not declared in schema`.
 */
export function typeErrors(value: unknown, schema: Schema | undefined, path: FieldPath = []): string[] {
  const say = (where: FieldPath, message: string) => [`${formatPath(where)}: ${message}`];
  if (value === null || value === undefined || schema === undefined) return [];
  if (Array.isArray(value)) {
    if (schema.type === 'object') return say(path, `expected map, got &{${goValue(value)}}`);
    if (schema.type !== undefined && schema.type !== 'array') return scalarError(value, schema, path);
    const shape = shapeOf(schema, value);
    const seen = new Set<string>();
    const errors: string[] = [];
    for (const [index, item] of value.entries()) {
      let element = `i:${index}`;
      if (shape.kind === 'list') {
        try {
          element = itemElement(shape, item);
        } catch (error) {
          return [...errors, ...say(path, `element ${index}: ${(error as Error).message}`)];
        }
        if (seen.has(element)) errors.push(...say(path, `duplicate entries for key ${formatPath([element])}`));
        seen.add(element);
      }
      errors.push(...typeErrors(item, schema.items, [...path, element]));
    }
    return errors;
  }
  if (isObject(value)) {
    if (schema.type === 'array') return say(path, `expected list, got &{${goValue(value)}}`);
    if (schema.type !== undefined && schema.type !== 'object') return scalarError(value, schema, path);
    return Object.entries(value).flatMap(([name, entry]) => {
      const inner = [...path, `f:${name}`];
      if (!isNamedField(schema, name) && !isOpen(schema)) return say(inner, 'field not declared in schema');
      return typeErrors(entry, entrySchema(schema, name), inner);
    });
  }
  return scalarError(value, schema, path);
}

function scalarError(value: unknown, schema: Schema, path: FieldPath): string[] {
  const got = goValue(value);
  const say = (message: string) => [`${formatPath(path)}: ${message}`];
  if (schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields']) return [];
  switch (schema.type) {
    case 'object':
      return say(`expected map, got &{${got}}`);
    case 'array':
      return say(`expected list, got &{${got}}`);
    case 'integer':
    case 'number':
      return typeof value === 'number' ? [] : say(`expected numeric (int or float), got ${goType(value)}`);
    case 'string':
      if (typeof value === 'string' || (schema.format !== undefined && schema.format !== 'byte')) return [];
      return say(`expected string, got &value.valueUnstructured{Value:${got}}`);
    case 'boolean':
      return typeof value === 'boolean' ? [] : say(`expected boolean, got &{${got}}`);
    case undefined:
      return [];
    default:
      return [];
  }
}

function goType(value: unknown): string {
  if (typeof value === 'boolean') return 'bool';
  if (Array.isArray(value)) return '[]interface {}';
  return typeof value === 'string' ? 'string' : 'map[string]interface {}';
}

function goValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Whether a map takes fields that it does not name. */
function isOpen(schema: Schema): boolean {
  if (schema.additionalProperties !== undefined) return schema.additionalProperties !== false;
  return schema['x-kubernetes-preserve-unknown-fields'] === true || schema.properties === undefined;
}

function hollow(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

function groupItems(shape: ListShape, items: readonly unknown[]): Map<string, unknown[]> {
  const groups = new Map<string, unknown[]>();
  for (const item of items) {
    const element = itemElement(shape, item);
    const group = groups.get(element);
    if (group) group.push(item);
    else groups.set(element, [item]);
  }
  return groups;
}
