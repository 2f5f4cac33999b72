import { apiVersionOf, type Kind, type KubeObject } from '@openstack-operator/kube';
import { roots } from '../control-plane/root.ts';
import { finalizers } from '../engine/names/names.ts';
import { services } from '../services/index.ts';

/** Finalizer of what carries guests: it stays until no server is left, or somebody says that they do not matter. */
export const serversFinalizer = finalizers.protectServers;

/** Kinds whose end takes network or management from guests: they have agents on nodes. */
const carriers: ReadonlySet<string> = new Set(
  [
    ...roots.map(({ kind }) => kind),
    ...services.flatMap(({ kind, groups }) => (groups === undefined ? [] : [kind])),
  ].map(idOf),
);

/** Whether the end of a resource takes something from guests that run. */
export function carriesGuests({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): boolean {
  return carriers.has(`${apiVersion} ${kind}`);
}

function idOf(kind: Kind): string {
  return `${apiVersionOf(kind)} ${kind.kind}`;
}
