import { partName } from '../api/node-groups.ts';
import { array, type Field, type Fields, object, type Rule, required, rule, string } from '../api/schema.ts';
import { config } from '../api/template.ts';
import { databaseRef } from '../infrastructure/mariadb/reference.ts';
import { cacheRef, coordinationRef } from '../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from './keystone/reference.ts';

const text = (what: string, options: Partial<Parameters<typeof string>[1]> = {}) =>
  string(what, { maxLength: 128, minLength: 1, ...options });

/** Fields that no other type may have. */
export function onlyFor(types: readonly string[], ...fields: readonly string[]): Rule {
  const has = fields.map((field) => `has(self.${field})`).join(' || ');
  return rule(`${isOneOf(types)} || !(${has})`, `${all(fields, 'and')} can be set for type ${all(types, 'or')} only`);
}

/** Fields that these types need, and no other may have. */
export function isOf(types: readonly string[], ...fields: readonly string[]): Rule[] {
  const has = fields.map((field) => `has(self.${field})`).join(' && ');
  return [
    rule(`!(${isOneOf(types)}) || (${has})`, `type ${all(types, 'or')} needs ${all(fields, 'and')}`),
    onlyFor(types, ...fields),
  ];
}

const all = (names: readonly string[], word: 'and' | 'or') => names.join(', ').replace(/, ([^,]*)$/, ` ${word} $1`);
const isOneOf = (types: readonly string[]) => `self.type in ${JSON.stringify(types)}`;

/** What a service says of its backends. */
export interface BackendKind<T, F extends Fields> {
  /** What they are, in sentences. */
  readonly description: string;
  /** What a backend's name is also the name of. */
  readonly named: string;
  readonly file: string;
  /** Sections of the file whose names are names of backends, too. */
  readonly taken: readonly string[];
  readonly type: Field<T>;
  readonly fields: F;
  /** Fields that cannot be changed, and what stands for them (CEL) where they are left out; `why` goes on after them. */
  readonly fixed: { readonly fields: Readonly<Record<string, string>>; readonly why: string };
  readonly backendHost: string;
  readonly rules: readonly Rule[];
}

/** `spec.backends`. */
export function backendsField<T, F extends Fields>(kind: BackendKind<T, F>) {
  const { description, named, file, taken, type, fields, fixed, backendHost, rules } = kind;
  const kept = { backendHost: "''", ...fixed.fields };
  const value = (one: string, field: string, absent: string) => `(has(${one}.${field}) ? ${one}.${field} : ${absent})`;
  const changes = Object.entries(kept).map(
    ([field, absent]) => `${value('old', field, absent)} != ${value('one', field, absent)}`,
  );
  const differs = ['old.type != one.type', ...changes].join(' || ');
  return array(
    description,
    object(
      'One backend.',
      {
        name: required(partName(`Its name: also that of its section in ${file}, and of ${named}.`)),
        type: required(type),
        ...fields,
        backendHost: text(backendHost, {
          otherwise: 'the name of this resource',
          // cinder.volume.volume_utils.extract_host: what is recorded is host@backend#pool.
          form: { pattern: '^[^@#]*$', expected: "a name without '@' and '#'" },
        }),
        config: config(file),
      },
      {
        rules: [
          rule(
            `!(self.name in ${JSON.stringify(taken)})`,
            `${file} has a section of this name already; choose another name`,
            '.name',
          ),
          ...rules,
        ],
      },
    ),
    {
      minItems: 1,
      maxItems: 16,
      keys: ['name'],
      rules: [
        rule(
          `self.all(one, !oldSelf.exists(old, old.name == one.name && (${differs})))`,
          `${all(['type', ...Object.keys(kept)], 'and')} of a backend cannot be changed: ${fixed.why}; add another backend`,
        ),
      ],
    },
  );
}

/** `spec.defaultBackend`. */
export const defaultBackend = (what: string) =>
  text(`Name of the backend whose type ${what} have that ask for none.`, { otherwise: 'the first one' });

/** The rule of a spec that has it. */
const knownDefault = rule(
  '!has(self.defaultBackend) || !has(self.backends) || self.backends.exists(one, one.name == self.defaultBackend)',
  'expected the name of one of spec.backends',
  '.defaultBackend',
);

/**
 * The rules of a spec with types beside those of its backends, such as volumeTypes and defaultVolumeType; `usable` says (CEL)
 * what a type has to be to be the default, and why.
 */
export function typeRules(
  types: string,
  defaultType: string,
  usable: { readonly rule: string; readonly words: string } = { rule: '', words: '' },
): Rule[] {
  const given = `!has(self.${types}) || !has(self.backends) || self.${types}.all(type, `;
  return [
    knownDefault,
    rule(
      `!has(self.${defaultType}) || (has(self.${types}) && self.${types}.exists(one, one.name == self.${defaultType}${usable.rule}))`,
      `expected the name of one of spec.${types}${usable.words}`,
      `.${defaultType}`,
    ),
    rule(
      `!has(self.${defaultType}) || !has(self.defaultBackend)`,
      `set ${defaultType} or defaultBackend, not both`,
      `.${defaultType}`,
    ),
    rule(
      `${given}!self.backends.exists(one, one.name == type.name))`,
      'each backend has a type of its own name already; choose other names',
      `.${types}`,
    ),
    rule(
      `${given}!has(type.backend) || self.backends.exists(one, one.name == type.backend))`,
      'expected as backend the name of one of spec.backends',
      `.${types}`,
    ),
  ];
}

/** Components of which a second process would do harm, for `template`. */
export const single = <C extends string>(...components: readonly C[]) => ({
  components,
  reason: 'a second process would take what the first one does for abandoned',
});

/** What such a service refers to. */
export const references = { databaseRef, messageQueueRef, cacheRef, coordinationRef, keystoneRef };
