import { type OpenApiSchema, type Rule, rule } from './schema.ts';

/** A rule by which an object that says nothing is refused: one of its fields has to be stated. */
export function requiringRule(cel: string, message: string, fieldPath: string): Rule {
  return { ...rule(cel, message, fieldPath), refusesEmpty: true };
}

/** The fields that an object has to state which states nothing else. */
export function neededFields({ required = [], 'x-kubernetes-validations': rules = [] }: OpenApiSchema): string[] {
  return [
    ...required,
    ...rules.flatMap(({ refusesEmpty, fieldPath = '' }) => (refusesEmpty ? [fieldPath.slice(1)] : [])),
  ];
}
