import { goJson, quote } from '../resources/field-error.ts';
import { isObject, type JsonObject } from '../resources/json.ts';
import type { Schema } from '../resources/schema.ts';

/**
 * How server-side apply sees a value: one leaf, a list whose items have identities, or a map whose entries have owners
 * of their own. Follows k8s.io/kube-openapi/pkg/schemaconv.
 */
export type Shape =
  | { readonly kind: 'leaf' }
  | { readonly kind: 'list'; readonly keys: readonly string[] | undefined; readonly items: Schema | undefined }
  | { readonly kind: 'map'; readonly schema: Schema | undefined };

const LEAF: Shape = { kind: 'leaf' };

/** The shape of a value under a schema; without a schema (unknown fields) maps are granular and lists atomic. */
export function shapeOf(schema: Schema | undefined, value: unknown): Shape {
  if (Array.isArray(value) || (value === null && schema?.type === 'array')) return listShape(schema);
  if (isObject(value) || (value === null && schema?.type === 'object')) return mapShape(schema);
  return LEAF;
}

/** The shape when either side may be missing: decided by whichever is there. */
export function commonShape(schema: Schema | undefined, a: unknown, b: unknown): Shape | 'differ' {
  if (a === undefined || a === null) return shapeOf(schema, b ?? a);
  if (b === undefined || b === null) return shapeOf(schema, a);
  const shapeA = shapeOf(schema, a);
  return shapeA.kind === shapeOf(schema, b).kind ? shapeA : 'differ';
}

/** The schema of a map's entry. */
export function entrySchema(schema: Schema | undefined, name: string): Schema | undefined {
  if (isNamedField(schema, name)) return schema?.properties?.[name];
  const additional = schema?.additionalProperties;
  return typeof additional === 'object' ? additional : undefined;
}

/** Whether the entry is a struct field (owned through its leaves) and no free key of a map (owned by itself). */
export function isNamedField(schema: Schema | undefined, name: string): boolean {
  return schema?.properties !== undefined && Object.hasOwn(schema.properties, name);
}

/** An item of a list that cannot be told from the others. */
export class NoIdentity extends Error {}

/**
 * The path element of a list item: `k:{...}` by its keys, `v:...` by its value.
 * @throws NoIdentity when the item has no identity (a key is missing, a null)
 */
export function itemElement(shape: Shape & { kind: 'list' }, item: unknown): string {
  if (shape.keys === undefined) {
    if (isObject(item)) throw new NoIdentity("associative list without keys has an element that's a map type");
    if (Array.isArray(item)) throw new NoIdentity('not supported: associative list with lists as elements');
    if (item === null) throw new NoIdentity("associative list without keys has an element that's an explicit null");
    return `v:${JSON.stringify(item)}`;
  }
  if (item === null) throw new NoIdentity('associative list with keys may not have a null element');
  if (!isObject(item)) throw new NoIdentity('associative list with keys may not have non-map elements');
  const key: JsonObject = {};
  for (const name of [...shape.keys].sort()) {
    const value = item[name] ?? shape.items?.properties?.[name]?.default;
    if (value !== undefined) key[name] = value;
  }
  if (Object.keys(key).length === 0) {
    const names = shape.keys.map(quote).join(' ');
    throw new NoIdentity(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return `k:${goJson(key)}`;
}

function listShape(schema: Schema | undefined): Shape {
  const type = schema?.['x-kubernetes-list-type'];
  if (type === 'set') return { kind: 'list', keys: undefined, items: schema?.items };
  if (type === 'map') return { kind: 'list', keys: schema?.['x-kubernetes-list-map-keys'] ?? [], items: schema?.items };
  if (type === undefined && schema?.['x-kubernetes-patch-strategy']?.split(',').includes('merge')) {
    const key = schema['x-kubernetes-patch-merge-key'];
    return { kind: 'list', keys: key === undefined ? undefined : [key], items: schema.items };
  }
  return LEAF;
}

function mapShape(schema: Schema | undefined): Shape {
  return schema?.['x-kubernetes-map-type'] === 'atomic' ? LEAF : { kind: 'map', schema };
}
