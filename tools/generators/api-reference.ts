import {
  type Api,
  apiBlocks,
  children,
  group,
  kinds,
  type OpenApiSchema,
  objectSchema,
  version,
} from '@openstack-operator/openstack';
import { type GeneratedFile, generatedNotice } from './generated-file.ts';

/** The reference of all fields of all kinds: docs/api.md. */
export function apiReference(): readonly GeneratedFile[] {
  const sections = [
    `<!-- ${generatedNotice} -->`,
    '# API reference',
    `All fields of \`${group}/${version}\`; \`kubectl explain\` tells the same. A field without a default is optional and off, unless it says otherwise.`,
    kinds.map(({ kind }) => `- [${kind}](#${anchor(kind)})`).join('\n'),
    'Shapes that several kinds share:',
    Object.keys(apiBlocks)
      .map((name) => `- [${name}](#${anchor(name)})`)
      .join('\n'),
    ...kinds.flatMap(kindSection),
    ...Object.entries(apiBlocks).flatMap(([name, schema]) => [
      `## ${name}`,
      escaped(schema.description ?? ''),
      table(schema),
    ]),
  ];
  return [{ path: 'docs/api.md', content: `${sections.join('\n\n')}\n` }];
}

function kindSection(api: Api): readonly string[] {
  const { spec, status } = objectSchema(api).properties ?? {};
  return [
    `## ${api.kind}`,
    escaped(api.description),
    `\`kubectl get ${api.plural}\`, or ${api.shortNames.map((name) => `\`${name}\``).join(', ')}. Its name begins with a letter and has at most ${api.nameLength} characters.`,
    `### ${api.kind} spec`,
    table(spec ?? {}),
    `### ${api.kind} status`,
    table(status ?? {}),
  ];
}

interface Row {
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

function table(schema: OpenApiSchema): string {
  const rules = (schema['x-kubernetes-validations'] ?? []).filter(({ rule }) => !rule.includes('oldSelf'));
  return [
    '| Field | Type | Meaning |\n| --- | --- | --- |',
    ...rows(schema, '').map(({ path, type, text }) => `| \`${path}\` | ${type} | ${text} |`),
    ...(rules.length === 0 ? [] : ['', ...rules.map(({ message }) => `- ${message}.`)]),
  ].join('\n');
}

function rows(schema: OpenApiSchema, prefix: string): readonly Row[] {
  const mandatory = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const path = `${prefix}${name}`;
    const link = linkOf(name, child);
    const words = [mandatory.has(name) ? 'Required.' : '', child.description ?? ''];
    if (link !== undefined) return [{ path, type: link, text: cell(words) }];
    const text = cell([...words, limits(child)]);
    const { inner, suffix } = unwrapped(child);
    const innerLink = linkOf('', inner);
    const type = innerLink ?? typeOf(inner);
    return [
      { path, type: `${type}${suffix}`, text },
      ...(innerLink === undefined ? rows(inner, `${path}${suffix}.`) : []),
    ];
  });
}

/** The value within lists and maps, and what a path says of the way there. */
function unwrapped(schema: OpenApiSchema): { inner: OpenApiSchema; suffix: string } {
  const child = schema.items ?? schema.additionalProperties;
  if (child === undefined) return { inner: schema, suffix: '' };
  const { inner, suffix } = unwrapped(child);
  return { inner, suffix: `${schema.items === undefined ? '{}' : '[]'}${suffix}` };
}

function linkOf(name: string, schema: OpenApiSchema): string | undefined {
  const block = Object.entries(apiBlocks).find(([, block]) => block === schema);
  if (block !== undefined) return `[${block[0]}](#${anchor(block[0])})`;
  const child = children.find(
    ({ field, kind }) => field === name && schema.description?.includes(`those of kind ${kind}.`),
  );
  return child === undefined ? undefined : `[${child.kind}](#${anchor(`${child.kind} spec`)})`;
}

function typeOf(schema: OpenApiSchema): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'integer or string';
  return schema.type ?? 'any';
}

function limits(schema: OpenApiSchema): string {
  const { minimum, maximum, maxItems, enum: values } = schema;
  const { inner } = unwrapped(schema);
  const words = values ?? inner.enum;
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

function cell(parts: readonly string[]): string {
  return escaped(parts.filter((part) => part !== '').join(' '))
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ');
}

/** Text in which `<name>` is no HTML. */
const escaped = (text: string) => text.replaceAll('<', '&lt;');

const anchor = (title: string) => title.toLowerCase().replaceAll(' ', '-');
