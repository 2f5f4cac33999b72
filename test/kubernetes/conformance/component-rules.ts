import { type Api, kinds } from '@openstack-operator/openstack';
import { type RefusedSpec, refused } from './refused-spec.ts';

/** What rules on `spec.components` begin with, and settings that each of the components that they name cannot have. */
const forms: readonly (readonly [RegExp, readonly object[]])[] = [
  [/^replicas cannot be set for ([^:]+): /, [{ replicas: 2 }]],
  [/^replicas of ([^:]+) is at most 1\b/, [{ replicas: 2 }]],
  [
    /cannot be set for components that run once on every claimed node: (.+)$/,
    [{ replicas: 1 }, { nodeSelector: { a: 'b' } }],
  ],
];

/** What users cannot set of single components: the rules of a kind name them. */
export const componentRules: readonly RefusedSpec[] = kinds.flatMap((kind) =>
  messagesOf(kind).flatMap((message) =>
    forms.flatMap(([form, settings]) => {
      const named = form.exec(message)?.[1]?.split(', ') ?? [];
      return named.flatMap((component) =>
        settings.map((wrong) =>
          refused(
            kind,
            'spec.components',
            message,
            { components: { [component]: wrong } },
            { components: { [component]: { tolerations: [{ operator: 'Exists' }] } } },
          ),
        ),
      );
    }),
  ),
);

function messagesOf({ spec }: Api): readonly string[] {
  const { 'x-kubernetes-validations': rules = [] } = spec.schema.properties?.['components'] ?? {};
  return rules.map(({ message }) => message);
}
