import { deepEqual, isObject, type JsonObject } from '../resources/json.ts';
import type { Schema } from '../resources/schema.ts';
import { badRequest } from './status.ts';
import { entrySchema } from './typed-shape.ts';

// Own code for k8s.io/apimachinery/pkg/util/strategicpatch: there is no JavaScript library for it.

const ORDER = '$setElementOrder/';
const DELETE = '$deleteFromPrimitiveList/';

/** Applies a strategic merge patch to `target`, in place, by the merge keys of the schema. Gives the new object. */
export function applyStrategicMergePatch(
  target: JsonObject,
  patch: JsonObject,
  schema: Schema | undefined,
): JsonObject {
  return mergeMap(target, structuredClone(patch), schema);
}

function mergeMap(original: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  const directive = patch['$patch'];
  if (directive === 'replace') {
    delete patch['$patch'];
    return patch;
  }
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge')
    throw badRequest(`unknown patch type found: ${JSON.stringify(directive)}`);
  delete patch['$patch'];
  retainKeys(original, patch);
  const orders = new Map<string, unknown[]>();
  for (const [field, value] of Object.entries(patch)) {
    if (field.startsWith(ORDER)) orders.set(field.slice(ORDER.length), value as unknown[]);
  }
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith(ORDER)) continue;
    const deleting = name.startsWith(DELETE);
    const field = deleting ? name.slice(DELETE.length) : name;
    const inner = entrySchema(schema, field);
    const live = original[field];
    if (value === null) {
      delete original[field];
    } else if (deleting) {
      if (Array.isArray(live)) original[field] = live.filter((item) => !(value as unknown[]).includes(item));
    } else if (Array.isArray(value) && Array.isArray(live) && merges(inner)) {
      original[field] = mergeList(live, value, inner, orders.get(field));
      orders.delete(field);
    } else if (isObject(value) && isObject(live) && !replaces(inner)) {
      original[field] = mergeMap(live, value, inner);
    } else {
      const plain = withoutDirectives(value);
      if (plain === undefined) delete original[field];
      else original[field] = plain;
    }
  }
  for (const [field, order] of orders) {
    const live = original[field];
    const inner = entrySchema(schema, field);
    if (Array.isArray(live)) original[field] = reorder(live, live, order, mergeKey(inner));
  }
  return original;
}

function mergeList(
  live: unknown[],
  patch: unknown[],
  schema: Schema | undefined,
  order: unknown[] | undefined,
): unknown[] {
  const key = mergeKey(schema);
  if (key === undefined) {
    if (patch.some(isObject)) throw badRequest('cannot merge lists without merge key');
    return reorder([...new Set([...live, ...patch])], live, order ?? patch, undefined);
  }
  let merged = [...live];
  const plain: JsonObject[] = [];
  let replace = false;
  for (const item of patch as JsonObject[]) {
    if (item['$patch'] === 'replace') replace = true;
    else if (item['$patch'] === 'delete') merged = merged.filter((other) => (other as JsonObject)[key] !== item[key]);
    else plain.push(item);
  }
  if (replace) return plain;
  for (const item of plain) {
    if (!(key in item)) {
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
    }
    const index = merged.findIndex((other) => deepEqual((other as JsonObject)[key], item[key]));
    if (index < 0) merged.push(withoutDirectives(item));
    else merged[index] = mergeMap(merged[index] as JsonObject, item, schema?.items);
  }
  return reorder(merged, live, order ?? plain, key);
}

/** Items of the patch in its order, the server's own where they stood between them. */
function reorder(merged: unknown[], before: unknown[], order: unknown[], key: string | undefined): unknown[] {
  const identity = (item: unknown) => JSON.stringify(key === undefined ? item : (item as JsonObject)[key]);
  const wanted = order.map(identity);
  const position = new Map(before.map((item, index) => [identity(item), index] as const));
  const ours = merged
    .filter((item) => wanted.includes(identity(item)))
    .sort((a, b) => wanted.indexOf(identity(a)) - wanted.indexOf(identity(b)));
  const theirs = merged.filter((item) => !wanted.includes(identity(item)));
  const result: unknown[] = [];
  while (ours.length > 0 && theirs.length > 0) {
    const left = position.get(identity(theirs[0]));
    const right = position.get(identity(ours[0]));
    const from = left !== undefined && right !== undefined && left < right ? theirs : ours;
    result.push(from.shift());
  }
  return [...result, ...ours, ...theirs];
}

/** `$retainKeys` removes every other field: how a strategy or a volume changes its type. */
function retainKeys(original: JsonObject, patch: JsonObject): void {
  const retained = patch['$retainKeys'];
  if (!Array.isArray(retained)) return;
  delete patch['$retainKeys'];
  for (const field of Object.keys(original)) if (!retained.includes(field)) delete original[field];
}

function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if ('$patch' in value && value['$patch'] !== 'merge' && value['$patch'] !== 'replace') return undefined;
  const plain: JsonObject = {};
  for (const [field, entry] of Object.entries(value)) {
    if (field === '$patch' || field === '$retainKeys' || field.startsWith(ORDER) || field.startsWith(DELETE)) continue;
    const kept = withoutDirectives(entry);
    if (kept !== undefined && kept !== null) plain[field] = kept;
  }
  return plain;
}

function strategies(schema: Schema | undefined): string[] {
  return schema?.['x-kubernetes-patch-strategy']?.split(',') ?? [];
}

function merges(schema: Schema | undefined): boolean {
  return strategies(schema).includes('merge');
}

function replaces(schema: Schema | undefined): boolean {
  return strategies(schema).includes('replace');
}

function mergeKey(schema: Schema | undefined): string | undefined {
  return schema?.['x-kubernetes-patch-merge-key'];
}
