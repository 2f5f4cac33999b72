import { type Rule, rule } from './schema.ts';

/** A rule on a choice: some of its values cannot be deployed yet, and are refused rather than accepted and ignored. */
export function onlyOffered(field: string, values: readonly string[]): Rule {
  const list = values.map((value) => JSON.stringify(value)).join(', ');
  return rule(
    `self in [${list}]`,
    `this value of ${field} is not offered by this version of the operator; possible now: ${values.join(', ')}`,
  );
}

/** A rule on a field that is refused whatever it says; `way` says why, and what to state instead. */
export function notOffered(field: string, way: string): Rule {
  return rule('false', `${field} is not offered by this version of the operator: ${way}`);
}

/** A rule on a switch that can only be off yet; `way` says what is possible instead. */
export function notOfferedYet(field: string, way: string): Rule {
  return rule('!self', `${field}: true is not offered by this version of the operator; ${way}`);
}

/** A rule on a number of pods that cannot be raised yet, for the given reason. */
export function atMost(maximum: number, field: string, reason: string): Rule {
  return rule(`self <= ${maximum}`, `${field} is at most ${maximum} in this version of the operator: ${reason}`);
}
