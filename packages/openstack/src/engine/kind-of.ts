import { defineKind, type Kind, type KubeObject } from '@openstack-operator/kube';

/**
 * The kind of an object that compose made, or that one refers to: all of them are namespaced, and have the plural that
 * English would give them (as Kubernetes' own naming rule, meta.UnsafeGuessKindToResource).
 */
export function kindOf({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): Kind {
  const singular = kind.toLowerCase();
  const plural = /[^aeiou]y$/.test(singular)
    ? `${singular.slice(0, -1)}ies`
    : singular.endsWith('s')
      ? `${singular}es`
      : `${singular}s`;
  return defineKind(apiVersion, kind, plural);
}
