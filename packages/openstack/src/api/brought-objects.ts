import type { BroughtKind, Field } from './schema.ts';

/** An object that a user brings, as a spec names it. */
export interface BroughtObject {
  readonly kind: BroughtKind;
  readonly name: string;
  /** Path of the field that holds the name, such as `spec.auth.secretName`. */
  readonly field: string;
}

/**
 * The objects that users bring, from the spec that names them. Which fields hold names, the schema says (`nameOf`), so
 * that no field can be forgotten. One object may be named several times.
 */
export function broughtObjects(field: Pick<Field, 'names'>, spec: unknown): BroughtObject[] {
  return field.names.flatMap(({ kind, path }) =>
    textsAt(spec, path, 'spec').map(({ text, at }) => ({ kind, name: text, field: at })),
  );
}

function textsAt(value: unknown, path: readonly string[], at: string): { text: string; at: string }[] {
  const [segment, ...rest] = path;
  if (segment === undefined) return typeof value === 'string' ? [{ text: value, at }] : [];
  if (typeof value !== 'object' || value === null) return [];
  const below = (name: string) => (Array.isArray(value) ? `${at}[${name}]` : `${at}.${name}`);
  return Object.entries(value)
    .filter(([name]) => segment === '*' || name === segment)
    .flatMap(([name, inner]) => textsAt(inner, rest, below(name)));
}
