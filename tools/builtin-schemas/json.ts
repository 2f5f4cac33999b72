/** What JSON.parse gives. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** The text, or else an empty one. */
export function word(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The object, or else an empty one. */
export function object(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
