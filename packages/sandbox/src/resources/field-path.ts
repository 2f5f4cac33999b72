import { child, key } from './path.ts';
import { ownProperty } from './pruning.ts';
import type { Schema } from './schema.ts';

/** A path that a schema knows, in the API server's notation, and the schema at its end. */
export interface FieldPath {
  readonly path: string;
  readonly schema: Schema;
}

/**
 * Reads the path of a CEL rule's `fieldPath` or of a selectable field, such as `.spec.x` or `['a.b']` (ValidFieldPath).
 * @returns the path, or the complaint
 */
export function resolveFieldPath(text: string, schema: Schema, { brackets = true } = {}): FieldPath | string {
  let rest = text;
  let current: FieldPath = { path: '', schema };
  while (rest !== '') {
    const dotted = /^\.([^.[\]]+)/.exec(rest);
    const quoted = brackets ? /^\['((?:\\.|[^'\\])*)'\]/.exec(rest) : null;
    const match = dotted ?? quoted;
    if (!match) {
      if (!brackets && rest.startsWith('[')) return 'array notation is not allowed';
      return rest.startsWith('.') || rest.startsWith('[')
        ? 'unexpected end of JSON path'
        : `expected [ or . but got: ${/^[^.[\]]+|^./.exec(rest)?.[0]}`;
    }
    const name = (match[1] ?? '').replace(/\\(.)/g, '$1');
    const next = step(current, name);
    if (!next) return 'does not refer to a valid field';
    current = next;
    rest = rest.slice(match[0].length);
  }
  return current;
}

function step({ path, schema }: FieldPath, name: string): FieldPath | undefined {
  if (schema.properties) {
    const property = ownProperty(schema, name);
    return property && { path: child(path, name), schema: property };
  }
  const additional = schema.additionalProperties;
  return typeof additional === 'object' ? { path: key(path, name), schema: additional } : undefined;
}
