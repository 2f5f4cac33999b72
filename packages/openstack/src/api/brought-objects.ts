import type { BroughtKind, Field } from './schema.ts';
import { textsAt } from './texts-at.ts';

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
  return field.names.flatMap((place) =>
    textsAt(spec, place).map(({ text, at }) => ({ kind: place.kind, name: text, field: at })),
  );
}
