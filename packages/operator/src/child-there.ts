import type { StoredObject } from '@openstack-operator/kube';
import {
  childNameOf,
  children,
  kinds,
  type Peer,
  type Surroundings,
  stillSettled,
  type TlsState,
} from '@openstack-operator/openstack';
import type { ComposeContext } from './context.ts';

/** What the child of a kind is told, as it is there. */
export function childSpec(context: ComposeContext, kind: string): Peer['spec'] | undefined {
  return childOf(context, kind)?.['spec'] as Peer['spec'] | undefined;
}

function childOf({ cache, object }: ComposeContext, kind: string): StoredObject | undefined {
  const name = childNameOf(object, kind);
  const child = kinds.find((one) => one.kind === kind);
  if (name === undefined || child === undefined) return undefined;
  return cache.get(child, { namespace: object.metadata.namespace ?? '', name });
}

/** Whether all children were done with TLS as the child is told that is there. `told`: of the status. */
export function settledTlsIn(
  context: ComposeContext,
  told: { readonly tls?: TlsState; readonly tlsGeneration?: number },
): Pick<Surroundings, 'tls' | 'tlsGeneration'> {
  const first = children.find(({ clientsTrustFirst }) => clientsTrustFirst);
  const generation = first && childOf(context, first.kind)?.metadata.generation;
  const tls = stillSettled(told, generation);
  return { ...(tls === undefined ? {} : { tls }), ...(generation === undefined ? {} : { tlsGeneration: generation }) };
}
