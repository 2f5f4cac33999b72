import type { StoredObject } from '@openstack-operator/kube';
import { children } from './children.ts';

/**
 * Those of `others` that cannot be without a child: what refers to it by name, and what finds it by itself. What only
 * names it, and comes before it, is not among them (Neutron and its Nova).
 */
export function dependentsOf(child: StoredObject, others: readonly StoredObject[]): StoredObject[] {
  const field = children.find(({ kind }) => kind === child.kind)?.field;
  return others.filter((other) => {
    const needing = children.find(({ kind }) => kind === other.kind);
    if (field === undefined || needing === undefined) return false;
    const spec = (other['spec'] ?? {}) as Readonly<Record<string, { readonly name?: string } | undefined>>;
    return (
      needing.needs.includes(field) ||
      Object.entries(needing.references).some(
        ([reference, referred]) =>
          reference !== 'novaRef' && referred === field && spec[reference]?.name === child.metadata.name,
      )
    );
  });
}
