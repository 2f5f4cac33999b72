import { objectMetaSchema } from './builtin-schema.ts';
import { isObject } from './json.ts';
import { child, index } from './path.ts';
import type { Schema } from './schema.ts';

const metaFields = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Removes from `object`, in place, what the schema does not know, and gives the paths of what was dropped, sorted, such
 * as `spec.foo` or `spec.items[0].bar`. `apiVersion`, `kind` and `metadata` of the root and of embedded resources stay.
 * Field validation reports each path as `unknown field "spec.foo"`.
 */
export function pruneUnknown(schema: Schema, object: unknown): string[] {
  const dropped: string[] = [];
  prune({ ...schema, 'x-kubernetes-embedded-resource': true }, object, '', dropped);
  return dropped.sort();
}

/** The same for a value that is no whole object: apiVersion, kind and metadata are fields like others. */
export function pruneFields(schema: Schema, value: unknown): string[] {
  const dropped: string[] = [];
  prune(schema, value, '', dropped);
  return dropped.sort();
}

function prune(schema: Schema | undefined, value: unknown, path: string, dropped: string[]): void {
  const preserve = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  if (Array.isArray(value)) {
    value.forEach((item, position) => {
      if (preserve) pruneKept(schema.items, item, index(path, position), dropped);
      else prune(schema?.items, item, index(path, position), dropped);
    });
  } else if (isObject(value)) {
    pruneObject(schema, value, path, dropped, preserve);
  }
}

/** Items of a list within preserved fields stay preserved, unless their schema says otherwise for a property. */
function pruneKept(schema: Schema | undefined, value: unknown, path: string, dropped: string[]): void {
  if (schema === undefined) return;
  prune({ ...schema, 'x-kubernetes-preserve-unknown-fields': true }, value, path, dropped);
}

function pruneObject(
  schema: Schema | undefined,
  value: Record<string, unknown>,
  path: string,
  dropped: string[],
  preserve: boolean,
): void {
  for (const name of Object.keys(value)) {
    if (schema?.['x-kubernetes-embedded-resource'] && metaFields.has(name)) {
      if (name === 'metadata') prune(objectMetaSchema(), value[name], child(path, name), dropped);
      continue;
    }
    const property = ownProperty(schema, name);
    if (property !== undefined) {
      prune(property, value[name], child(path, name), dropped);
    } else if (schema?.additionalProperties) {
      const additional = schema.additionalProperties;
      prune(additional === true ? undefined : additional, value[name], child(path, name), dropped);
    } else if (!preserve) {
      if (path !== '' || !metaFields.has(name)) dropped.push(child(path, name));
      delete value[name];
    }
  }
}

/** The schema of a named property; inherited names such as `constructor` are none. */
export function ownProperty(schema: Schema | undefined, name: string): Schema | undefined {
  return schema?.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
}
