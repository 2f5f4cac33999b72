import { type Layer, layered } from '../oslo/layers.ts';
import { referencesIn } from '../oslo/references.ts';
import { type OptionValue, writeOsloFile } from '../oslo/writer.ts';
import { multiOptions } from '../releases/multi-options.ts';
import type { Problem } from './step.ts';

/** `spec.config` as users write it: file or component -> section -> option -> value. */
export type WrittenConfig = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;

/** Options that the operator composes itself: section -> option -> the field to set instead, or `nothing: ` and why none is. */
export type OwnedOptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What users say, checked: what cannot be taken is left out and said. */
export interface UserConfig {
  readonly layers: Readonly<Record<string, Layer>>;
  readonly problems: readonly Problem[];
}

/** Characters of a name of a section or an option; the CRDs bound their number only. */
const longest = 255;
/** Mistakes that are told of one `config`. Their words would be a multiple of the resource otherwise. */
const mostProblems = 10;

/**
 * Checks `config` at `path` (such as `spec.config`). `names` are the files and components that it may speak of. After ten
 * mistakes it goes no further.
 */
export function userConfig(
  config: WrittenConfig | undefined,
  options: { path: string; names: readonly string[]; owned: OwnedOptions },
): UserConfig {
  const { path, names, owned } = options;
  const layers: Record<string, Layer> = {};
  const problems: Problem[] = [];
  for (const [name, sections] of Object.entries(config ?? {})) {
    if (!names.includes(name)) {
      problems.push(
        refused(`${path}[${JSON.stringify(name)}]: unknown file or component; known are ${names.join(', ')}`),
      );
      continue;
    }
    const layer: Record<string, Record<string, OptionValue | null>> = {};
    for (const [section, entries] of Object.entries(sections)) {
      for (const [option, value] of Object.entries(entries)) {
        if (problems.length >= mostProblems) return { layers, problems };
        const problem = mistake(section, option, value, owned);
        if (problem === undefined) (layer[section] ??= {})[option] = optionValue(section, option, value);
        else
          problems.push(
            refused(`${path}[${JSON.stringify(name)}].${shortened(section)}.${shortened(option)}: ${problem}`),
          );
      }
    }
    layers[name] = layer;
  }
  return { layers, problems };
}

function shortened(name: string): string {
  return name.length <= longest ? name : `${name.slice(0, longest)}...`;
}

function refused(message: string): Problem {
  return { reason: 'ConfigRefused', message };
}

/** How the field of an owned option begins when users cannot set it at all; the cause follows. */
const fixed = 'nothing: ';

/** What is wrong with one option, if anything. */
function mistake(section: string, option: string, value: unknown, owned: OwnedOptions): string | undefined {
  if (Math.max(section.length, option.length) > longest)
    return `names of sections and options have at most ${longest} characters`;
  // Assigning to it would change the prototype of every object of the process.
  const reserved = [section, option].find((name) => name in Object.prototype);
  if (reserved !== undefined) return `no section or option is named ${reserved}`;
  const field = owned[section]?.[option];
  if (field?.startsWith(fixed)) return `the operator sets this option itself: ${field.slice(fixed.length)}; remove it`;
  if (field !== undefined) return `this option follows from other fields: set ${field} instead`;
  if (value !== null && !(Array.isArray(value) ? value : [value]).every(isScalar)) {
    const found = Array.isArray(value) ? 'a list with other entries' : 'a map';
    return `expected a text, a number, true or false, a list of these, or null, found ${found}: write the value as in the file`;
  }
  const text = JSON.stringify(value);
  if (referencesIn(text).length > 0 || text.includes('{{')) {
    return 'a value cannot contain "{{"; use a variable from a Secret for a secret value';
  }
  try {
    writeOsloFile(layered({ [section]: { [option]: optionValue(section, option, value) } }));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** A list is one line, as most options want it, or one line for each entry where an option may be given many times. */
function optionValue(section: string, option: string, value: unknown): OptionValue | null {
  if (!Array.isArray(value)) return value as OptionValue | null;
  const entries = value.map(String);
  return multiOptions[section]?.includes(option) === true ? entries : entries.join(',');
}
