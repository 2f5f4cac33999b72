import type { OptionFacts } from '@openstack-operator/facts';
import type { OptionValue } from '../oslo/writer.ts';
import type { KnownOptions } from './known-options.ts';
import { nearest } from './nearest.ts';
import { valueMistake } from './option-value.ts';

/** What is to be said of an option that a user sets; the words are made when they are told. */
export interface OptionVerdict {
  /**
   * `unknown`: no program of the service has it; `wrong`: its value cannot be read, or its place is taken; `secret`: it may
   * not stand in plain text; `deprecated`: it works, and will not for ever.
   */
  readonly kind: 'unknown' | 'wrong' | 'secret' | 'deprecated';
  readonly tell: () => string;
}

/** Groups that have an option of a name, as a message lists them. */
const mostGroups = 3;

/** Characters of a reason that OpenStack gives. */
const longestReason = 300;

/**
 * What the facts say of an option that a user sets; undefined when nothing is to be said. `value` is undefined where a
 * Secret has it, or where the option is left unset.
 */
export function optionVerdict(
  known: KnownOptions,
  [group, name]: readonly [group: string, name: string],
  value: OptionValue | undefined,
): OptionVerdict | undefined {
  const option = known.find(group, name);
  if (option === undefined) return { kind: 'unknown', tell: () => unknownOption(known, group, name) };
  if (option.secret && value !== undefined && value !== '')
    return {
      kind: 'secret',
      tell: () =>
        'this option holds a secret, which everybody who may read ConfigMaps would see: put it into a Secret, and write secretKeyRef: { name, key } as the value',
    };
  const mistake = value === undefined ? undefined : valueMistake(option, value);
  if (mistake !== undefined) return { kind: 'wrong', tell: () => mistake };
  const words = [...formerName(option, group, name), ...removal(option)];
  return words.length === 0 ? undefined : { kind: 'deprecated', tell: () => words.join('; ') };
}

/** What is to be said of a section that no program of the service has. */
export function unknownSection(known: KnownOptions, group: string): OptionVerdict {
  const tell = () => {
    const near = nearest(group, known.groups());
    return `there is no such section${near === undefined ? '' : meant(near)}`;
  };
  return { kind: 'unknown', tell };
}

function unknownOption(known: KnownOptions, group: string, name: string): string {
  const near = nearest(name, known.namesIn(group));
  const elsewhere = known.groupsWith(name).slice(0, mostGroups);
  const places = elsewhere.length === 0 ? [] : [`that of ${elsewhere.map((one) => `[${one}]`).join(', ')}`];
  return `there is no such option${meant(...(near === undefined ? [] : [near]), ...places)}`;
}

function meant(...near: readonly string[]): string {
  return near.length === 0 ? '' : `; did you mean ${near.join(', or ')}?`;
}

function formerName(option: OptionFacts, group: string, name: string): string[] {
  const isFormer = option.group !== group || option.name !== name;
  return isFormer ? [`deprecated: it is called [${option.group}] ${option.name} now; write that instead`] : [];
}

function removal({ removal }: OptionFacts): string[] {
  if (removal === undefined) return [];
  const reason = (removal.reason ?? '').replaceAll(/\s+/gu, ' ').trim();
  const since = removal.since === undefined ? '' : ` since ${removal.since}`;
  return [`deprecated${since}: it will be removed${reason === '' ? '' : `: ${reason.slice(0, longestReason)}`}`];
}
