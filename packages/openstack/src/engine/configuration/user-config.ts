import type { KnownOptions } from '../../options/known-options.ts';
import { type OptionVerdict, optionVerdict, unknownSection } from '../../options/option-verdict.ts';
import { type Layer, layered } from '../../oslo/layers.ts';
import { referencesIn, secretReference } from '../../oslo/references.ts';
import { type OptionValue, writeOsloFile } from '../../oslo/writer.ts';
import type { Problem } from '../vocabulary/step.ts';

/**
 * `spec.config` as users write it: file or component -> section -> option -> value. An API server drops what is null but
 * values; a file to be rendered may have it.
 */
export type WrittenConfig = Readonly<Record<string, Readonly<Record<string, WrittenSection | null>> | null>>;

type WrittenSection = Readonly<Record<string, unknown>>;

/** Options that the operator composes itself: section -> option -> the field to set instead, or `nothing: ` and why none is. */
export type OwnedOptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What users say, checked: what cannot be taken is left out and said. */
export interface UserConfig {
  readonly layers: Readonly<Record<string, Layer>>;
  readonly problems: readonly Problem[];
  /** What is to be mended, and was rolled out before: it stays. */
  readonly degraded: readonly string[];
  /** What is as it should be, all the same. */
  readonly remarks: readonly string[];
}

/** What decides about users' options. */
export interface ConfigRules {
  /** Where they stand, such as `spec.config`. */
  readonly path: string;
  /** The files and components that they may speak of. */
  readonly names: readonly string[];
  readonly owned: OwnedOptions;
  /** The options that the service has; absent: nothing is known of them. */
  readonly known?: KnownOptions | undefined;
  /** Options that nothing knows are written all the same. */
  readonly allowsUnknown?: boolean;
  /** The service runs with just these options: what the facts say against them is told, and changes nothing. */
  readonly isRunning?: () => boolean;
}

/** Characters of a name of a section or an option; the CRDs bound their number only. */
const longest = 255;
/** Mistakes and remarks of a kind that are told of one `config`. Their words would be a multiple of the resource otherwise. */
const mostTold = 10;

/** How a value is taken from a Secret. */
const wayOfSecrets = 'secretKeyRef: { name, key }';

/** Checks `config`. After ten mistakes it goes no further. */
export function userConfig(config: WrittenConfig | undefined, rules: ConfigRules): UserConfig {
  const { path, names, owned, known, allowsUnknown = false, isRunning = () => false } = rules;
  const layers: Record<string, Layer> = {};
  const problems: Problem[] = [];
  const degraded: string[] = [];
  const remarks: string[] = [];
  /** Whether the option stays. */
  const told = (at: string, { kind, tell }: OptionVerdict): boolean => {
    const isRemark = kind === 'deprecated' || (kind === 'unknown' && allowsUnknown);
    if (isRemark || isRunning()) {
      const list = isRemark ? remarks : degraded;
      if (list.length < mostTold) list.push(`${at}: ${tell()}`);
      return true;
    }
    const wayOut = kind === 'unknown' ? ' (spec.unknownOptions: Allow lets in those of drivers of your own)' : '';
    problems.push(refused(`${at}: ${tell()}${wayOut}`));
    return false;
  };
  for (const [name, sections] of Object.entries(config ?? {})) {
    const file = `${path}[${JSON.stringify(name)}]`;
    if (!names.includes(name)) {
      problems.push(refused(`${file}: unknown file or component; known are ${names.join(', ')}`));
      continue;
    }
    const layer: Record<string, Record<string, OptionValue | null>> = {};
    for (const [section, written] of Object.entries(sections ?? {})) {
      const entries = written ?? {};
      if (problems.length >= mostTold) break;
      if (typeof entries !== 'object' || Array.isArray(entries)) {
        problems.push(refused(`${file}.${shortened(section)}: expected the options of a section`));
        continue;
      }
      const isKnown = known === undefined || hasSection(known, section, Object.keys(entries));
      // Of a section that nothing knows each option is unknown: that is said once.
      if (!isKnown && !told(`${file}.${shortened(section)}`, unknownSection(known, section))) continue;
      for (const [option, value] of Object.entries(entries)) {
        if (problems.length >= mostTold) break;
        const at = `${file}.${shortened(section)}.${shortened(option)}`;
        const problem = mistake([section, option], value, owned, known !== undefined);
        if (problem !== undefined) {
          problems.push(refused(`${at}: ${problem}`));
          continue;
        }
        const stated = writtenValue(value, known?.find(section, option)?.type === 'multi');
        const verdict = known && isKnown ? verdictOf([section, option], value, stated, { known, owned }) : undefined;
        if (verdict === undefined || told(at, verdict)) (layer[section] ??= {})[option] = stated;
      }
    }
    layers[name] = layer;
  }
  return { layers, problems, degraded, remarks };
}

function shortened(name: string): string {
  return name.length <= longest ? name : `${name.slice(0, longest)}...`;
}

function refused(message: string): Problem {
  return { reason: 'ConfigRefused', message };
}

/** How the field of an owned option begins when users cannot set it at all; the cause follows. */
export const fixed = 'nothing: ';

/** Why users cannot set an option, which `field` says instead. */
export function ownedWords(field: string): string {
  return field.startsWith(fixed)
    ? `the operator sets this option itself: ${field.slice(fixed.length)}; remove it`
    : `this option follows from other fields: set ${field} instead`;
}

/** Whether the service has a section, or had it: its options may be known by former names. */
function hasSection(known: KnownOptions, section: string, options: readonly string[]): boolean {
  return known.groups().has(section) || options.some((option) => known.find(section, option) !== undefined);
}

/**
 * What is wrong with one option whatever the service has, if anything. `isOslo`: oslo.config reads it, which takes the value
 * from where a Secret is.
 */
function mistake(
  [section, option]: readonly [string, string],
  value: unknown,
  owned: OwnedOptions,
  isOslo: boolean,
): string | undefined {
  if (Math.max(section.length, option.length) > longest)
    return `names of sections and options have at most ${longest} characters`;
  // Assigning to it would change the prototype of every object of the process.
  const reserved = [section, option].find((name) => name in Object.prototype);
  if (reserved !== undefined) return `no section or option is named ${reserved}`;
  const field = owned[section]?.[option];
  if (field !== undefined) return ownedWords(field);
  const secret = isOslo ? secretKeyRef(value) : undefined;
  if (secret !== undefined)
    return isReference(secret) ? undefined : `expected ${wayOfSecrets}, a key of a Secret of the namespace`;
  if (value !== null && !(Array.isArray(value) ? value : [value]).every(isScalar)) {
    const found = Array.isArray(value) ? 'a list with other entries' : 'a map';
    return `expected a text, a number, true or false, a list of these, or null, found ${found}: write the value as in the file`;
  }
  try {
    writeOsloFile(layered({ [section]: { [option]: writtenValue(value, false) } }));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** What the facts say of an option; an option that is owned is so under its former names as well. */
function verdictOf(
  [section, option]: readonly [string, string],
  value: unknown,
  written: OptionValue | null,
  { known, owned }: { readonly known: KnownOptions; readonly owned: OwnedOptions },
): OptionVerdict | undefined {
  const { group = section, name = option } = known.find(section, option) ?? {};
  const field = owned[group]?.[name];
  if (field !== undefined)
    return { kind: 'wrong', tell: () => `deprecated name of [${group}] ${name}: ${ownedWords(field)}` };
  const isPlain = written !== null && secretKeyRef(value) === undefined;
  return optionVerdict(known, [section, option], isPlain ? written : undefined);
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** What a value says of a key of a Secret; undefined when it is another value. */
function secretKeyRef(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && 'secretKeyRef' in value
    ? (value.secretKeyRef ?? {})
    : undefined;
}

function isReference(ref: unknown): ref is { readonly name: string; readonly key: string } {
  const { name, key } = ref as { name?: unknown; key?: unknown };
  return typeof name === 'string' && typeof key === 'string' && referencesIn(secretReference(name, key)).length === 1;
}

/** A list is one line, as most options want it, or one line for each entry of an option that may be given many times. */
function writtenValue(value: unknown, isMulti: boolean): OptionValue | null {
  const secret = secretKeyRef(value);
  if (isReference(secret ?? {})) {
    const { name, key } = secret as { name: string; key: string };
    const reference = secretReference(name, key, 'oslo');
    return isMulti ? [reference] : reference;
  }
  if (!Array.isArray(value)) return value as OptionValue | null;
  const entries = value.map(String);
  return isMulti ? entries : entries.join(',');
}
