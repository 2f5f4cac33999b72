import type { JsonObject } from '../resources/json.ts';

/**
 * A set of field paths, as `metadata.managedFields[].fieldsV1` holds it: a tree whose edges are path elements in
 * their wire form (`f:name`, `k:{"name":"x"}`, `v:"x"`). `members` are the elements that are in the set themselves,
 * `children` lead further down. Follows sigs.k8s.io/structured-merge-diff/v6/fieldpath/set.go.
 */
export interface FieldSet {
  readonly members: ReadonlySet<string>;
  readonly children: ReadonlyMap<string, FieldSet>;
}

/** A path of elements in their wire form. */
export type FieldPath = readonly string[];

const EMPTY: FieldSet = { members: new Set(), children: new Map() };

/** Collects paths into a set. */
export class FieldSetBuilder {
  readonly #members = new Set<string>();
  readonly #children = new Map<string, FieldSetBuilder>();

  /** `from`: where in the path this level stands. */
  insert(path: FieldPath, from = 0): void {
    const head = path[from];
    if (head === undefined) return;
    if (from === path.length - 1) this.#members.add(head);
    else this.#child(head).insert(path, from + 1);
  }

  build(): FieldSet {
    const children = new Map<string, FieldSet>();
    for (const [element, child] of this.#children) children.set(element, child.build());
    return { members: this.#members, children };
  }

  #child(element: string): FieldSetBuilder {
    let child = this.#children.get(element);
    if (!child) this.#children.set(element, (child = new FieldSetBuilder()));
    return child;
  }
}

/** A set of the paths given. */
export function fieldSet(...paths: FieldPath[]): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of paths) builder.insert(path);
  return builder.build();
}

export function isEmpty(set: FieldSet): boolean {
  return set.members.size === 0 && set.children.values().every(isEmpty);
}

export function has(set: FieldSet, path: FieldPath): boolean {
  const [head, ...rest] = path;
  if (head === undefined) return false;
  if (rest.length === 0) return set.members.has(head);
  const child = set.children.get(head);
  return child !== undefined && has(child, rest);
}

/** What lies below one element. */
export function below(set: FieldSet, element: string): FieldSet {
  return set.children.get(element) ?? EMPTY;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map(a.children);
  for (const [element, child] of b.children) {
    const mine = children.get(element);
    children.set(element, mine ? union(mine, child) : child);
  }
  return { members: new Set([...a.members, ...b.members]), children };
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    const both = other && intersection(child, other);
    if (both && !isEmpty(both)) children.set(element, both);
  }
  return { members: new Set([...a.members].filter((element) => b.members.has(element))), children };
}

/** What is in `a` and not in `b`; a member of `b` takes nothing away below itself. `a` itself where they have nothing in common. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  const members = new Set([...a.members].filter((element) => !b.members.has(element)));
  let isWhole = members.size === a.members.size;
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    const rest = other === undefined ? child : difference(child, other);
    if (!isEmpty(rest)) children.set(element, rest);
    if (rest !== child) isWhole = false;
  }
  return isWhole ? a : { members, children };
}

/** What is in `a` and neither in `b` nor below a member of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, child] of a.children) {
    if (b.members.has(element)) continue;
    const rest = recursiveDifference(child, below(b, element));
    if (!isEmpty(rest)) children.set(element, rest);
  }
  return { members: new Set([...a.members].filter((element) => !b.members.has(element))), children };
}

/** Every path of the set, parents before children, in wire order. */
export function* paths(set: FieldSet, prefix: FieldPath = []): Generator<FieldPath> {
  for (const element of sortedElements(set)) {
    if (set.members.has(element)) yield [...prefix, element];
    const child = set.children.get(element);
    if (child) yield* paths(child, [...prefix, element]);
  }
}

/** The wire form: `{"f:spec":{"f:replicas":{}}}`. */
export function toFieldsV1(set: FieldSet): JsonObject {
  const fields: JsonObject = {};
  for (const element of sortedElements(set)) {
    const child = set.children.get(element);
    const inner = child === undefined ? {} : toFieldsV1(child);
    const both = set.members.has(element) && Object.keys(inner).length > 0;
    fields[element] = both ? { '.': {}, ...inner } : inner;
  }
  return fields;
}

/** The set of a wire form. */
export function fromFieldsV1(fields: JsonObject): FieldSet {
  const members = new Set<string>();
  const children = new Map<string, FieldSet>();
  for (const [element, value] of Object.entries(fields)) {
    if (element === '.') continue;
    const inner = (value ?? {}) as JsonObject;
    const names = Object.keys(inner);
    if (names.length === 0 || '.' in inner) members.add(element);
    if (names.some((name) => name !== '.')) children.set(element, fromFieldsV1(inner));
  }
  return { members, children };
}

/** A path as conflict messages write it: `.spec.template.spec.containers[name="web"].image`. */
export function formatPath(path: FieldPath): string {
  return path.map(formatElement).join('');
}

function formatElement(element: string): string {
  const rest = element.slice(2);
  switch (element.slice(0, 1)) {
    case 'f':
      return `.${rest}`;
    case 'k': {
      const keys = Object.entries(JSON.parse(rest) as JsonObject);
      return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
    }
    case 'v':
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}

const ORDER = 'fkvi';

function sortedElements(set: FieldSet): string[] {
  const elements = new Set(set.members);
  for (const [element, child] of set.children) if (!isEmpty(child)) elements.add(element);
  return [...elements].sort((a, b) => {
    const kinds = ORDER.indexOf(a[0] ?? '') - ORDER.indexOf(b[0] ?? '');
    return kinds !== 0 ? kinds : a < b ? -1 : a > b ? 1 : 0;
  });
}
