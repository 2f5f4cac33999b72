import { nearest } from '@openstack-operator/openstack';
import type { Schema } from '@openstack-operator/sandbox/schema';
import type { Mistake } from './admission.ts';

/** Unknown fields of one parent that are told one by one. */
const MOST_UNKNOWN = 20;

/** Fields that a schema does not know, each with the nearest that it does; of many of one parent, how many more. */
export function unknownFields(schema: Schema, paths: readonly string[]): Mistake[] {
  const byParent = Map.groupBy(paths, (path) => path.slice(0, Math.max(path.lastIndexOf('.'), 0)));
  return [...byParent].flatMap(([parent, [...those]]) => {
    const told = those.slice(0, MOST_UNKNOWN).map((path) => unknownField(schema, path));
    const more = those.length - told.length;
    return more === 0
      ? told
      : [...told, { field: parent === '' ? '(root)' : parent, message: `${more} more unknown fields` }];
  });
}

function unknownField(schema: Schema, path: string): Mistake {
  const parts = path
    .replaceAll(/\[\d+\]/g, '.[]')
    .split('.')
    .filter((part) => part !== '');
  const name = parts.pop() ?? path;
  let parent: Schema | undefined = schema;
  for (const part of parts) {
    const next: Schema | undefined = part === '[]' ? parent?.items : parent?.properties?.[part];
    parent = next ?? (typeof parent?.additionalProperties === 'object' ? parent.additionalProperties : undefined);
  }
  const known = Object.keys(parent?.properties ?? {});
  const near = nearest(name, known);
  const hint =
    near === undefined
      ? known.length === 0
        ? ''
        : `; known here: ${known.sort().join(', ')}`
      : `; did you mean ${near}?`;
  return { field: path, message: `unknown field ${JSON.stringify(name)}${hint}` };
}
