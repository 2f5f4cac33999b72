/** Schemas of the smallest fields, and what others are built of. */
export const text = { type: 'string' };
export const integer = { type: 'integer' };
export const object = (properties: object, rest: object = {}) => ({ type: 'object', properties, ...rest });
export const list = (items: object, rest: object) => ({ type: 'array', items, ...rest });
/** The part of a schema that holds a CEL rule. */
export const rule = (expression: string, rest: object = {}) => ({
  'x-kubernetes-validations': [{ rule: expression, ...rest }],
});
