import type { Api } from './define-api.ts';
import { bool, type Field, type OpenApiSchema, object } from './schema.ts';

/** Fields of a service that the control plane says once for all. */
type SaidOnce = 'release' | 'region' | 'imageRegistry' | 'imageTag' | 'imagePullSecrets' | 'deletionPolicy';
const saidOnce: readonly string[] = [
  'release',
  'region',
  'imageRegistry',
  'imageTag',
  'imagePullSecrets',
  'deletionPolicy',
] satisfies SaidOnce[];

/** The spec of a child, below a control plane. */
export type Embedded<S> = { readonly enabled?: boolean } & Omit<S, SaidOnce>;

const enabled = bool(
  'Whether the service is deployed. What needs it is left out too, and says so; what it has stored is kept.',
  { fallback: true },
);

/**
 * The spec of a child as a field of the control plane: without what the control plane says for all, and without
 * defaults (the child's own CRD sets them; here they would hide that a field was left to the control plane). Affinity
 * is checked by the child's CRD alone, and shapes that services share are documented there alone, which keeps this one
 * below the 256 KiB that `kubectl apply` can note in an annotation.
 */
export function embedded<S>(api: Api<S>, what: string): Field<Embedded<S>, false> {
  const { schema, transitions } = api.spec;
  const { properties = {}, required, ...rest } = schema;
  const kept = Object.entries(properties).filter(([name]) => !saidOnce.includes(name));
  return {
    required: false,
    transitions: transitions.filter(({ path }) => !saidOnce.includes(path[0] ?? '')),
    // The child reads them; the control plane passes them on.
    names: [],
    schema: {
      ...rest,
      description: `${what} The fields are those of kind ${api.kind}.`,
      properties: {
        enabled: enabled.schema,
        ...Object.fromEntries(kept.map(([name, child]) => [name, loosened(child, name)])),
      },
      ...(required === undefined ? {} : { required }),
    },
  };
}

const openAffinity = object('As in core/v1.', {}, { open: true }).schema;
/** Shapes of core/v1, and those that most services share: the child's CRD documents them field by field. */
const sharedShapes = [
  'components',
  'images',
  'resources',
  'tolerations',
  'gatewayRef',
  'housekeeping',
  'bridgeMappings',
];

/** A field without defaults, and without descriptions below it where its shape is a shared one. */
function loosened(whole: OpenApiSchema, name: string): OpenApiSchema {
  if (name === 'affinity') return { ...openAffinity, description: whole.description ?? '' };
  const loose = mapped(without(whole, 'default'), loosened);
  return sharedShapes.includes(name) ? mapped(loose, undocumented) : loose;
}

function undocumented(schema: OpenApiSchema): OpenApiSchema {
  return mapped(without(schema, 'description'), undocumented);
}

/** The schema with `change` made to each of its children; `name` is empty for items and values. */
function mapped(schema: OpenApiSchema, change: (child: OpenApiSchema, name: string) => OpenApiSchema): OpenApiSchema {
  const { properties, additionalProperties, items } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, change(child, name)])),
    }),
    ...(additionalProperties && { additionalProperties: change(additionalProperties, '') }),
    ...(items && { items: change(items, '') }),
  };
}

function without(schema: OpenApiSchema, key: keyof OpenApiSchema): OpenApiSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== key));
}
