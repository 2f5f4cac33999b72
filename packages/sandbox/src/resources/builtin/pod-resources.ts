import { forbidden, invalid, required } from '../field-error.ts';
import { objectOf, textOf } from '../json.ts';
import { isQualifiedName } from '../names.ts';
import { child, key } from '../path.ts';
import { compareQuantities, parseQuantity } from '../quantity.ts';
import type { FieldError } from '../resource-type.ts';

const containerResources = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** Checks `resources` of a container: known names, no negative amounts, requests within limits. */
export function validateResources(resources: unknown, path: string): FieldError[] {
  const { limits, requests } = objectOf(resources);
  const errors: FieldError[] = [];
  const allLimits = objectOf(limits);
  for (const [name, amount] of Object.entries(allLimits)) {
    const at = key(child(path, 'limits'), name);
    errors.push(...validateName(name, at), ...validateAmount(name, amount, at));
  }
  for (const [name, amount] of Object.entries(objectOf(requests))) {
    const at = key(child(path, 'requests'), name);
    errors.push(...validateName(name, at), ...validateAmount(name, amount, at));
    const limit = allLimits[name];
    const overcommit = !name.includes('/') && !name.startsWith('hugepages-');
    if (limit !== undefined) {
      const difference = compareQuantities(textOf(amount), textOf(limit));
      if (difference > 0) {
        errors.push(
          invalid(child(path, 'requests'), amount, `must be less than or equal to ${name} limit of ${textOf(limit)}`),
        );
      } else if (difference !== 0 && !overcommit) {
        errors.push(invalid(child(path, 'requests'), amount, `must be equal to ${name} limit of ${textOf(limit)}`));
      }
    } else if (!overcommit) {
      errors.push(required(child(path, 'limits'), `Limit must be set for non overcommitable resources`));
    }
  }
  const named = { ...allLimits, ...objectOf(requests) };
  const huge = Object.keys(named).some((name) => name.startsWith('hugepages-'));
  if (huge && named.cpu === undefined && named.memory === undefined) {
    errors.push(forbidden(path, 'HugePages require cpu or memory'));
  }
  return errors;
}

function validateName(name: string, path: string): FieldError[] {
  const errors = isQualifiedName(name).map((message) => invalid(path, name, message));
  if (errors.length > 0 || name.includes('/')) return errors;
  if (containerResources.has(name) || name.startsWith('hugepages-')) return [];
  return [
    invalid(path, name, 'must be a standard resource type or fully qualified'),
    invalid(path, name, 'must be a standard resource for containers'),
  ];
}

function validateAmount(name: string, amount: unknown, path: string): FieldError[] {
  const { nanos } = parseQuantity(textOf(amount));
  const errors = nanos < 0n ? [invalid(path, amount, 'must be greater than or equal to 0')] : [];
  if (name.includes('/') && nanos % 1_000_000_000n !== 0n) errors.push(invalid(path, amount, 'must be an integer'));
  return errors;
}
