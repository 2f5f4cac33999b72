import { isObject, type JsonObject } from '../resources/json.ts';

/** The value at a path of field names; undefined when something on the way is missing. */
export function at(value: unknown, path: readonly string[]): unknown {
  let here = value;
  for (const field of path) {
    if (!isObject(here)) return undefined;
    here = here[field];
  }
  return here;
}

/** Sets a value at a path, making objects on the way; undefined removes the field. */
export function setAt(target: JsonObject, path: readonly string[], value: unknown): void {
  const last = path.at(-1);
  if (last === undefined) return;
  let here = target;
  for (const field of path.slice(0, -1)) {
    let next = here[field];
    if (!isObject(next)) {
      if (value === undefined) return;
      here[field] = next = {};
    }
    here = next as JsonObject;
  }
  if (value === undefined) delete here[last];
  else here[last] = value;
}
