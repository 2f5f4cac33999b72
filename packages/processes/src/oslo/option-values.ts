import type { ValueFacts } from '@openstack-operator/facts';

/** What oslo.config takes a text for; undefined: for no boolean. */
export function booleanOf(value: string): boolean | undefined {
  const word = value.trim().toLowerCase();
  if (['true', '1', 'on', 'yes'].includes(word)) return true;
  return ['false', '0', 'off', 'no'].includes(word) ? false : undefined;
}

/** The elements of a list with commas. */
export function itemsOf(value: string): string[] {
  const items = value.split(',').map((item) => item.trim());
  return items.filter((item) => item !== '');
}

/** Why an option's type refuses a value, in the words of oslo_config.types; undefined when it takes it. */
export function problemOf(facts: ValueFacts, value: string): string | undefined {
  const { type, choices, regex, items } = facts;
  if (type === 'list' && items !== undefined)
    return itemsOf(value)
      .map((item) => problemOf(items, item))
      .find((problem) => problem !== undefined);
  if (type === 'boolean') return booleanOf(value) === undefined ? `Unexpected boolean value '${value}'` : undefined;
  if (type === 'integer' || type === 'port') return numberProblem(facts, value);
  if (choices !== undefined && !choices.some((choice) => choice === value))
    return `Valid values are [${choices.join(', ')}], but found '${value}'`;
  return regex === undefined || new RegExp(regex).test(value)
    ? undefined
    : `Value '${value}' doesn't match regex '${regex}'`;
}

function numberProblem({ min, max }: ValueFacts, value: string): string | undefined {
  if (!/^[-+]?\d+$/.test(value.trim())) return `invalid literal for int() with base 10: '${value}'`;
  if (min !== undefined && Number(value) < min) return `Should be greater than or equal to ${min}`;
  return max !== undefined && Number(value) > max ? `Should be less than or equal to ${max}` : undefined;
}
