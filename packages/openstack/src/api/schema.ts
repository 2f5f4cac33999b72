/**
 * Says once what a field of a custom resource is: from one value come the structural OpenAPI schema of the CRD, the
 * TypeScript type and the reference documentation.
 *
 * Own code, because zod's JSON schema output would need a rewriter of this length (nullable unions, integer bounds,
 * `$ref`s), drops refinements silently, and knows neither list types nor CEL.
 *
 * @example
 * const spec = object('A cache.', {
 *   replicas: int('How many servers run.', { minimum: 0, maximum: 9, fallback: 1 }),
 *   flavour: required(choice('Which server.', ['valkey', 'memcached'])),
 * });
 * type Spec = Infer<typeof spec>; // { readonly replicas?: number; readonly flavour: 'valkey' | 'memcached' }
 */
export interface OpenApiSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly additionalProperties?: OpenApiSchema;
  readonly required?: readonly string[];
  readonly items?: OpenApiSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /**
   * What a text has to be, in words. An API server answers with a pattern alone: where there are words, the CRD has a rule in
   * its place (crd.ts).
   */
  readonly 'x-expected'?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly anyOf?: readonly OpenApiSchema[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

/** One CEL rule of `x-kubernetes-validations`; `self` is the value that carries it, `oldSelf` what it was before. */
export interface Rule {
  readonly rule: string;
  readonly message: string;
  /** Where the mistake is, below the value that carries the rule: `.storage.size`. */
  readonly fieldPath?: string;
  /** Checked where there was no value before as well: `oldSelf` is optional then (`oldSelf.hasValue()`, `oldSelf.value()`). */
  readonly optionalOldSelf?: true;
  /** An empty object breaks it, as it breaks `required`; the CRD does not say so (crd.ts, embed.ts). */
  readonly refusesEmpty?: true;
}

/**
 * What may become of a field once the object exists. Checked at the root of the spec, where it also holds when the
 * field, or the object around it, is left out: `absent` is the value (a CEL literal) that stands for that.
 */
export interface Transition {
  readonly path: readonly string[];
  readonly absent: string;
  /** CEL over the new and the old value. */
  readonly allows: (next: string, previous: string) => string;
  readonly message: string;
}

/** Kinds of objects that users bring, and name in a spec. */
export type BroughtKind = 'Secret' | 'ConfigMap' | 'StorageClass';

/** Where a value holds something; `*` stands for each item of a list or map. */
export interface Place {
  readonly path: readonly string[];
}

/** Where a value holds the name of an object that users bring. */
export interface NamePath extends Place {
  readonly kind: BroughtKind;
}

/** One field: its schema, whether it must be there, and (at compile time only) its type. */
export interface Field<T = unknown, R extends boolean = boolean> {
  readonly schema: OpenApiSchema;
  readonly required: R;
  readonly transitions: readonly Transition[];
  /** The names of objects that its value holds. */
  readonly names: readonly NamePath[];
  /** Where its value holds schedules of cron. */
  readonly schedules: readonly Place[];
  /** Never set; carries the type. */
  readonly $type?: T;
}

/** The type of a field's value. */
export type Infer<F> = F extends Field<infer T> ? T : never;

/** Fields of an object. */
export type Fields = Readonly<Record<string, Field>>;
type Flat<T> = { readonly [K in keyof T]: T[K] };
type ObjectOf<F extends Fields> = Flat<
  { [K in keyof F as F[K] extends Field<unknown, true> ? K : never]: Infer<F[K]> } & {
    [K in keyof F as F[K] extends Field<unknown, true> ? never : K]?: Infer<F[K]>;
  }
>;

/** What every builder takes beside its own limits. */
interface Options<T> {
  readonly rules?: readonly Rule[];
  /** Default of the CRD, written into stored objects: only what can never change. */
  readonly default?: T;
  /** What compose takes when the field is absent (documentation): a value, or words for a computed one. */
  readonly fallback?: T;
  readonly otherwise?: string;
  /** The value stays as it was when the object was created; absent counts as this value. */
  readonly immutable?: T;
}

function field<T>(description: string, schema: OpenApiSchema, options: Options<T> = {}): Field<T, false> {
  const { rules = [], fallback, otherwise } = options;
  const words = otherwise ?? (fallback === undefined ? undefined : JSON.stringify(fallback));
  const notes = [
    ...(words === undefined ? [] : [` Default: ${words}.`]),
    ...(options.immutable === undefined ? [] : [' Cannot be changed later.']),
  ];
  return {
    schema: {
      description: description + notes.join(''),
      ...schema,
      ...(options.default === undefined ? {} : { default: options.default }),
      ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }),
    },
    required: false,
    transitions: options.immutable === undefined ? [] : [immutable(options.immutable)],
    names: [],
    schedules: [],
  };
}

function immutable(absent: unknown): Transition {
  return {
    path: [],
    absent: JSON.stringify(absent),
    allows: (next, previous) => `${next} == ${previous}`,
    message: 'cannot be changed after creation; set it back, or create another object',
  };
}

/** A rule: `cel` must be true, else the API server refuses with `message`. */
export function rule(cel: string, message: string, fieldPath?: string): Rule {
  return { rule: cel, message, ...(fieldPath === undefined ? {} : { fieldPath }) };
}

/**
 * A rule that came later: what breaks it already may still be changed as `unless` allows, CEL over `self` and `old`, what it
 * was before.
 */
export function laterRule(cel: string, unless: string, message: string, fieldPath?: string): Rule {
  // By a list, because not every parser takes `has(oldSelf.value().field)`.
  const changed = `oldSelf.hasValue() && [oldSelf.value()].all(old, ${unless})`;
  return { ...rule(`(${cel}) || ${changed}`, message, fieldPath), optionalOldSelf: true };
}

/** The same field, which must be there. */
export function required<T>(field: Field<T>): Field<T, true> {
  return { ...field, required: true };
}

/** The same field with one more rule about how its value may change. */
export function transition<T>(field: Field<T, false>, change: Omit<Transition, 'path'>): Field<T, false> {
  return { ...field, transitions: [...field.transitions, { ...change, path: [] }] };
}

/** The same text, which is the name of an object of this kind: in the same namespace, where the kind has namespaces. */
export function nameOf(kind: BroughtKind, field: Field<string, false>): Field<string, false> {
  return { ...field, names: [{ kind, path: [] }] };
}

/** The same text, which is a schedule of cron. */
export function scheduleOf(field: Field<string, false>): Field<string, false> {
  return { ...field, schedules: [{ path: [] }] };
}

/** What children hold, seen from what contains them: each with its name there. */
function held(children: readonly (readonly [string, Field])[]): Pick<Field, 'names' | 'schedules'> {
  const below = <P extends Place>(placesOf: (child: Field) => readonly P[]) =>
    children.flatMap(([segment, child]) =>
      placesOf(child).map((place) => ({ ...place, path: [segment, ...place.path] })),
    );
  return { names: below(({ names }) => names), schedules: below(({ schedules }) => schedules) };
}

/** What a text looks like: an expression of RE2, and the words for it, such as `a size such as 10Gi`. */
export interface Form {
  readonly pattern: string;
  readonly expected: string;
}

function formOf(form: Form | undefined): OpenApiSchema {
  return form === undefined ? {} : { pattern: form.pattern, 'x-expected': form.expected };
}

/** A text. `maxLength` is mandatory: the cost of CEL rules is estimated from it. */
export function string(
  description: string,
  options: Options<string> & { maxLength: number; minLength?: number; form?: Form; format?: string },
): Field<string, false> {
  const { maxLength, minLength, form, format } = options;
  return field(
    description,
    {
      type: 'string',
      maxLength,
      ...(minLength === undefined ? {} : { minLength }),
      ...formOf(form),
      ...(format === undefined ? {} : { format }),
    },
    options,
  );
}

/** One of a few texts. */
export function choice<const V extends string>(
  description: string,
  values: readonly V[],
  options?: Options<NoInfer<V>>,
): Field<V, false> {
  return field(description, { type: 'string', enum: values }, options);
}

/** A whole number within bounds. */
export function int(
  description: string,
  options: Options<number> & { minimum: number; maximum: number },
): Field<number, false> {
  const { minimum, maximum } = options;
  const format = maximum > 2 ** 31 - 1 ? 'int64' : 'int32';
  return field(description, { type: 'integer', format, minimum, maximum }, options);
}

/** Yes or no. */
export function bool(description: string, options?: Options<boolean>): Field<boolean, false> {
  return field(description, { type: 'boolean' }, options);
}

/** A whole number or a text, as core/v1 has it for quantities of resources. */
export function intOrString(
  description: string,
  options: Options<number | string> & { form?: Form } = {},
): Field<number | string, false> {
  return field(
    description,
    {
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      ...formOf(options.form),
      'x-kubernetes-int-or-string': true,
    },
    options,
  );
}

/**
 * Any JSON value, kept as it is; the only way a structural schema can say "text, number, yes or no, or a list". `names`:
 * where it may hold names of objects that users bring.
 */
export function anyValue<T>(description: string, names: readonly NamePath[] = []): Field<T, false> {
  return { ...field<T>(description, { nullable: true, 'x-kubernetes-preserve-unknown-fields': true }), names };
}

/** A list. `keys` makes it a map by these fields of its items, `unique` a set; otherwise it is replaced as a whole. */
export function array<T>(
  description: string,
  items: Field<T>,
  options: Options<readonly T[]> & { maxItems: number; minItems?: number; keys?: readonly string[]; unique?: boolean },
): Field<readonly T[], false> {
  const { maxItems, minItems, keys, unique = false } = options;
  const list = field(
    description,
    {
      type: 'array',
      items: items.schema,
      maxItems,
      ...(minItems === undefined ? {} : { minItems }),
      'x-kubernetes-list-type': keys !== undefined ? 'map' : unique ? 'set' : 'atomic',
      ...(keys === undefined ? {} : { 'x-kubernetes-list-map-keys': keys }),
    },
    options,
  );
  return { ...list, ...held([['*', items]]) };
}

type MapOf<K extends string, T> = string extends K ? Readonly<Record<string, T>> : { readonly [key in K]?: T };

/** A map from texts to values. With `keys` only these names are accepted (by a rule that lists them). */
export function map<T, const K extends string = string>(
  description: string,
  values: Field<T>,
  options: Options<never> & { maxProperties?: number; keys?: readonly K[] },
): Field<MapOf<K, T>, false> {
  const { keys, rules = [] } = options;
  const names = keys?.map((key) => JSON.stringify(key)).join(', ');
  const whole = field<MapOf<K, T>>(
    description,
    {
      type: 'object',
      additionalProperties: values.schema,
      maxProperties: options.maxProperties ?? keys?.length ?? 0,
    },
    {
      rules:
        keys === undefined
          ? rules
          : [rule(`self.all(key, key in [${names}])`, `the known names are ${keys.join(', ')}`), ...rules],
    },
  );
  return { ...whole, ...held([['*', values]]) };
}

/** An object with known fields. `open` keeps fields that the schema does not name. */
export function object<const F extends Fields>(
  description: string,
  fields: F,
  options: Pick<Options<ObjectOf<F>>, 'rules' | 'otherwise' | 'default'> & { open?: boolean } = {},
): Field<ObjectOf<F>, false> {
  const entries = Object.entries(fields);
  const mandatory = entries.filter(([, child]) => child.required).map(([name]) => name);
  return {
    ...field<ObjectOf<F>>(
      description,
      {
        type: 'object',
        properties: Object.fromEntries(entries.map(([name, child]) => [name, child.schema])),
        ...(mandatory.length === 0 ? {} : { required: mandatory }),
        ...(options.open === true ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
      },
      options,
    ),
    transitions: entries.flatMap(([name, child]) =>
      child.transitions.map((change) => ({ ...change, path: [name, ...change.path] })),
    ),
    ...held(entries),
  };
}

/**
 * The CEL rules for everything that a spec says about changes; they belong on the spec itself, or a part of it. `unbound`:
 * CEL for when what was left out binds nobody.
 */
export function transitionRules({ transitions }: Pick<Field, 'transitions'>, unbound?: string): Rule[] {
  return transitions.map(({ path, absent, allows, message }) => {
    const names = path.map(celName);
    // Not by optional fields (`self.?a.orValue(b)`): the API server takes the cost of their values for unbounded.
    const value = (root: string) => {
      const paths = names.map((_, i) => [root, ...names.slice(0, i + 1)].join('.'));
      return `(${paths.map((each) => `has(${each})`).join(' && ')} ? ${paths.at(-1)} : ${absent})`;
    };
    const allowed = allows(value('self'), value('oldSelf'));
    const stated = names.map((_, i) => `has(${['oldSelf', ...names.slice(0, i + 1)].join('.')})`).join(' && ');
    const cel = unbound === undefined ? allowed : `(${unbound} && !(${stated})) || ${allowed}`;
    return rule(cel, message, `.${path.join('.')}`);
  });
}

/** A property's name in CEL: reserved words are wrapped (apiextensions, "Escaping of property names"). */
export function celName(name: string): string {
  return /^(as|break|const|continue|else|false|for|function|if|import|in|let|loop|namespace|null|package|return|true|var|void|while)$/.test(
    name,
  )
    ? `__${name}__`
    : name;
}

/** The schema with `change` made to each of its children; `name` is empty for items and values. */
export function mapped(
  schema: OpenApiSchema,
  change: (child: OpenApiSchema, name: string) => OpenApiSchema,
): OpenApiSchema {
  const { properties, additionalProperties, items } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, change(child, name)])),
    }),
    ...(additionalProperties && { additionalProperties: change(additionalProperties, '') }),
    ...(items && { items: change(items, '') }),
  };
}
