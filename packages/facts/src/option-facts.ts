/** What kind of value an option takes: oslo.config's types; `multi` may be given many times, one value a line. */
export type ValueType =
  | 'boolean'
  | 'dict'
  | 'float'
  | 'host-address'
  | 'host-domain'
  | 'hostname'
  | 'integer'
  | 'ip'
  | 'list'
  | 'multi'
  | 'port'
  | 'range'
  | 'string'
  | 'uri';

/** A type and its limits. What is absent does not limit. */
export interface ValueFacts {
  readonly type: ValueType;
  /** Of the elements of a `list` or `multi`, or of the values of a `dict`; absent: any string. */
  readonly items?: ValueFacts;
  readonly min?: number;
  readonly max?: number;
  /** The only values; `null` and the empty text may be among them. */
  readonly choices?: readonly (string | number | null)[];
  /** Choices are compared without regard to case. */
  readonly ignoreCase?: true;
  /** A regular expression of Python that a value is searched for. */
  readonly regex?: string;
  /** In characters. */
  readonly maxLength?: number;
  /** Of an `ip`: the only version allowed. */
  readonly version?: 4 | 6;
  /** Of a `uri`: the only ones allowed. */
  readonly schemes?: readonly string[];
}

/** One option of a service's configuration. */
export interface OptionFacts extends ValueFacts {
  readonly group: string;
  readonly name: string;
  /** Of oslo.config: where the option is declared, such as `oslo.log`. */
  readonly namespace: string;
  /** As the sample configuration has it: a line, the lines of a `multi`, or null where there is none. */
  readonly default: string | readonly string[] | null;
  /** The default is an example, or it depends on the machine. */
  readonly sample: boolean;
  /** Older places of it, `[group, name]`, which are read as well. */
  readonly deprecated: readonly (readonly [group: string, name: string])[];
  /** It will be gone, since and why as far as the package says. */
  readonly removal?: { readonly since?: string; readonly reason?: string };
  /** It can be changed while the program runs (SIGHUP). */
  readonly mutable: boolean;
  /** It must not be shown. */
  readonly secret: boolean;
  /** The program does not start without it. */
  readonly required: boolean;
  readonly advanced: boolean;
}

/** An option in the generated files: `[group, name, type, default, what is not the rule]`. */
export type OptionLine = readonly [
  group: string,
  name: string,
  type: ValueType,
  value: OptionFacts['default'],
  rest?: Partial<OptionFacts>,
];

/** The option of a generated line. */
export function optionOf(namespace: string, [group, name, type, value, rest]: OptionLine): OptionFacts {
  const flags = { sample: false, deprecated: [], mutable: false, secret: false, required: false, advanced: false };
  return { group, name, namespace, type, default: value, ...flags, ...rest };
}
