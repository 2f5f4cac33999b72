import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyDefaults } from './defaulting.ts';
import { pruneFields } from './pruning.ts';
import type { Schema } from './schema.ts';
import { validateStructural } from './structural.ts';
import { validateObject } from './validation.ts';

const name = fc.constantFrom('a', 'b', 'c', 'd');
const leaf: fc.Arbitrary<Schema> = fc.oneof(
  fc.record({ type: fc.constant('string' as const), default: fc.string({ maxLength: 3 }) }, { requiredKeys: ['type'] }),
  fc.record({ type: fc.constant('integer' as const), default: fc.integer() }, { requiredKeys: ['type'] }),
  fc.record({ type: fc.constant('string' as const), nullable: fc.boolean() }),
);
const { schema } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.record({ type: fc.constant('object' as const), properties: fc.dictionary(name, tie('schema'), { maxKeys: 3 }) }),
    fc.record({ type: fc.constant('array' as const), items: tie('schema') }),
    fc.record({ type: fc.constant('object' as const), additionalProperties: tie('schema') }),
    fc.constant({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const),
  ),
}));
const root = fc.dictionary(name, schema, { maxKeys: 4 }).map((properties): Schema => ({ type: 'object', properties }));
const anything = fc.dictionary(name, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });

/** A value of a schema: required nothing, so fields may be missing. */
function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.type === 'string')
    return schema.nullable ? fc.option(fc.string({ maxLength: 3 })) : fc.string({ maxLength: 3 });
  if (schema.type === 'integer') return fc.integer();
  if (schema.type === 'array') return fc.array(valueOf(schema.items ?? {}), { maxLength: 2 });
  if (typeof schema.additionalProperties === 'object') {
    return fc.dictionary(name, valueOf(schema.additionalProperties), { maxKeys: 2 });
  }
  const fields = Object.entries(schema.properties ?? {}).map(([field, property]) => [field, valueOf(property)]);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
}

test('pruning once is enough', () => {
  fc.assert(
    fc.property(root, anything, (schema, value) => {
      pruneFields(schema, value);
      const once = structuredClone(value);
      expect(pruneFields(schema, value)).toEqual([]);
      expect(value).toEqual(once);
    }),
  );
});

test('defaulting once is enough, and adds nothing unknown', () => {
  fc.assert(
    fc.property(root, anything, (schema, value) => {
      pruneFields(schema, value);
      applyDefaults(schema, value);
      const once = structuredClone(value);
      expect(pruneFields(schema, value)).toEqual([]);
      applyDefaults(schema, value);
      expect(value).toEqual(once);
    }),
  );
});

test('a valid value is valid with its defaults, and nothing of it is dropped', () => {
  const pairs = root.chain((schema) => fc.tuple(fc.constant(schema), valueOf(schema)));
  fc.assert(
    fc.property(pairs, ([schema, value]) => {
      expect(validateObject(schema, value)).toEqual([]);
      expect(pruneFields(schema, structuredClone(value))).toEqual([]);
      applyDefaults(schema, value);
      expect(validateObject(schema, value)).toEqual([]);
    }),
  );
});

test('an unchanged value is forgiven whatever the schema says', () => {
  fc.assert(
    fc.property(root, anything, (schema, value) => {
      expect(validateObject(schema, value, { old: structuredClone(value) })).toEqual([]);
    }),
  );
});

test('schemas of types alone are structural', () => {
  fc.assert(
    fc.property(root, (schema) => {
      expect(validateStructural(schema, 'schema')).toEqual([]);
    }),
  );
});
