import { invalid, required } from '../field-error.ts';
import { type JsonObject, numberOf, objectOf, objectsOf, textOf } from '../json.ts';
import type { FieldError } from '../resource-type.ts';
import { builtinType } from './builtin-type.ts';
import { ageOf, nameOf, specOf, statusOf } from './cells.ts';

function quotaText(status: JsonObject, isLimit: boolean): string {
  const used = objectOf(status.used);
  return Object.entries(objectOf(status.hard))
    .filter(([name]) => name.startsWith('limits.') === isLimit)
    .map(([name, hard]) => `${name}: ${textOf(used[name]) || '0'}/${textOf(hard)}`)
    .sort()
    .join(', ');
}

/** `v1/ResourceQuota`: stored; nothing is counted and nothing is refused for it. */
export const resourceQuota = builtinType('v1/ResourceQuota', {
  row(object, now) {
    const status = statusOf(object);
    return [nameOf(object), quotaText(status, false), quotaText(status, true), ageOf(object, now)];
  },
});

/** `flowcontrol.apiserver.k8s.io/v1/FlowSchema`: stored; every request is served at once. */
export const flowSchema = builtinType('flowcontrol.apiserver.k8s.io/v1/FlowSchema', {
  hasGeneration: true,
  validate(object) {
    const { matchingPrecedence, priorityLevelConfiguration, rules } = specOf(object);
    const errors: FieldError[] = [];
    const precedence = numberOf(matchingPrecedence);
    if (precedence < 1 || precedence > 10_000) {
      errors.push(
        invalid('spec.matchingPrecedence', precedence, 'must be a value between 1 and 10000, both inclusive'),
      );
    }
    if (!objectOf(priorityLevelConfiguration).name) {
      errors.push(required('spec.priorityLevelConfiguration.name', 'must reference a priority level'));
    }
    for (const [at, rule] of objectsOf(rules).entries()) {
      if (objectsOf(rule.subjects).length === 0) {
        errors.push(required(`spec.rules[${at}].subjects`, 'subjects must contain at least one value'));
      }
    }
    return errors;
  },
  row(object, now) {
    const { matchingPrecedence, priorityLevelConfiguration, distinguisherMethod } = specOf(object);
    const method = textOf(objectOf(distinguisherMethod).type) || '<none>';
    const dangling = objectsOf(statusOf(object).conditions).find(({ type }) => type === 'Dangling');
    const level = textOf(objectOf(priorityLevelConfiguration).name);
    return [
      nameOf(object),
      level,
      numberOf(matchingPrecedence),
      method,
      ageOf(object, now),
      textOf(dangling?.status) || '?',
    ];
  },
});
