import type { Api } from './define-api.ts';
import { type Field, type OpenApiSchema, object } from './schema.ts';

/** Fields of a service that the control plane says once for all. */
type SaidOnce = 'release' | 'region' | 'imageRegistry' | 'imagePullSecrets' | 'deletionPolicy';
const saidOnce: readonly string[] = [
  'release',
  'region',
  'imageRegistry',
  'imagePullSecrets',
  'deletionPolicy',
] satisfies SaidOnce[];

/**
 * The spec of a child as a field of the control plane: without what the control plane says for all, and without
 * defaults (the child's own CRD sets them; here they would hide that a field was left to the control plane). Affinity
 * is checked by the child's CRD alone, which keeps this one below the size that an API server takes.
 */
export function embedded<S>(api: Api<S>, what: string): Field<Omit<S, SaidOnce>, false> {
  const { schema, transitions } = api.spec;
  const { properties = {}, required, ...rest } = schema;
  const kept = Object.entries(properties).filter(([name]) => !saidOnce.includes(name));
  return {
    required: false,
    transitions: transitions.filter(({ path }) => !saidOnce.includes(path[0] ?? '')),
    schema: {
      ...rest,
      description: `${what} The fields are those of a ${api.kind}.`,
      properties: Object.fromEntries(kept.map(([name, child]) => [name, loosened(child)])),
      ...(required === undefined ? {} : { required }),
    },
  };
}

const openAffinity = object('As in core/v1.', {}, { open: true }).schema;

function loosened({ default: _, ...schema }: OpenApiSchema): OpenApiSchema {
  const { properties, additionalProperties, items } = schema;
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, child]) => [
              name,
              name === 'affinity' ? { ...openAffinity, description: child.description ?? '' } : loosened(child),
            ]),
          ),
        }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: loosened(additionalProperties) }),
    ...(items === undefined ? {} : { items: loosened(items) }),
  };
}
