import { kinds, type OpenApiSchema, objectSchema, roots } from '@openstack-operator/openstack';
import type { GeneratedFile } from './generated-file.ts';
import { escaped, page, table } from './markdown.ts';

/** The reference of fields that are known and refused, and of values that are: by rules that never hold, or speak of this version. */
export function refusedReference(): readonly GeneratedFile[] {
  const refusals = new Map<string, string[]>();
  for (const api of kinds) {
    const children = new Set(roots.find(({ kind }) => kind === api)?.children.map(({ field }) => `spec.${field}`));
    const { spec = {} } = objectSchema(api).properties ?? {};
    for (const [path, message] of refused(spec, 'spec', children)) {
      const key = JSON.stringify([`\`${path}\``, escaped(message)]);
      refusals.set(key, [...(refusals.get(key) ?? []), api.kind]);
    }
  }
  const rows = [...refusals].map(([key, names]) => [
    ...(JSON.parse(key) as string[]),
    names.length > 3 ? 'all that have it' : names.join(', '),
  ]);
  return [
    page('refused.md', 'Fields that are refused', [
      'Fields and values that the API knows and this version does not deploy. What states one is refused with these words, and nothing of it is dropped silently; of a control plane the same holds below the field of the service.',
      table(['Field', 'What it is refused with', 'Kind'], rows),
    ]),
  ];
}

/** Paths and messages, but those below `skipped`. */
function refused(schema: OpenApiSchema, path: string, skipped: ReadonlySet<string>): [string, string][] {
  if (skipped.has(path)) return [];
  const rules = (schema['x-kubernetes-validations'] ?? []).filter(
    ({ rule, message }) => rule === 'false' || message.includes('this version of the operator'),
  );
  const { properties = {}, items, additionalProperties } = schema;
  return [
    ...rules.map(({ message }): [string, string] => [path, message]),
    ...Object.entries(properties).flatMap(([name, child]) => refused(child, `${path}.${name}`, skipped)),
    ...(items === undefined ? [] : refused(items, `${path}[]`, skipped)),
    ...(additionalProperties === undefined ? [] : refused(additionalProperties, `${path}{}`, skipped)),
  ];
}
