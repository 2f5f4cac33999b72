import {
  type Api,
  apiBlocks,
  group,
  kinds,
  type OpenApiSchema,
  objectSchema,
  roots,
  version,
} from '@openstack-operator/openstack';
import type { GeneratedFile } from './generated-file.ts';
import { escaped, page, table } from './markdown.ts';

/** The reference of all fields: a page for each kind, one for the shapes that kinds share, and a table of contents. */
export function kindReference(): readonly GeneratedFile[] {
  return [contents(), ...kinds.map(kindPage), shapes()];
}

const folder = 'kinds';
const shapesFile = 'shapes.md';
const fileOf = (kind: string) => `${kind.toLowerCase()}.md`;

function contents(): GeneratedFile {
  return page(`${folder}/README.md`, 'Kinds', [
    `Every field of every kind of \`${group}/${version}\`. \`kubectl explain <kind>.spec\` prints the same in a cluster. A field without a default is optional and off, unless it says otherwise.`,
    table(
      ['Kind', 'Short name', 'Description'],
      kinds.map(({ kind, shortNames, description }) => [
        `[${kind}](${fileOf(kind)})`,
        shortNames.map((name) => `\`${name}\``).join(', '),
        escaped(description),
      ]),
    ),
    `[Shapes](${shapesFile}) that several kinds share.`,
  ]);
}

function kindPage(api: Api): GeneratedFile {
  const { spec, status } = objectSchema(api).properties ?? {};
  const names = [api.plural, ...api.shortNames].map((name) => `\`kubectl get ${name}\``).join(' or ');
  const children = roots.find(({ kind }) => kind === api)?.children ?? [];
  return page(`${folder}/${fileOf(api.kind)}`, api.kind, [
    escaped(api.description),
    `List them with ${names}. A name begins with a letter and has at most ${api.nameLength} characters. [All kinds](README.md).`,
    '## Spec',
    fields(spec ?? {}, new Map(children.map(({ field, kind }) => [field, kind]))),
    '## Status',
    fields(status ?? {}),
  ]);
}

function shapes(): GeneratedFile {
  const sections = Object.entries(apiBlocks).flatMap(([name, schema]) => [
    `## ${name}`,
    escaped(schema.description ?? ''),
    fields(schema),
  ]);
  return page(`${folder}/${shapesFile}`, 'Shapes that kinds share', sections);
}

/** A table of all fields, and the rules about several of them. Fields of `children` are told by their own pages. */
function fields(schema: OpenApiSchema, children: ReadonlyMap<string, string> = new Map()): string {
  const rules = (schema['x-kubernetes-validations'] ?? []).filter(
    ({ rule, optionalOldSelf }) => optionalOldSelf === true || !rule.includes('oldSelf'),
  );
  return [
    table(['Field', 'Type', 'Description'], rows(schema, '', children)),
    ...(rules.length === 0 ? [] : [rules.map(({ message }) => `- ${escaped(message)}.`).join('\n')]),
  ].join('\n\n');
}

type Row = readonly [field: string, type: string, description: string];

function rows(schema: OpenApiSchema, prefix: string, children: ReadonlyMap<string, string> = new Map()): Row[] {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]): Row[] => {
    const path = `${prefix}${name}`;
    const words = [required.has(name) ? 'Required.' : '', field.description ?? ''];
    const child = children.get(name);
    if (child !== undefined) {
      const { enabled } = field.properties ?? {};
      const own = enabled === undefined ? {} : { properties: { enabled } };
      return [[`\`${path}\``, `[${child}](${fileOf(child)}#spec)`, text(words)], ...rows(own, `${path}.`)];
    }
    const { inner, suffix } = unwrapped(field);
    const shape = shapeOf(inner);
    const row: Row = [`\`${path}\``, `${shape ?? typeOf(inner)}${suffix}`, text([...words, limits(field)])];
    return shape === undefined ? [row, ...rows(inner, `${path}${suffix}.`)] : [row];
  });
}

/** The value within lists and maps, and what a path says of the way there. */
function unwrapped(schema: OpenApiSchema): { inner: OpenApiSchema; suffix: string } {
  const child = schema.items ?? schema.additionalProperties;
  if (child === undefined) return { inner: schema, suffix: '' };
  const { inner, suffix } = unwrapped(child);
  return { inner, suffix: `${schema.items === undefined ? '{}' : '[]'}${suffix}` };
}

function shapeOf(schema: OpenApiSchema): string | undefined {
  const name = Object.keys(apiBlocks).find((name) => (apiBlocks as Record<string, OpenApiSchema>)[name] === schema);
  return name === undefined ? undefined : `[${name}](${shapesFile}#${name.toLowerCase()})`;
}

function typeOf(schema: OpenApiSchema): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'integer or string';
  return schema.type ?? 'any';
}

function limits(schema: OpenApiSchema): string {
  const { minimum, maximum, maxItems, enum: values } = schema;
  const words = values ?? unwrapped(schema).inner.enum;
  return [
    ...(words === undefined ? [] : [`One of ${words.map((value) => `\`${String(value)}\``).join(', ')}.`]),
    ...(schema.default === undefined ? [] : [`Default: ${JSON.stringify(schema.default)}.`]),
    ...(minimum === undefined || maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER
      ? []
      : [`${minimum} to ${maximum}.`]),
    ...(maxItems === undefined ? [] : [`At most ${maxItems}.`]),
    // A rule that never holds refuses the field itself, any other rule only values that break it.
    ...(schema['x-kubernetes-validations'] ?? []).map(
      ({ rule, message }) => `${rule === 'false' ? 'Always refused' : 'Other values are refused'}: ${message}.`,
    ),
  ].join(' ');
}

const text = (parts: readonly string[]) => escaped(parts.filter((part) => part !== '').join(' '));
