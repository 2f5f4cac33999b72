import type { Api } from './define-api.ts';
import { bool, celName, type Field, mapped, type OpenApiSchema, rule, transitionRules } from './schema.ts';

/** Fields of a service that the control plane says once for all. */
type SaidOnce =
  | 'release'
  | 'region'
  | 'imageRegistry'
  | 'imageTag'
  | 'imagePullSecrets'
  | 'deletionPolicy'
  | 'passwordRotationDays';
const saidOnce: readonly string[] = [
  'release',
  'region',
  'imageRegistry',
  'imageTag',
  'imagePullSecrets',
  'deletionPolicy',
  'passwordRotationDays',
] satisfies SaidOnce[];

/** The spec of a child, below a control plane. */
export type Embedded<S> = { readonly enabled?: boolean } & Omit<S, SaidOnce>;

const enabled = (isOptional: boolean) =>
  bool(
    'Whether it is deployed. What it has stored is kept.',
    isOptional ? { otherwise: 'true where the field is there' } : { fallback: true },
  );

/**
 * The spec of a child as a field of the control plane: without what the control plane says for all, and without
 * defaults (the child's own CRD sets them; here they would hide that a field was left to the control plane).
 *
 * A field is described by its first sentence. Shapes that services share are only named here: thirty services with some 9 KB of them each would not fit into one
 * CRD. Their fields are those of the child's own CRD, which documents and checks them: `validate` by its schema, the
 * operator by a dry run of each child before the first is written.
 *
 * How fields may change is a rule of the control plane's spec, where leaving out the child counts as its defaults. A child
 * that is optional does not exist then, and may come with whatever it says: its rules hold while it is stated, and of one that was
 * disabled for what it has stated.
 */
export function embedded<S>(api: Api<S>, what: string, isOptional = false): Field<Embedded<S>, false> {
  const { schema, transitions } = api.spec;
  const { properties = {}, required = [], 'x-kubernetes-validations': stated = [], ...rest } = schema;
  const own = transitions.filter(({ path: [name = ''] }) => !saidOnce.includes(name) && !isShared(name));
  const whileStated = isOptional
    ? transitionRules({ transitions: own }, '(has(oldSelf.enabled) && !oldSelf.enabled)')
    : [];
  const kept = Object.entries(properties).filter(([name]) => !saidOnce.includes(name));
  const spec = `${api.singular}.spec`;
  // A service that is disabled has to say nothing: neither by what is required, nor by a rule.
  const unlessDisabled = required.map((name) =>
    rule(
      `has(self.${celName(name)}) || (has(self.enabled) && !self.enabled)`,
      `${name} is required, unless enabled is false: kubectl explain ${spec}.${name}`,
      `.${name}`,
    ),
  );
  const whileEnabled = stated.map((one) =>
    one.refusesEmpty ? { ...one, rule: `${one.rule} || (has(self.enabled) && !self.enabled)` } : one,
  );
  const rules = [...whileEnabled, ...whileStated, ...unlessDisabled];
  return {
    required: false,
    transitions: isOptional ? [] : own,
    // The child reads them; the control plane passes them on.
    names: [],
    schedules: [],
    schema: {
      ...rest,
      description: `${what} The fields are those of kind ${api.kind}: kubectl explain ${spec}`,
      properties: {
        enabled: enabled(isOptional).schema,
        ...Object.fromEntries(
          kept.map(([name, child]) => [
            name,
            isShared(name) ? { ...opened(child), description: seeKind } : loosened(brief(child), name),
          ]),
        ),
      },
      ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }),
    },
  };
}

/** Shapes that services have from the same builders, and those of core/v1; so has every reference. */
const sharedShapes: readonly string[] = [
  'affinity',
  'bridgeMappings',
  'ceph',
  'components',
  'config',
  'database',
  'externalService',
  'housekeeping',
  'identity',
  'images',
  'messageQueue',
  'nodeSelector',
  'policy',
  'recordsAudit',
  'resources',
  'tls',
  'tolerations',
];

/** Texts that services have from the same builders: of the right type and length here, what else they are, and what they say, there. */
const sharedTexts: readonly string[] = [
  'exposure',
  'image',
  'imagePullPolicy',
  'priorityClassName',
  'publicHostname',
  'unknownOptions',
];

function isShared(name: string): boolean {
  return sharedShapes.includes(name) || name.endsWith('Ref');
}

/**
 * A field without defaults. What is within the lists of a service, such as its node groups, is checked here: nodes are
 * claimed by it; what its parts are for is said in a sentence. Where a shape there is a shared one, the child's CRD documents it.
 */
function loosened(whole: OpenApiSchema, name: string): OpenApiSchema {
  if (name === 'affinity') return opened(whole);
  const loose = without(whole, 'default');
  if (sharedTexts.includes(name)) {
    const { pattern: _pattern, 'x-expected': _expected, 'x-kubernetes-validations': _rules, ...text } = loose;
    return { ...text, description: seeKind };
  }
  return mapped(loose, isShared(name) ? (child) => undocumented(child) : (child, part) => brief(loosened(child, part)));
}

/** Described by its first sentence. */
function brief(schema: OpenApiSchema): OpenApiSchema {
  const { description } = schema;
  return description === undefined ? schema : { ...schema, description: firstSentence(description) };
}

function undocumented(schema: OpenApiSchema): OpenApiSchema {
  return mapped(without(without(schema, 'description'), 'default'), undocumented);
}

/** What says that the child's CRD explains a field, as the text of the child tells: thirty children would repeat it. */
const seeKind = 'See the kind.';

/** A shape that is only named. */
function opened({ type, description = '', items, maxItems, ...rest }: OpenApiSchema): OpenApiSchema {
  const about = description === '' ? {} : { description: firstSentence(description) };
  if (type !== 'array') return { ...about, ...open };
  const { 'x-kubernetes-list-map-keys': keys = [], 'x-kubernetes-list-type': list = 'atomic' } = rest;
  const named = keys.map((key) => [key, without(items?.properties?.[key] ?? {}, 'description')]);
  return {
    ...about,
    type,
    ...(maxItems === undefined ? {} : { maxItems }),
    items: { ...open, ...(keys.length === 0 ? {} : { properties: Object.fromEntries(named), required: keys }) },
    'x-kubernetes-list-type': list,
    ...(keys.length === 0 ? {} : { 'x-kubernetes-list-map-keys': keys }),
  };
}

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;

function firstSentence(text: string): string {
  return /^.*?[.](?= |$)/u.exec(text)?.[0] ?? text;
}

function without(schema: OpenApiSchema, key: keyof OpenApiSchema): OpenApiSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== key));
}
