import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  anyValue,
  array,
  bool,
  celName,
  choice,
  type Infer,
  int,
  intOrString,
  map,
  object,
  required,
  rule,
  scheduleOf,
  string,
  transition,
  transitionRules,
} from './schema.ts';

const server = object(
  'A server.',
  {
    name: required(
      string('Its name.', { maxLength: 8, form: { pattern: '^[a-z]+$', expected: 'a-z' }, immutable: 'a' }),
    ),
    size: choice('How big.', ['small', 'big'], { fallback: 'small' }),
    ports: array('Ports.', int('A port.', { minimum: 1, maximum: 65535 }), { maxItems: 4, unique: true }),
    labels: map('Labels.', string('Value.', { maxLength: 63 }), { maxProperties: 2 }),
    parts: map('Parts.', object('A part.', { on: bool('Whether it is on.') }), { keys: ['head', 'tail'] }),
    share: intOrString('A share.'),
    rest: anyValue<string | null>('Whatever.'),
  },
  { rules: [rule("self.name != 'root'", 'root is taken', '.name')] },
);

describe('the type of a field', () => {
  test('is what the schema says, required fields without a question mark', () => {
    expectTypeOf<Infer<typeof server>>().toEqualTypeOf<{
      readonly name: string;
      readonly size?: 'small' | 'big';
      readonly ports?: readonly number[];
      readonly labels?: Readonly<Record<string, string>>;
      readonly parts?: { readonly head?: { readonly on?: boolean }; readonly tail?: { readonly on?: boolean } };
      readonly share?: number | string;
      readonly rest?: string | null;
    }>();
  });

  test('refuses what the schema does not know', () => {
    // @ts-expect-error the name is missing
    const nameless: Infer<typeof server> = {};
    // @ts-expect-error no such size
    const odd: Infer<typeof server> = { name: 'a', size: 'huge' };
    // @ts-expect-error an optional field is left out, not undefined
    const absent: Infer<typeof server> = { name: 'a', size: undefined };
    expect([nameless, odd, absent]).toHaveLength(3);
  });
});

test('the schema is structural OpenAPI', () => {
  expect(server.schema).toEqual({
    type: 'object',
    description: 'A server.',
    required: ['name'],
    properties: {
      name: {
        type: 'string',
        description: 'Its name. Cannot be changed later.',
        maxLength: 8,
        pattern: '^[a-z]+$',
        'x-expected': 'a-z',
      },
      size: { type: 'string', description: 'How big. Default: "small".', enum: ['small', 'big'] },
      ports: {
        type: 'array',
        description: 'Ports.',
        items: { type: 'integer', format: 'int32', description: 'A port.', minimum: 1, maximum: 65535 },
        maxItems: 4,
        'x-kubernetes-list-type': 'set',
      },
      labels: {
        type: 'object',
        description: 'Labels.',
        additionalProperties: { type: 'string', description: 'Value.', maxLength: 63 },
        maxProperties: 2,
      },
      parts: {
        type: 'object',
        description: 'Parts.',
        additionalProperties: {
          type: 'object',
          description: 'A part.',
          properties: { on: { type: 'boolean', description: 'Whether it is on.' } },
        },
        maxProperties: 2,
        'x-kubernetes-validations': [
          {
            rule: 'self.all(key, key in ["head", "tail"])',
            message: 'the known names are head, tail',
          },
        ],
      },
      share: {
        description: 'A share.',
        anyOf: [{ type: 'integer' }, { type: 'string' }],
        'x-kubernetes-int-or-string': true,
      },
      rest: { description: 'Whatever.', nullable: true, 'x-kubernetes-preserve-unknown-fields': true },
    },
    'x-kubernetes-validations': [{ rule: "self.name != 'root'", message: 'root is taken', fieldPath: '.name' }],
  });
});

test('a field that stays as it is counts its absence as the default, wherever it lies', () => {
  const spec = object('S.', { database: object('D.', { user: string('U.', { maxLength: 9, immutable: 'nova' }) }) });
  expect(transitionRules(spec)).toEqual([
    {
      rule:
        '(has(self.database) && has(self.database.user) ? self.database.user : "nova") == ' +
        '(has(oldSelf.database) && has(oldSelf.database.user) ? oldSelf.database.user : "nova")',
      message: expect.stringMatching(/^cannot be changed/),
      fieldPath: '.database.user',
    },
  ]);
});

test('other ways to change are rules over the new and the old value', () => {
  const grows = transition(int('N.', { minimum: 0, maximum: 9 }), {
    absent: '1',
    allows: (next, previous) => `${next} >= ${previous}`,
    message: 'only grows',
  });
  const [only] = transitionRules(object('S.', { n: grows }));
  expect(only).toMatchObject({
    rule: '(has(self.n) ? self.n : 1) >= (has(oldSelf.n) ? oldSelf.n : 1)',
    message: 'only grows',
  });
});

test('where a spec holds schedules is known, wherever they lie', () => {
  const when = scheduleOf(string('When.', { maxLength: 9 }));
  const spec = object('S.', {
    at: when,
    all: array('A.', object('O.', { when }), { maxItems: 2 }),
    by: map('M.', when, { maxProperties: 2 }),
  });
  expect(spec.schedules.map(({ path }) => path.join('.'))).toEqual(['at', 'all.*.when', 'by.*']);
});

test('reserved words are escaped in CEL', () => {
  expect(['namespace', 'name', 'in'].map(celName)).toEqual(['__namespace__', 'name', '__in__']);
});
