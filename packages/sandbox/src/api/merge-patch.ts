import { isObject, type JsonObject } from '../resources/json.ts';

/** Applies an RFC 7386 patch: null removes, objects merge, everything else replaces. Gives the new value. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: JsonObject = isObject(target) ? target : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else merged[field] = applyMergePatch(merged[field], value);
  }
  return merged;
}
