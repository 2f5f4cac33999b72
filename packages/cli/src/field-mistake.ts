import { type Api, nearest, scheduleMistakes, withWords } from '@openstack-operator/openstack';
import type { FieldError } from '@openstack-operator/sandbox/schema';
import type { Mistake } from './admission.ts';
import { isObject } from './is-object.ts';

/** CEL rules are only checked on objects of the right shape; that this was not done is no mistake of its own. */
export function isOfTheUser({ field }: FieldError): boolean {
  return field !== '<nil>';
}

/** The API server's words without what stands in front of them already: the field, and the value. */
export function mistakeOf({ type, field, value, detail }: FieldError, object: unknown, api: Api): Mistake {
  const words = (type === 'Duplicate' ? 'duplicate of another item' : withWords(detail))
    .replace(`${field} in body `, '')
    .replace(/^must be of type (\w+): "(\w+)"$/, 'must be of type $1, not $2');
  const unknown = unknownNames(detail, valueAt(object, field));
  if (unknown !== undefined) return { field, message: unknown };
  const bound = scheduleMistakes(api.spec, isObject(object) ? object['spec'] : undefined).find(
    (one) => one.field === field,
  );
  if (bound !== undefined) return { field, message: `${bound.message}; ${words}` };
  if (type === 'Required') return { field, message: `required${words === '' ? '' : `: ${words}`}` };
  const shown =
    value === undefined || type === 'Forbidden' || type === 'TypeInvalid' ? '' : `${JSON.stringify(value)}: `;
  return { field: field === '' ? '(root)' : field, message: `${shown.length > 120 ? '' : shown}${words}` };
}

/** What names of a map the rule that lists the known ones means (schema.ts of packages/openstack), with the nearest of them. */
function unknownNames(detail: string, map: unknown): string | undefined {
  const [, list] = /^the known names are (.*)$/u.exec(detail) ?? [];
  if (list === undefined || !isObject(map)) return undefined;
  const known = list.split(', ');
  const said = Object.keys(map)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const near = nearest(name, known);
      return `unknown name ${JSON.stringify(name)}; ${near === undefined ? detail : `did you mean ${near}?`}`;
    });
  return said.length === 0 ? undefined : said.join('; ');
}

/** The value of a field in the API server's notation; undefined where it is not found. */
function valueAt(object: unknown, field: string): unknown {
  return field
    .split(/[.[\]]+/u)
    .filter((part) => part !== '')
    .reduce(
      (value: unknown, part) =>
        Array.isArray(value) ? (value as unknown[])[Number(part)] : isObject(value) ? value[part] : undefined,
      object,
    );
}
